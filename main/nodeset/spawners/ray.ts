// Replicas as actors of a Ray cluster, or of a local Ray that is started when no address is given. One driver serves
// all replicas of an interpreter; a driver that died is replaced at the next start, an idle one is ended.
import { withDeadline } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError, toStudioError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { SpawnerSettings } from '../../contract/spawners.ts';
import { startHost } from '../../process/host-process.ts';
import type { HostProcess, ProcessRegistry } from '../../process/ports.ts';
import { RayDriver } from './ray-driver.ts';
import type { RayReplica } from './ray-replica.ts';
import type { HostPlacement, HostRequest, Spawner } from './spawner.ts';

export interface RaySpawnerOptions {
  readonly processes: Pick<ProcessRegistry, 'startHost' | 'ownerMarker'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pythonFolder: string;
  /** Read at each start of a driver. */
  readonly settings: () => SpawnerSettings['ray'];
  /** From what Settings name to an absolute interpreter. */
  readonly resolveInterpreter: (wanted: string) => Promise<string>;
  readonly redact?: ((text: string) => string) | undefined;
  /** A driver without replicas is ended after this long. Default 60 s. */
  readonly idleMs?: number;
}

const driverMs = 180_000;

export class RaySpawner implements Spawner {
  readonly place = 'ray';
  readonly #options: RaySpawnerOptions;
  readonly #drivers = new Map<string, Promise<RayDriver>>();
  #idle: Disposable | undefined;

  constructor(options: RaySpawnerOptions) {
    this.#options = options;
  }

  async start(request: HostRequest): Promise<HostProcess> {
    const { placement, ...options } = request;
    if (!placement) throw new StudioError('internal', `${request.label} has no placement`);
    const { clock } = this.#options;
    this.#idle?.[Symbol.dispose]();
    const driver = await withDeadline(this.#driverFor(placement), {
      clock,
      timeoutMs: driverMs,
      signal: request.signal,
      what: 'starting Ray',
    });
    return await startHost<RayReplica>(
      {
        ...options,
        door: {
          listen: 'tcp:node',
          handshakeLine: (child) => child.handshakeLine,
          // Proved by the handshake; the replica listens on its node's address.
          reach: (listen) => Promise.resolve(listen),
        },
      },
      {
        clock,
        nextSocketPath: () => '',
        spawn: async (spawn) => {
          const replica = await driver.spawn(spawn, placement);
          void replica.exited.then(() => this.#endWhenIdle());
          return replica;
        },
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idle?.[Symbol.dispose]();
    const drivers = [...this.#drivers.values()];
    this.#drivers.clear();
    await Promise.all(
      drivers.map(async (opening) => {
        const driver = await opening.catch(() => undefined);
        await driver?.[Symbol.asyncDispose]();
      }),
    );
  }

  async #driverFor(placement: HostPlacement): Promise<RayDriver> {
    const ray = this.#options.settings();
    const python = await this.#interpreter(ray, placement);
    const key = JSON.stringify([python, ray]);
    const known = this.#drivers.get(key);
    const running = await known?.catch(() => undefined);
    if (running && !running.isGone) return running;
    // Somebody else may have opened one meanwhile.
    const current = this.#drivers.get(key);
    if (current !== undefined && current !== known) return await current;
    const opening = this.#open(python, ray);
    this.#drivers.set(key, opening);
    return await opening;
  }

  async #open(python: string, ray: SpawnerSettings['ray']): Promise<RayDriver> {
    const { processes, clock, pythonFolder, logger, redact } = this.#options;
    const onLine = (line: string): void => logger.info('ray', { line });
    try {
      return await RayDriver.open({ processes, clock, pythonFolder, python, ray, onLine, redact });
    } catch (error) {
      throw toStudioError(error, 'spawn_failed').within({ phase: 'start' });
    }
  }

  async #interpreter({ python }: SpawnerSettings['ray'], placement: HostPlacement): Promise<string> {
    if (python !== '') return await this.#options.resolveInterpreter(python);
    return placement.interpreter ?? (await this.#options.resolveInterpreter(''));
  }

  #endWhenIdle(): void {
    const { clock, idleMs = 60_000 } = this.#options;
    this.#idle?.[Symbol.dispose]();
    this.#idle = clock.after(idleMs, () => void this.#endIdle());
  }

  async #endIdle(): Promise<void> {
    for (const [key, opening] of this.#drivers) {
      const driver = await opening.catch(() => undefined);
      if (driver && driver.replicaCount > 0) continue;
      this.#drivers.delete(key);
      await driver?.[Symbol.asyncDispose]();
    }
  }
}
