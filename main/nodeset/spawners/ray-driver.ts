// The driver of one Ray cluster: a child of the engine that speaks the host protocol, and the replicas it started.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { StudioError, messageOf } from '../../base/errors.ts';
import type { SpawnerSettings } from '../../contract/spawners.ts';
import { ownerVariable } from '../../process/owner.ts';
import type { HostProcess, ProcessRegistry, SpawnOptions } from '../../process/ports.ts';
import { RayReplica, replicaNote } from './ray-replica.ts';
import type { HostPlacement } from './spawner.ts';

export interface RayDriverOptions {
  readonly processes: Pick<ProcessRegistry, 'startHost' | 'ownerMarker'>;
  readonly clock: Clock;
  /** Folder that holds `agentcanvas_ray` and `agentcanvas_host`. */
  readonly pythonFolder: string;
  /** Absolute; has ray. */
  readonly python: string;
  readonly ray: SpawnerSettings['ray'];
  readonly onLine: (line: string) => void;
  readonly redact?: ((text: string) => string) | undefined;
}

/** Starting a local Ray, or reaching a cluster. */
const openMs = 120_000;
const askMs = 30_000;

export class RayDriver implements AsyncDisposable {
  readonly #options: RayDriverOptions;
  readonly #host: HostProcess;
  readonly #replicas = new Map<string, RayReplica>();
  #count = 0;

  private constructor(options: RayDriverOptions, host: HostProcess) {
    this.#options = options;
    this.#host = host;
    host.connection.onNote((method, params) => this.#take(method, params));
    void host.process.exited.then(() => {
      for (const replica of this.#replicas.values()) replica.end({ exitCode: null, signal: 'SIGKILL' });
      this.#replicas.clear();
    });
  }

  /** Rejects with `spawn_failed` and what to do. */
  static async open(options: RayDriverOptions): Promise<RayDriver> {
    const { processes, pythonFolder, python, ray } = options;
    const host = await processes.startHost({
      command: python,
      args: ['-m', 'agentcanvas_ray'],
      cwd: pythonFolder,
      env: { PYTHONPATH: pythonFolder },
      label: 'ray driver',
      logSink: options.onLine,
    });
    const { address, cpus, objectStoreMb } = ray;
    const asked = { address, cpus, object_store_bytes: objectStoreMb * 2 ** 20 };
    try {
      await host.connection.call('open', asked, { timeoutMs: openMs });
    } catch (error) {
      await host.kill();
      const where = address === '' ? 'a local Ray could not be started' : `the Ray cluster ${address}`;
      throw new StudioError('spawn_failed', `${where}: ${messageOf(error)}`, { cause: error });
    }
    return new RayDriver(options, host);
  }

  get isGone(): boolean {
    return this.#host.process.exitInfo !== undefined || this.#host.connection.isClosed;
  }

  get replicaCount(): number {
    return this.#replicas.size;
  }

  /** Asks for a place in the cluster; the replica's handshake comes when there is one. */
  async spawn(spawn: SpawnOptions, placement: HostPlacement): Promise<RayReplica> {
    const id = randomUUID();
    const { clock, processes, redact } = this.#options;
    const marker = `${processes.ownerMarker}-${900_000 + ++this.#count}`;
    const replica = new RayReplica({
      spawn,
      marker,
      clock,
      redact,
      signal: async (graceful) => void (await this.#call('signal', { id, graceful })),
    });
    this.#replicas.set(id, replica);
    void replica.exited.then(() => this.#replicas.delete(id));
    const { command, args, cwd, env } = spawn;
    const { needs, files } = placement;
    const variables = { ...env, PYTHONUTF8: '1', [ownerVariable]: marker };
    try {
      await this.#call('start', { id, command, args, cwd, env: variables, needs, files });
    } catch (error) {
      replica.end({ exitCode: null, signal: 'SIGKILL' });
      throw new StudioError('spawn_failed', `Ray did not start ${spawn.label}: ${messageOf(error)}`, {
        cause: error,
      });
    }
    return replica;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.stop({ shutdownTimeoutMs: 2_000 });
  }

  #call(method: string, params: object): Promise<unknown> {
    return this.#host.connection.call(method, params, { timeoutMs: askMs });
  }

  #take(method: string, params: unknown): void {
    const note = method === 'replica' ? replicaNote.safeParse(params) : undefined;
    if (note?.success) this.#replicas.get(note.data.id)?.take(note.data);
  }
}
