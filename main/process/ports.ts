// What other layers see of processes and their connections. The layer moves values and keeps processes in order;
// it knows nothing of nodesets, environments or models.
import type { Clock } from '../base/clock.ts';
import type { StudioError } from '../base/errors.ts';

export interface CallOptions {
  /** Rejects with `timeout` after this long, sends `cancel`, and drops the late answer. */
  readonly timeoutMs: number;
  /** Rejects with `aborted`, sends `cancel`. Use one signal for many calls: a new one per call costs more than a call. */
  readonly signal?: AbortSignal | undefined;
  /** Host to engine: id of the engine's call on whose behalf this one is made (`IncomingCall.callId`). */
  readonly onBehalfOf?: number | undefined;
  /** Handed to the handler of calls that the other side makes on behalf of this call. Never sent. */
  readonly context?: unknown;
  /**
   * Which of the environments of the process it is for. Such calls are served one after another, and the time of each
   * runs only from its turn on.
   */
  readonly channel?: number | undefined;
}

/** A firing of a node whose call with config carried `handle` (docs/host-protocol.md, Firing again). */
export interface RepeatedFiring {
  readonly handle: number;
  readonly step: number;
  readonly seed: number;
  readonly inputs: unknown;
}

/** What is known of the calls of channels to one process. */
export interface ChannelLine {
  /** The channel whose call runs, or ran last: what happens to the process is its doing. */
  readonly lastChannel: number | undefined;
  /** How long calls of this channel have waited behind those of others, so far. */
  waitedMs(channel: number, nowMs: number): number;
}

/** One call of the other side, as its handler sees it. */
export interface IncomingCall {
  /** Its id; pass it as `onBehalfOf` when calling back. */
  readonly callId: number;
  /** `context` of our own open call on whose behalf it is made; undefined when it names none. */
  readonly context: unknown;
  readonly onBehalfOf: number | undefined;
  /** Aborted by `cancel` and by the end of the connection. Made on first use. */
  readonly signal: AbortSignal;
}

/** Return a value, not a promise, where you can: the answer then leaves in the same turn of the event loop. */
export type CallHandler = (method: string, params: unknown, call: IncomingCall) => unknown;

export interface ConnectionCounters {
  readonly sentCalls: number;
  /** Answers that came after their call had timed out or was aborted; they were dropped. */
  readonly lateAnswers: number;
  /** Calls given up by us whose answer is still owed. While there is one, the other side may be stuck. */
  readonly abandonedCalls: number;
  readonly pendingCalls: number;
  /** Notes not sent because the other side does not read. */
  readonly droppedNotes: number;
}

/**
 * Calls, notes and answers over one byte stream. Values handed out are the receiver's: arrays own memory that is
 * not reused. Values handed in are encoded at once, but arrays of 32 KB and more are written from the caller's
 * memory: leave them unchanged until the call is answered.
 */
export interface FrameConnection extends AsyncDisposable {
  /** The result; rejects with `timeout`, `aborted`, `connection_closed`, or the error the other side answered. */
  call(method: string, params: unknown, options: CallOptions): Promise<unknown>;
  /** The result of `node.forward`, asked for in few words; rejects as `call` does. */
  fireAgain(firing: RepeatedFiring, options: CallOptions): Promise<unknown>;
  /** A handle of this connection; undefined where the other side knows none. */
  takeHandle(): number | undefined;
  /** The other side has agreed to it. */
  allowFiringAgain(): void;
  /** One way. Dropped and counted when the other side does not read. */
  note(method: string, params: unknown): void;
  /** Who answers the other side's calls; before that they are answered with `unsupported`. */
  serve(handler: CallHandler): void;
  onNote(listener: (method: string, params: unknown) => void): Disposable;
  /** Arrays in shared memory slots are read from this folder (host protocol, Shared memory). */
  attachSharedMemory(folder: string): void;
  /** Absent while no call named a channel. */
  readonly line?: ChannelLine | undefined;
  /** Resolves once, with why the connection ended; `connection_closed` is the ordinary end. */
  readonly closed: Promise<StudioError>;
  readonly isClosed: boolean;
  /** Milliseconds since the last byte arrived. */
  silentSinceMs(): number;
  readonly counters: ConnectionCounters;
  /** Ends it now; pending calls reject with `reason`, by default `connection_closed`. */
  close(reason?: StudioError): void;
}

export interface ExitInfo {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export type OutputStream = 'stdout' | 'stderr';

export type LogSink = (line: string, stream: OutputStream) => void;

export interface SpawnOptions {
  /** Absolute path of a program; no shell ever sees it. */
  readonly command: string;
  readonly args: readonly string[];
  /** Must exist. */
  readonly cwd: string;
  /** Added to the scrubbed environment of the engine; wins over it. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names removed from the inherited environment beside the app's own (secrets the app stores). */
  readonly secretNames?: readonly string[];
  /** Short name for logs and lists, for example `minivln#0`. */
  readonly label: string;
  readonly niceness?: number;
  /** Every captured line, stripped of control characters. Called from the pipe's event: keep it cheap. */
  readonly logSink?: LogSink;
  /** Lines are also appended to `<folder>/<label>.log`, rotated at 10 MB, three kept. */
  readonly logFolder?: string;
  /** False only in tests that prove the other layers. Default: true where the system has it. */
  readonly parentDeathSignal?: boolean;
}

export interface StopOptions {
  /** From SIGTERM to SIGKILL. Default 1500. */
  readonly graceMs?: number;
}

export interface ManagedProcess extends AsyncDisposable {
  readonly pid: number;
  readonly label: string;
  /** The value of AGENTCANVAS_OWNER in its environment; descendants carry it too. */
  readonly marker: string;
  readonly exited: Promise<ExitInfo>;
  /** Undefined while it runs. */
  readonly exitInfo: ExitInfo | undefined;
  /** First line written to fd 3. Rejects with `handshake_failed` when the pipe ends before. */
  readonly handshakeLine: Promise<string>;
  /** Last lines, oldest first, at most 200. */
  stderrTail(count?: number): readonly string[];
  stdoutTail(count?: number): readonly string[];
  /** Resident memory, or null when the system does not say. */
  rssBytes(): Promise<number | null>;
  /** TERM to the group, KILL after the grace, then what is left of its tree. Never rejects; waits for the end. */
  stop(options?: StopOptions): Promise<ExitInfo>;
  /** KILL to the group and the rest of its tree. Never rejects; waits for the end. */
  kill(): Promise<ExitInfo>;
}

export type HostStage = 'starting' | 'waiting_for_handshake' | 'connecting' | 'connected';

export interface StageReport {
  readonly stage: HostStage;
  readonly elapsedMs: number;
  readonly message: string;
}

export interface StartHostOptions extends SpawnOptions {
  /** From spawn to connection. Default 60 s. */
  readonly startTimeoutMs?: number;
  /** Each change of stage, and every 10 s while waiting. */
  readonly onStage?: (report: StageReport) => void;
  readonly signal?: AbortSignal;
  /** Default: `unix` where the system has such sockets, else `tcp`. */
  readonly transport?: 'unix' | 'tcp';
  /** For hosts that run somewhere else than the child that stands for them here. */
  readonly door?: HostDoor;
}

/** How the engine reaches a host in a container or on another machine. */
export interface HostDoor {
  /** What the host is told to listen on (`AGENTCANVAS_LISTEN`); always TCP, so the engine proves itself there. */
  readonly listen: string;
  /** The handshake line, where fd 3 of the child does not lead to the host. */
  readonly handshakeLine: (child: ManagedProcess, signal: AbortSignal) => Promise<string>;
  /** From the address in the proved handshake to one that this machine can connect to: `tcp:<host>:<port>`. */
  readonly reach: (listen: string) => Promise<string>;
}

/** A host process and the connection to it, both or none. */
export interface HostProcess extends AsyncDisposable {
  readonly connection: FrameConnection;
  readonly process: ManagedProcess;
  /** Last `heartbeat` note's resident memory, or null before the first. */
  readonly heartbeatRssBytes: number | null;
  /** False where it does not see this machine's shared memory. Default: true. */
  readonly sharesMemory?: boolean;
  /** Why it ended, with exit code or signal and the last lines of stderr in `details`. Waits for the end. */
  death(): Promise<StudioError>;
  /** Asks with the call `shutdown` (default 10 s), then stops the process. Never rejects. */
  stop(options?: StopOptions & { readonly shutdownTimeoutMs?: number }): Promise<ExitInfo>;
  /** No questions asked. Never rejects. */
  kill(): Promise<ExitInfo>;
}

/** Every child of this engine. One per engine; disposing stops all and ends the reaper. */
export interface ProcessRegistry extends AsyncDisposable {
  /** This engine's marker; every child's marker begins with it. */
  readonly ownerMarker: string;
  /** Rejects with `spawn_failed`. */
  spawn(options: SpawnOptions): Promise<ManagedProcess>;
  /** Rejects with `spawn_failed`, `handshake_failed`, `timeout` or `aborted`; then nothing of it is left. */
  startHost(options: StartHostOptions): Promise<HostProcess>;
  list(): readonly ManagedProcess[];
  /** All in parallel under one deadline (default 4 s, of which the grace is a part), then a sweep by marker. */
  stopAll(options?: { readonly deadlineMs?: number }): Promise<void>;
}

export interface ProcessRegistryOptions {
  readonly clock: Clock;
  /** Path of the reaper program; default: beside the running file. `null`: no reaper (tests). */
  readonly reaperEntry?: string | null;
  /** Program that runs it; default `process.execPath`. */
  readonly nodeCommand?: string;
  /** Folder under which the private socket folder is made; default XDG_RUNTIME_DIR, else the temporary folder. */
  readonly socketParent?: string;
  /** Takes secrets out of every captured line. */
  readonly redact?: ((line: string) => string) | undefined;
}
