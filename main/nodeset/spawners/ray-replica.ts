// A replica on a node of a Ray cluster, as a process like any other: fed by what the driver tells of it.
import os from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { sleep } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError } from '../../base/errors.ts';
import type {
  ExitInfo,
  ManagedProcess,
  OutputStream,
  SpawnOptions,
  StopOptions,
} from '../../process/ports.ts';
import { RotatedFile, fileNameOf } from '../../process/rotated-file.ts';

/** Notes `replica` of the driver. */
export const replicaNote = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('placed'), id: z.string(), address: z.string() }),
  z.object({ kind: z.literal('handshake'), id: z.string(), line: z.string() }),
  z.object({
    kind: z.literal('log'),
    id: z.string(),
    stream: z.enum(['stdout', 'stderr']),
    line: z.string(),
  }),
  z.object({
    kind: z.literal('exit'),
    id: z.string(),
    code: z.number().int().nullable(),
    reason: z.string(),
  }),
]);
export type ReplicaNote = z.infer<typeof replicaNote>;

export interface RayReplicaOptions {
  readonly spawn: SpawnOptions;
  readonly marker: string;
  readonly clock: Clock;
  /** Takes secrets out of what it prints. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Asks the driver; may fail when the driver or the node is gone. */
  readonly signal: (graceful: boolean) => Promise<void>;
}

const tailLines = 200;
const defaultGraceMs = 1_500;
/** A node that died cannot say so: after this the replica counts as ended, and Ray ends what is left of it. */
const answerMs = 2_000;
// eslint-disable-next-line no-control-regex -- what terminals would act on
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

export class RayReplica implements ManagedProcess {
  readonly label: string;
  readonly marker: string;
  readonly exited: Promise<ExitInfo>;
  readonly handshakeLine: Promise<string>;
  readonly #options: RayReplicaOptions;
  readonly #tails: Record<OutputStream, string[]> = { stdout: [], stderr: [] };
  readonly #handshake = Promise.withResolvers<string>();
  readonly #exit = Promise.withResolvers<ExitInfo>();
  readonly #file: RotatedFile | undefined;
  #exitInfo: ExitInfo | undefined;
  #pid = 0;

  constructor(options: RayReplicaOptions) {
    const { label, logFolder } = options.spawn;
    this.#options = options;
    this.label = label;
    this.marker = options.marker;
    this.exited = this.#exit.promise;
    this.handshakeLine = this.#handshake.promise;
    this.handshakeLine.catch(() => undefined);
    this.#file =
      logFolder === undefined ? undefined : new RotatedFile(path.join(logFolder, `${fileNameOf(label)}.log`));
  }

  /** On its node; 0 before the handshake. */
  get pid(): number {
    return this.#pid;
  }

  get exitInfo(): ExitInfo | undefined {
    return this.#exitInfo;
  }

  take(note: ReplicaNote): void {
    switch (note.kind) {
      case 'placed':
        return;
      case 'handshake':
        this.#pid = pidIn(note.line);
        this.#handshake.resolve(note.line);
        return;
      case 'log':
        return this.#log(note.line, note.stream);
      case 'exit':
        if (note.reason !== '') this.#log(`Ray: ${note.reason}`, 'stderr');
        this.end(exitOf(note.code));
    }
  }

  /** It is gone; said once. */
  end(exit: ExitInfo): void {
    if (this.#exitInfo) return;
    this.#exitInfo = exit;
    this.#handshake.reject(
      new StudioError('handshake_failed', `${this.label} ended before it answered its start`),
    );
    this.#exit.resolve(exit);
    void this.#file?.[Symbol.asyncDispose]();
  }

  stderrTail(count = tailLines): readonly string[] {
    return this.#tails.stderr.slice(-count);
  }

  stdoutTail(count = tailLines): readonly string[] {
    return this.#tails.stdout.slice(-count);
  }

  /** The host's own heartbeats say it. */
  rssBytes(): Promise<number | null> {
    return Promise.resolve(null);
  }

  async stop({ graceMs = defaultGraceMs }: StopOptions = {}): Promise<ExitInfo> {
    await this.#ask(true, graceMs);
    return await this.kill();
  }

  async kill(): Promise<ExitInfo> {
    await this.#ask(false, answerMs);
    this.end({ exitCode: null, signal: 'SIGKILL' });
    return await this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Signals it and waits for its end, at most this long. */
  async #ask(graceful: boolean, waitMs: number): Promise<void> {
    if (this.#exitInfo) return;
    const { signal, clock } = this.#options;
    const late = new AbortController();
    const asked = signal(graceful).then(
      () => this.exited,
      () => undefined, // driver or node are gone, and the replica with them
    );
    await Promise.race([asked, sleep(clock, waitMs, late.signal).catch(() => undefined)]);
    late.abort();
  }

  #log(text: string, stream: OutputStream): void {
    const { redact } = this.#options;
    const plain = stripVTControlCharacters(text).replaceAll(controls, '');
    const line = redact ? redact(plain) : plain;
    const tail = this.#tails[stream];
    tail.push(line);
    if (tail.length > tailLines) tail.shift();
    this.#file?.append(line);
    this.#options.spawn.logSink?.(line, stream);
  }
}

function pidIn(line: string): number {
  const parsed = z.object({ pid: z.number().int() }).safeParse(parseJson(line));
  return parsed.success ? parsed.data.pid : 0;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Python's exit codes: negative for a signal. Null: nobody saw the end. */
function exitOf(code: number | null): ExitInfo {
  if (code === null) return { exitCode: null, signal: 'SIGKILL' };
  if (code >= 0) return { exitCode: code, signal: null };
  const name = Object.entries(os.constants.signals).find(([, number]) => number === -code)?.[0];
  return { exitCode: null, signal: name ?? `signal ${-code}` };
}
