// Starts a host and connects to it: spawn, handshake over fd 3, proof, connection. Both come out, or neither: on every
// failure and on abort the process is killed and its socket removed.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { throwIfAborted, withDeadline } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { StudioError, toStudioError } from '../base/errors.ts';
import { deathError } from './death.ts';
import { connectFrames, parseAddress, type SocketAddress } from './frame-socket.ts';
import { engineProof, verifyHandshake } from './handshake.ts';
import { listenVariable, nonceVariable } from './owner.ts';
import type {
  ExitInfo,
  FrameConnection,
  HostProcess,
  HostStage,
  ManagedProcess,
  SpawnOptions,
  StartHostOptions,
  StopOptions,
} from './ports.ts';

const defaultStartTimeoutMs = 60_000;
const defaultShutdownTimeoutMs = 10_000;
const noteEveryMs = 10_000;
/** Between the answer to `shutdown`, or the end of the connection, and the end of the process. */
const exitGraceMs = 1_000;

export interface StartHostPorts<Child extends ManagedProcess> {
  readonly clock: Clock;
  readonly spawn: (options: SpawnOptions) => Promise<Child>;
  readonly nextSocketPath: () => string;
}

export async function startHost<Child extends ManagedProcess>(
  options: StartHostOptions,
  ports: StartHostPorts<Child>,
): Promise<ConnectedHost<Child>> {
  throwIfAborted(options.signal);
  const { clock } = ports;
  const transport = options.transport ?? (process.platform === 'win32' ? 'tcp' : 'unix');
  const listen =
    options.door?.listen ?? (transport === 'tcp' ? 'tcp:127.0.0.1' : `unix:${ports.nextSocketPath()}`);
  const nonce = randomBytes(32).toString('hex');
  using stages = reportStages(options, clock);
  stages.enter('starting');
  const env = { ...options.env, [nonceVariable]: nonce, [listenVariable]: listen };
  const child = await ports.spawn({ ...options, env });
  try {
    const connection = await connectTo(child, { options, clock, nonce, listen, enter: stages.enter });
    stages.enter('connected');
    return new ConnectedHost({ connection, child, clock, sharesMemory: options.door === undefined });
  } catch (error) {
    throw await explainFailure(child, toStudioError(error, 'handshake_failed'), { options, clock });
  } finally {
    await removeSocket(listen);
  }
}

interface Attempt {
  readonly options: StartHostOptions;
  readonly clock: Clock;
  readonly nonce: string;
  /** What the host was asked to listen on. */
  readonly listen: string;
  readonly enter: (stage: HostStage) => void;
}

async function connectTo(child: ManagedProcess, attempt: Attempt): Promise<FrameConnection> {
  const { options, clock, nonce } = attempt;
  const dueMs = clock.monotonic() + startTimeoutOf(options);
  const within = <T>(work: Promise<T>, what: string): Promise<T> =>
    withDeadline(work, {
      clock,
      timeoutMs: Math.max(0, dueMs - clock.monotonic()),
      signal: options.signal,
      what,
    });
  attempt.enter('waiting_for_handshake');
  using given = givenUp();
  const { door } = options;
  const line = await within(
    door ? door.handshakeLine(child, given.signal) : child.handshakeLine,
    `the start of ${options.label}`,
  );
  const handshake = verifyHandshake(line, nonce);
  attempt.enter('connecting');
  const address = door
    ? parseAddress(await within(door.reach(handshake.listen), `finding the port of ${options.label}`))
    : checkedAddress(handshake.listen, attempt.listen);
  const connecting = connectFrames(address, { clock, ...(options.signal && { signal: options.signal }) });
  // An attempt that is given up must not leave an open connection behind.
  const connection = await within(connecting, `connecting to ${options.label}`).catch((error: unknown) => {
    connecting.then((late) => late.close(), ignoreFailure);
    throw error;
  });
  if ('path' in address) return connection;
  try {
    const proof = engineProof(nonce, handshake.listen);
    await connection.call(
      'auth',
      { proof },
      { timeoutMs: Math.max(1, dueMs - clock.monotonic()), signal: options.signal },
    );
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Whoever looks for a handshake stops when nobody waits for it any more. */
function givenUp(): { readonly signal: AbortSignal } & Disposable {
  const stop = new AbortController();
  return { signal: stop.signal, [Symbol.dispose]: () => stop.abort() };
}

function startTimeoutOf(options: StartHostOptions): number {
  return options.startTimeoutMs ?? defaultStartTimeoutMs;
}

/** A host listens where it was told to; only the port is its own choice. */
function checkedAddress(given: string, asked: string): SocketAddress {
  const address = parseAddress(given);
  const wanted = parseAddress(asked);
  const matches =
    'path' in wanted
      ? 'path' in address && address.path === wanted.path
      : 'host' in address && address.host === wanted.host;
  if (!matches)
    throw new StudioError(
      'handshake_failed',
      `the process listens on ${given}, not on ${asked} as it was told`,
    );
  return address;
}

/** Kills what was started; a process that ended by itself is the reason, whatever was being waited for. */
async function explainFailure(
  child: ManagedProcess,
  error: StudioError,
  { options, clock }: Pick<Attempt, 'options' | 'clock'>,
): Promise<StudioError> {
  const endedByItself =
    child.exitInfo !== undefined || error.code === 'handshake_failed' || error.code === 'connection_closed';
  const exit = endedByItself ? await exitWithin(child, clock, exitGraceMs / 2) : undefined;
  await child.kill();
  if (error.code === 'aborted') return error;
  const stderrTail = child.stderrTail();
  if (exit)
    return deathError({ label: child.label, exit, stderrTail }, { code: 'handshake_failed', cause: error });
  const details = { ...error.details, stderrTail: stderrTail.slice(-20) };
  if (error.code !== 'timeout')
    return new StudioError('handshake_failed', error.message, { cause: error, details });
  const message = `${child.label} did not start within ${startTimeoutOf(options) / 1000} s; see its log, or raise its start timeout`;
  return new StudioError('timeout', message, { cause: error, details });
}

/** Its end, if that comes within the time. Pipes close a moment before the system reports the exit. */
async function exitWithin(
  child: ManagedProcess,
  clock: Clock,
  delayMs: number,
): Promise<ExitInfo | undefined> {
  const waited = Promise.withResolvers<undefined>();
  using _timer = clock.after(delayMs, () => waited.resolve(undefined));
  return await Promise.race([child.exited, waited.promise]);
}

async function removeSocket(listen: string): Promise<void> {
  if (listen.startsWith('unix:')) await rm(listen.slice(5), { force: true }).catch(ignoreFailure);
}

function reportStages(
  options: StartHostOptions,
  clock: Clock,
): { readonly enter: (stage: HostStage) => void } & Disposable {
  const startMs = clock.monotonic();
  const texts: Readonly<Record<HostStage, string>> = {
    starting: 'starting the process',
    waiting_for_handshake: 'waiting for the process to answer',
    connecting: 'connecting',
    connected: 'connected',
  };
  let current: HostStage = 'starting';
  let timer: Disposable | undefined;
  const report = (): void =>
    options.onStage?.({ stage: current, elapsedMs: clock.monotonic() - startMs, message: texts[current] });
  const arm = (): void => {
    timer = clock.after(noteEveryMs, () => {
      report();
      arm();
    });
  };
  arm();
  return {
    enter: (stage) => {
      current = stage;
      report();
    },
    [Symbol.dispose]: () => timer?.[Symbol.dispose](),
  };
}

export interface ConnectedHostParts<Child> {
  readonly connection: FrameConnection;
  readonly child: Child;
  readonly clock: Clock;
  readonly sharesMemory?: boolean;
}

/** Process and connection end together: the end of either ends the other. */
export class ConnectedHost<Child extends ManagedProcess = ManagedProcess> implements HostProcess {
  readonly connection: FrameConnection;
  readonly process: Child;
  readonly #clock: Clock;
  #heartbeatRssBytes: number | null = null;
  #stopping: Promise<ExitInfo> | undefined;
  readonly sharesMemory: boolean;

  constructor({ connection, child, clock, sharesMemory = true }: ConnectedHostParts<Child>) {
    this.sharesMemory = sharesMemory;
    this.connection = connection;
    this.process = child;
    this.#clock = clock;
    connection.onNote((method, params) => {
      if (method === 'heartbeat') this.#heartbeatRssBytes = rssOf(params);
    });
    void connection.closed.then(() => this.#endProcess());
    // Something the process started may hold the socket open; without the process it is worth nothing.
    void child.exited.then(async () => connection.close(await this.death()));
  }

  get heartbeatRssBytes(): number | null {
    return this.#heartbeatRssBytes;
  }

  async death(): Promise<StudioError> {
    const exit = await this.process.exited;
    return deathError({ label: this.process.label, exit, stderrTail: this.process.stderrTail() });
  }

  stop(options: StopOptions & { readonly shutdownTimeoutMs?: number } = {}): Promise<ExitInfo> {
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  async kill(): Promise<ExitInfo> {
    const exit = await this.process.kill();
    this.connection.close();
    return exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(options: StopOptions & { readonly shutdownTimeoutMs?: number }): Promise<ExitInfo> {
    const timeoutMs = options.shutdownTimeoutMs ?? defaultShutdownTimeoutMs;
    const agreed = await this.connection.call('shutdown', {}, { timeoutMs }).then(
      () => true,
      () => false, // it does not answer, or is gone: it is ended all the same
    );
    if (agreed) await exitWithin(this.process, this.#clock, exitGraceMs);
    const exit = await this.process.stop(options);
    this.connection.close();
    return exit;
  }

  /** The connection ended: a host then ends itself, or is ended. */
  async #endProcess(): Promise<void> {
    await exitWithin(this.process, this.#clock, exitGraceMs);
    await this.process.kill();
  }
}

function rssOf(params: unknown): number | null {
  const rss: unknown = typeof params === 'object' && params !== null && 'rss' in params ? params.rss : null;
  return typeof rss === 'number' ? rss : null;
}

function ignoreFailure(): void {}
