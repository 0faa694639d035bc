// One host process that several environments share, as one HostProcess for each of them. Either of them can end it, and
// then it has ended for all; `endedByMate` says whose doing that was. It is asked to end when the last one has left.
import type { Clock } from '../base/clock.ts';
import type { StudioError } from '../base/errors.ts';
import type {
  CallHandler,
  CallOptions,
  ConnectionCounters,
  ExitInfo,
  FrameConnection,
  HostProcess,
  ManagedProcess,
  RepeatedFiring,
  StopOptions,
} from './ports.ts';

/** One environment's part of a shared process. */
export interface PackedHost extends HostProcess {
  readonly channel: number;
  /** Milliseconds that its calls have waited behind those of the others. */
  waitedMs(): number;
  /** The process has ended: by the doing of another environment than this one. */
  endedByMate(): boolean;
}

export function isPacked(host: HostProcess): host is PackedHost {
  return 'endedByMate' in host;
}

/** Ends a process that nothing is wrong with: at once, but where others are in it they go on. */
export async function withdraw(
  host: HostProcess,
  options: StopOptions & { readonly shutdownTimeoutMs?: number } = {},
): Promise<void> {
  await (isPacked(host) ? host.stop(options) : host.kill());
}

/** What is said of the end of a process that goes on for the others. */
const stillRuns: ExitInfo = { exitCode: null, signal: null };

export class SharedHost {
  readonly #host: HostProcess;
  readonly #clock: Clock;
  readonly #open = new Set<PackedHost>();
  readonly #ended = Promise.withResolvers<ExitInfo>();
  #culprit: number | undefined;
  #isRetired = false;

  constructor(host: HostProcess, clock: Clock) {
    this.#host = host;
    this.#clock = clock;
    const blameLastCall = (): void => this.#blame(host.connection.line?.lastChannel);
    void host.connection.closed.then(blameLastCall);
    void host.process.exited.then((exit) => {
      blameLastCall();
      this.#ended.resolve(exit);
    });
  }

  /** False once somebody left, or it ended: it then takes nobody any more. */
  get isWelcoming(): boolean {
    return !this.#isRetired && !this.#host.connection.isClosed && !this.#host.process.exitInfo;
  }

  join(channel: number): PackedHost {
    const part = new Part(channel, {
      host: this.#host,
      clock: this.#clock,
      parts: () => this.#open.size,
      isCulprit: () => this.#culprit === undefined || this.#culprit === channel,
      stop: (options) => this.#leave(part, options),
      kill: () => this.#kill(part),
    });
    this.#open.add(part);
    return part;
  }

  /** The first one to end it, or whose call ran when it ended. */
  #blame(channel: number | undefined): void {
    this.#culprit ??= channel;
  }

  /** Whoever had it started left before joining: with nobody in it, nobody would end it. */
  async endIfEmpty(): Promise<void> {
    if (this.#open.size > 0) return;
    this.#isRetired = true;
    await this.#host.kill();
  }

  async #kill(part: PackedHost): Promise<ExitInfo> {
    // Who has left has no say over those who have not.
    const hasLeft = !this.#open.has(part) && this.#culprit !== part.channel;
    if (hasLeft && this.#open.size > 0) return stillRuns;
    this.#isRetired = true;
    this.#blame(part.channel);
    this.#open.delete(part);
    return await this.#host.kill();
  }

  async #leave(
    part: PackedHost,
    options: StopOptions & { readonly shutdownTimeoutMs?: number },
  ): Promise<ExitInfo> {
    this.#isRetired = true;
    this.#open.delete(part);
    if (this.#open.size > 0) return stillRuns;
    return await this.#host.stop(options);
  }
}

interface PartOptions {
  readonly host: HostProcess;
  readonly clock: Clock;
  readonly parts: () => number;
  readonly isCulprit: () => boolean;
  readonly stop: (options: StopOptions & { readonly shutdownTimeoutMs?: number }) => Promise<ExitInfo>;
  readonly kill: () => Promise<ExitInfo>;
}

class Part implements PackedHost {
  readonly channel: number;
  readonly connection: FrameConnection;
  readonly #options: PartOptions;

  constructor(channel: number, options: PartOptions) {
    this.channel = channel;
    this.#options = options;
    this.connection = new ChannelConnection(options.host.connection, channel);
  }

  get process(): ManagedProcess {
    return this.#options.host.process;
  }

  get sharesMemory(): boolean {
    return this.#options.host.sharesMemory ?? true;
  }

  /** Its share of the process. */
  get heartbeatRssBytes(): number | null {
    const { host, parts } = this.#options;
    return host.heartbeatRssBytes === null ? null : host.heartbeatRssBytes / Math.max(1, parts());
  }

  waitedMs(): number {
    const { host, clock } = this.#options;
    return host.connection.line?.waitedMs(this.channel, clock.monotonic()) ?? 0;
  }

  endedByMate(): boolean {
    return !this.#options.isCulprit();
  }

  death(): Promise<StudioError> {
    return this.#options.host.death();
  }

  stop(options: StopOptions & { readonly shutdownTimeoutMs?: number } = {}): Promise<ExitInfo> {
    return this.#options.stop(options);
  }

  kill(): Promise<ExitInfo> {
    return this.#options.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Calls carry the channel; everything else is the process's. */
class ChannelConnection implements FrameConnection {
  readonly #inner: FrameConnection;
  readonly #channel: number;

  constructor(inner: FrameConnection, channel: number) {
    this.#inner = inner;
    this.#channel = channel;
  }

  get closed(): Promise<StudioError> {
    return this.#inner.closed;
  }

  get isClosed(): boolean {
    return this.#inner.isClosed;
  }

  get counters(): ConnectionCounters {
    return this.#inner.counters;
  }

  /** Hot path. */
  call(method: string, params: unknown, options: CallOptions): Promise<unknown> {
    const { timeoutMs, signal, context, onBehalfOf } = options;
    return this.#inner.call(method, params, {
      timeoutMs,
      signal,
      context,
      onBehalfOf,
      channel: this.#channel,
    });
  }

  /** Hot path. */
  fireAgain(firing: RepeatedFiring, options: CallOptions): Promise<unknown> {
    const { timeoutMs, signal, context } = options;
    return this.#inner.fireAgain(firing, { timeoutMs, signal, context, channel: this.#channel });
  }

  takeHandle(): number | undefined {
    return this.#inner.takeHandle();
  }

  allowFiringAgain(): void {
    this.#inner.allowFiringAgain();
  }

  note(method: string, params: unknown): void {
    this.#inner.note(method, params);
  }

  serve(handler: CallHandler): void {
    this.#inner.serve(handler);
  }

  onNote(listener: (method: string, params: unknown) => void): Disposable {
    return this.#inner.onNote(listener);
  }

  attachSharedMemory(folder: string): void {
    this.#inner.attachSharedMemory(folder);
  }

  silentSinceMs(): number {
    return this.#inner.silentSinceMs();
  }

  close(reason?: StudioError): void {
    this.#inner.close(reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#inner[Symbol.asyncDispose]());
  }
}
