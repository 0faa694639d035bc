// Replicas in containers. The child here is `docker run` in the foreground: its standard input is the host's lifeline,
// its end the container's. A container is removed with its replica, at the engine's end, and, where the engine was
// killed, at the next start.
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sleep, withDeadline } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type {
  ExitInfo,
  HostDoor,
  HostProcess,
  ManagedProcess,
  ProcessRegistry,
  StopOptions,
} from '../../process/ports.ts';
import { containerRecords, type ContainerRecords } from './container-records.ts';
import {
  containerListen,
  listArguments,
  portArguments,
  publishedAddress,
  removeArguments,
  runArguments,
} from './docker-command.ts';
import { findProgram } from './find-program.ts';
import type { HostRequest, Spawner } from './spawner.ts';

export interface DockerSpawnerOptions {
  readonly processes: Pick<ProcessRegistry, 'startHost' | 'spawn' | 'ownerMarker'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ids of running containers are kept here, beyond this engine's life. */
  readonly recordsFolder: string;
  /** Program name on PATH or absolute path; read at each start. */
  readonly command: () => string;
}

const commandTimeoutMs = 20_000;
const lookEveryMs = 25;

export class DockerSpawner implements Spawner {
  readonly place = 'docker';
  readonly #options: DockerSpawnerOptions;
  readonly #records: ContainerRecords;
  #count = 0;

  constructor(options: DockerSpawnerOptions) {
    this.#options = options;
    this.#records = containerRecords(options.recordsFolder);
  }

  async start(request: HostRequest): Promise<HostProcess> {
    const { placement, ...options } = request;
    if (!placement) throw new StudioError('internal', `${request.label} has no placement`);
    const { processes } = this.#options;
    const docker = await this.#program();
    const name = `${processes.ownerMarker}-${++this.#count}`;
    const folder = await mkdtemp(path.join(os.tmpdir(), 'agentcanvas-door-'));
    try {
      const door = path.join(folder, 'door');
      await mkdir(door);
      // Whoever the image runs as writes there; nobody on this machine gets through the folder around it.
      await chmod(door, 0o777);
      const idFile = await this.#records.fileFor(name);
      const args = runArguments({
        ...placement,
        command: request.command,
        args: request.args,
        cwd: request.cwd,
        env: options.env ?? {},
        ownerMarker: processes.ownerMarker,
        name,
        idFile,
        doorFolder: door,
      });
      const host = await processes.startHost({
        ...options,
        command: docker,
        args,
        cwd: os.tmpdir(),
        door: this.#doorOf(name, path.join(door, 'handshake')),
      });
      const container = new ContainerHost(host, () => this.#remove(name));
      void host.process.exited.then(({ exitCode }) =>
        exitCode === 0 ? this.#records.forget(name) : this.#remove(name),
      );
      return container;
    } catch (error) {
      await this.#remove(name);
      throw error;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Removes what engines that were killed left behind. Docker is asked only when there is something. */
  async sweepLeftBehind(): Promise<number> {
    const left = await this.#records.leftBehind();
    if (left.length === 0) return 0;
    await this.#run(removeArguments(left.map(({ id }) => id)));
    await Promise.all(left.map(({ name }) => this.#records.forget(name)));
    return left.length;
  }

  /** Everything this engine started, by label. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#count === 0) return;
    try {
      const ids = await this.#run(listArguments(this.#options.processes.ownerMarker));
      if (ids.length > 0) await this.#run(removeArguments(ids));
    } catch (error) {
      this.#options.logger.warn('containers could not be swept', { error: String(error) });
    }
  }

  async #program(): Promise<string> {
    const wanted = this.#options.command() || 'docker';
    const found = await findProgram(wanted);
    if (found !== undefined) return found;
    throw new StudioError(
      'spawn_failed',
      `"${wanted}" is not on PATH; install Docker, or choose another spawner for this nodeset`,
    );
  }

  #doorOf(name: string, file: string): HostDoor {
    return {
      listen: containerListen,
      handshakeLine: (child, signal) => this.#awaitFile(file, child, signal),
      reach: async () => {
        const id = await this.#records.idOf(name);
        if (id === undefined) throw new StudioError('spawn_failed', 'Docker wrote no container id');
        return publishedAddress(await this.#run(portArguments(id)));
      },
    };
  }

  async #awaitFile(file: string, child: ManagedProcess, signal: AbortSignal): Promise<string> {
    while (child.exitInfo === undefined) {
      const text = await readFile(file, 'utf8').catch(() => '');
      if (text.endsWith('\n')) return text.trimEnd();
      await sleep(this.#options.clock, lookEveryMs, signal);
    }
    throw new StudioError('handshake_failed', 'the container ended before it answered');
  }

  /** Never rejects: a container that cannot be removed now is swept later. */
  async #remove(name: string): Promise<void> {
    const id = await this.#records.idOf(name);
    try {
      if (id !== undefined) await this.#run(removeArguments([id]));
      await this.#records.forget(name);
    } catch (error) {
      this.#options.logger.warn('a container could not be removed', { name, error: String(error) });
    }
  }

  /** Lines of its standard output. */
  async #run(args: readonly string[]): Promise<readonly string[]> {
    const { processes, clock } = this.#options;
    const child = await processes.spawn({
      command: await this.#program(),
      args,
      cwd: os.tmpdir(),
      label: `docker ${args[0] ?? ''}`,
    });
    const what = `docker ${args[0] ?? ''}`;
    await using _ended = child;
    const exit = await withDeadline(child.exited, { clock, timeoutMs: commandTimeoutMs, what });
    const isGone = child.stderrTail().some((line) => /No such container/i.test(line));
    if (exit.exitCode === 0 || isGone) return child.stdoutTail().filter((line) => line.trim() !== '');
    throw new StudioError(
      'spawn_failed',
      `docker ${args[0] ?? ''} failed: ${child.stderrTail(3).join(' ').slice(0, 300)}`,
    );
  }
}

/** A killed `docker run` leaves its container to its lifeline; a replica that hangs may not see that end. */
class ContainerHost implements HostProcess {
  readonly sharesMemory = false;
  readonly connection: HostProcess['connection'];
  readonly process: ManagedProcess;
  readonly #host: HostProcess;
  readonly #remove: () => Promise<void>;

  constructor(host: HostProcess, remove: () => Promise<void>) {
    this.#host = host;
    this.connection = host.connection;
    this.process = host.process;
    this.#remove = remove;
  }

  get heartbeatRssBytes(): number | null {
    return this.#host.heartbeatRssBytes;
  }

  death(): Promise<StudioError> {
    return this.#host.death();
  }

  async stop(options?: StopOptions & { readonly shutdownTimeoutMs?: number }): Promise<ExitInfo> {
    const exit = await this.#host.stop(options);
    if (exit.exitCode !== 0) await this.#remove();
    return exit;
  }

  async kill(): Promise<ExitInfo> {
    const [exit] = await Promise.all([this.#host.kill(), this.#remove()]);
    return exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
