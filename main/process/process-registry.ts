// Every child of this engine, in one place: what is started here is known to the reaper, and is gone after stopAll.
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import { startHost, type ConnectedHost } from './host-process.ts';
import { sweepDeadOwners, sweepOwner } from './kill-tree.ts';
import { defaultGraceMs, spawnManaged, type SpawnedProcess } from './managed-process.ts';
import { childMarker, createOwnerMarker } from './owner.ts';
import type {
  HostProcess,
  ManagedProcess,
  ProcessRegistry,
  ProcessRegistryOptions,
  SpawnOptions,
  StartHostOptions,
} from './ports.ts';
import { startReaper, type Reaper } from './reaper.ts';
import { createSocketFolder, type SocketFolder } from './socket-folder.ts';

const defaultDeadlineMs = 4_000;
/** A killed process is waited for this much longer; only one stuck in the kernel needs more. */
const afterKillMs = 500;

/** Starts the reaper and ends what engines that were killed left behind. */
export async function createProcessRegistry(options: ProcessRegistryOptions): Promise<ProcessRegistry> {
  const ownerMarker = createOwnerMarker();
  const { reaperEntry, nodeCommand } = options;
  const reaper =
    reaperEntry === null
      ? undefined
      : startReaper({ ownerMarker, clock: options.clock, entry: reaperEntry, nodeCommand });
  await sweepDeadOwners();
  const sockets = await createSocketFolder(ownerMarker, options.socketParent);
  return new EngineProcesses({
    clock: options.clock,
    redact: options.redact,
    ownerMarker,
    reaper,
    sockets,
  });
}

interface EngineProcessesParts {
  readonly clock: Clock;
  readonly redact: ProcessRegistryOptions['redact'];
  readonly ownerMarker: string;
  readonly reaper: Reaper | undefined;
  readonly sockets: SocketFolder;
}

class EngineProcesses implements ProcessRegistry {
  readonly ownerMarker: string;
  readonly #parts: EngineProcessesParts;
  readonly #processes = new Set<SpawnedProcess>();
  readonly #hosts = new Map<SpawnedProcess, ConnectedHost>();
  #count = 0;
  #isDisposed = false;

  constructor(parts: EngineProcessesParts) {
    this.#parts = parts;
    this.ownerMarker = parts.ownerMarker;
  }

  spawn(options: SpawnOptions): Promise<ManagedProcess> {
    return this.#spawn(options);
  }

  async startHost(options: StartHostOptions): Promise<HostProcess> {
    const host = await startHost(options, {
      clock: this.#parts.clock,
      spawn: (spawnOptions) => this.#spawn(spawnOptions),
      nextSocketPath: () => this.#parts.sockets.nextPath(),
    });
    this.#hosts.set(host.process, host);
    return host;
  }

  list(): readonly ManagedProcess[] {
    return [...this.#processes];
  }

  async stopAll(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    const deadlineMs = options.deadlineMs ?? defaultDeadlineMs;
    const graceMs = Math.min(defaultGraceMs, deadlineMs / 3);
    const stopping = [...this.#processes].map((child) => {
      const host = this.#hosts.get(child);
      return host ? host.stop({ graceMs, shutdownTimeoutMs: graceMs }) : child.stop({ graceMs });
    });
    await this.#atMost(Promise.all(stopping), deadlineMs - afterKillMs);
    await this.#atMost(Promise.all([...this.#processes].map((child) => child.kill())), afterKillMs);
    await sweepOwner(this.ownerMarker);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.stopAll();
    await this.#parts.sockets[Symbol.asyncDispose]();
    await this.#parts.reaper?.[Symbol.asyncDispose]();
  }

  async #spawn(options: SpawnOptions): Promise<SpawnedProcess> {
    if (this.#isDisposed)
      throw new StudioError('aborted', `${options.label} was not started: the app is closing`);
    const { clock, reaper, redact } = this.#parts;
    const child = await spawnManaged(options, {
      clock,
      redact,
      marker: childMarker(this.ownerMarker, ++this.#count),
    });
    this.#processes.add(child);
    reaper?.started(child.identity);
    void child.exited.then((exit) => {
      this.#processes.delete(child);
      this.#hosts.delete(child);
      reaper?.ended(child.pid);
      // After a crash nobody tidies up what it had started; after an orderly end stopAll's sweep is soon enough.
      if (exit.exitCode !== 0) void child.kill();
    });
    return child;
  }

  async #atMost(work: Promise<unknown>, timeoutMs: number): Promise<void> {
    const waited = Promise.withResolvers<void>();
    using _timer = this.#parts.clock.after(timeoutMs, waited.resolve);
    await Promise.race([work, waited.promise]);
  }
}
