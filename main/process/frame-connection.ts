// Hot path (frame.bench.ts). Calls, answers and notes over one socket, in both directions at once. Every call settles exactly once: by
// its answer, its deadline, its signal or the end of the connection.
import type { Socket } from 'node:net';
import { abortedError } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { createEmitter } from '../base/emitter.ts';
import { StudioError, toStudioError } from '../base/errors.ts';
import { CallLine } from './call-line.ts';
import { callText, firingText, idOf, isList, shortAnswerOf, textOf } from './frame-header.ts';
import { FrameParser, type ParsedFrame } from './frame-parser.ts';
import { FrameWriter } from './frame-writer.ts';
import { PendingCalls } from './pending-calls.ts';
import type {
  CallHandler,
  CallOptions,
  ConnectionCounters,
  FrameConnection,
  IncomingCall,
  RepeatedFiring,
} from './ports.ts';
import { fromWireError, toWireError } from './remote-error.ts';
import { SlotReader } from './shared-memory.ts';
import { decodeValue, encodeValue } from './values.ts';

/** Beyond this much unsent, new calls wait for the socket to drain and notes are dropped. */
const highWaterBytes = 64 * 2 ** 20;
const flushTimeoutMs = 1_000;
const strandedWords = 'a call that nobody waits for any more kept the process from serving others';

interface WaitingCall {
  readonly id: number;
  readonly send: () => void;
}

export class SocketFrameConnection implements FrameConnection {
  readonly closed: Promise<StudioError>;
  readonly #parser: FrameParser;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #writer: FrameWriter;
  readonly #pending: PendingCalls;
  readonly #abandoned = new Set<number>();
  readonly #incoming = new Map<number, OpenIncomingCall>();
  readonly #notes = createEmitter<{ note: { readonly method: string; readonly params: unknown } }>();
  readonly #resolveClosed: (reason: StudioError) => void;
  #waiting: WaitingCall[] = [];
  #line: CallLine | undefined;
  #handler: CallHandler = refuseCalls;
  #slots: SlotReader | undefined;
  #lastCallId = 0;
  #lastHandle = 0;
  #firesAgain = false;
  #lateAnswers = 0;
  #droppedNotes = 0;
  #lastByteMs: number;
  #endReason: StudioError | undefined;

  /** Whoever opens the socket feeds `bytesArrived`; see frame-socket.ts. */
  constructor(socket: Socket, parser: FrameParser, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.#lastByteMs = clock.monotonic();
    this.#writer = new FrameWriter(socket);
    this.#parser = parser;
    parser.deliverTo((frame) => this.#onFrame(frame));
    this.#pending = new PendingCalls(clock, (id) => this.#giveUp(id), {
      dueMs: (id, nowMs) => this.#dueMs(id, nowMs),
      postpone: (byMs) => this.#line?.postpone(byMs),
    });
    const { promise, resolve } = Promise.withResolvers<StudioError>();
    this.closed = promise;
    this.#resolveClosed = resolve;
    socket.on('drain', () => this.#sendWaiting());
    socket.on('error', (error) => this.close(closedError(error.message, error)));
    socket.on('close', () =>
      this.close(
        this.#parser.isBetweenFrames
          ? undefined
          : closedError('the other side ended in the middle of a frame'),
      ),
    );
  }

  get line(): CallLine | undefined {
    return this.#lookAtTurn();
  }

  get isClosed(): boolean {
    return this.#endReason !== undefined;
  }

  get counters(): ConnectionCounters {
    return {
      sentCalls: this.#lastCallId,
      lateAnswers: this.#lateAnswers,
      abandonedCalls: this.#abandoned.size,
      pendingCalls: this.#pending.size,
      droppedNotes: this.#droppedNotes,
    };
  }

  silentSinceMs(): number {
    return this.#clock.monotonic() - this.#lastByteMs;
  }

  /** `byteCount` bytes were read into the parser's target, or lie in `chunk`. */
  bytesArrived(byteCount: number, chunk?: Uint8Array): void {
    if (this.#endReason) return;
    this.#lastByteMs = this.#clock.monotonic();
    try {
      if (chunk) this.#parser.push(chunk);
      else this.#parser.received(byteCount);
    } catch (error) {
      this.close(toStudioError(error, 'protocol_error'));
    }
  }

  call(method: string, params: unknown, options: CallOptions): Promise<unknown> {
    return this.#open(method, options, (id, segments) =>
      callText(id, method, encodeValue(params, segments), options),
    );
  }

  takeHandle(): number | undefined {
    return this.#firesAgain ? ++this.#lastHandle : undefined;
  }

  fireAgain(firing: RepeatedFiring, options: CallOptions): Promise<unknown> {
    return this.#open('node.forward', options, (id, segments) => firingText(id, firing, segments));
  }

  #open(
    method: string,
    options: CallOptions,
    textFor: (id: number, segments: Uint8Array[]) => string,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { signal, timeoutMs, channel } = options;
      if (this.#endReason) return reject(this.#endReason);
      if (signal?.aborted) return reject(abortedError(signal));
      const id = this.#lastCallId + 1;
      const segments: Uint8Array[] = [];
      const text = textFor(id, segments);
      const waits = this.#waiting.length > 0 || this.#socket.writableLength >= highWaterBytes;
      if (!waits) this.#writer.write(text, segments);
      else this.#waiting.push({ id, send: () => this.#writer.write(text, segments) });
      this.#lastCallId = id;
      const nowMs = this.#clock.monotonic();
      const dueMs = nowMs + timeoutMs;
      if (channel !== undefined) this.#openLine().sent({ id, channel, timeoutMs, nowMs });
      this.#pending.add(id, { method, timeoutMs, dueMs, signal, context: options.context, resolve, reject });
    });
  }

  /** Asked for only when an answer is overdue or the process has ended. */
  #lookAtTurn(): CallLine | undefined {
    const running = this.#line && this.#slots?.runningCall();
    if (running !== undefined) this.#line?.seenRunning(running);
    return this.#line;
  }

  #dueMs(id: number, nowMs: number): number | undefined {
    const line = this.#lookAtTurn();
    // Not before everything overdue has been given up.
    if (line?.isStranded(nowMs)) queueMicrotask(() => this.close(closedError(strandedWords)));
    return line?.dueMs(id, nowMs);
  }

  #openLine(): CallLine {
    if (!this.#line) {
      this.#line = new CallLine();
      this.#writer.gather();
    }
    return this.#line;
  }

  note(method: string, params: unknown): void {
    if (this.#endReason) return;
    if (this.#socket.writableLength >= highWaterBytes) {
      this.#droppedNotes++;
      return;
    }
    const segments: Uint8Array[] = [];
    const value = JSON.stringify(encodeValue(params, segments));
    this.#writer.write(`{"t":"note","m":${JSON.stringify(method)},"p":${value}}`, segments);
  }

  serve(handler: CallHandler): void {
    this.#handler = handler;
  }

  onNote(listener: (method: string, params: unknown) => void): Disposable {
    return this.#notes.on('note', ({ method, params }) => listener(method, params));
  }

  allowFiringAgain(): void {
    this.#firesAgain = true;
  }

  attachSharedMemory(folder: string): void {
    if (this.#slots?.folder === folder) return;
    this.#slots?.[Symbol.dispose]();
    this.#slots = new SlotReader(folder);
  }

  close(reason: StudioError = closedError('the connection was closed')): void {
    if (this.#endReason) return;
    this.#endReason = reason;
    this.#lookAtTurn();
    this.#socket.destroy();
    this.#slots?.[Symbol.dispose]();
    this.#waiting = [];
    this.#abandoned.clear();
    this.#pending.rejectAll(reason);
    for (const incoming of this.#incoming.values()) incoming.abort(reason);
    this.#incoming.clear();
    this.#resolveClosed(reason);
  }

  /** Sends what is written, then closes; waits at most a second for a side that does not read. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#endReason) return;
    this.#writer.flush();
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(flushTimeoutMs, resolve);
      this.#socket.end(() => {
        timer[Symbol.dispose]();
        resolve();
      });
    });
    this.close();
  }

  #onFrame(frame: ParsedFrame): void {
    if (this.#endReason) return;
    const { header } = frame;
    if (isList(header)) {
      const { id, outputs } = shortAnswerOf(header);
      return this.#onAnswer(id, { outputs: this.#decode(outputs, frame) });
    }
    switch (header['t']) {
      case 'ok':
        return this.#onAnswer(idOf(header), this.#decode(header['r'], frame));
      case 'err':
        return this.#onErrorAnswer(idOf(header), header['e']);
      case 'call':
        return this.#onCall(header, this.#decode(header['p'], frame));
      case 'cancel':
        return this.#incoming
          .get(idOf(header))
          ?.abort(new StudioError('aborted', 'the caller no longer wants the answer'));
      case 'note':
        return this.#onNote(textOf(header, 'm'), this.#decode(header['p'], frame));
      default:
        throw new StudioError(
          'protocol_error',
          `a frame of unknown kind ${JSON.stringify(header['t'])?.slice(0, 40)}`,
        );
    }
  }

  #onNote(method: string, params: unknown): void {
    if (method === 'waits' && isRecord(params)) this.#line?.wentAside(idOf(params), this.#lastByteMs);
    else this.#notes.emit('note', { method, params });
  }

  #decode(value: unknown, frame: ParsedFrame): unknown {
    if (!frame.mayHoldCells) return value;
    const slots = this.#slots;
    return decodeValue(
      value,
      slots ? { segments: frame.segments, readSlot: this.#readSlot.bind(this, slots) } : frame,
    );
  }

  #readSlot(slots: SlotReader, slot: number, byteLength: number): Uint8Array {
    const bytes = slots.read(slot, byteLength);
    this.note('ack', { slot });
    return bytes;
  }

  #onAnswer(id: number, content: unknown): void {
    this.#line?.answered(id, this.#lastByteMs);
    const call = this.#pending.take(id);
    if (call) call.resolve(content);
    else this.#onLateAnswer(id);
  }

  #onErrorAnswer(id: number, error: unknown): void {
    this.#line?.answered(id, this.#lastByteMs);
    const call = this.#pending.take(id);
    if (call) call.reject(fromWireError(error, call.method));
    else this.#onLateAnswer(id);
  }

  #onLateAnswer(id: number): void {
    if (!this.#abandoned.delete(id))
      throw new StudioError('protocol_error', `an answer to call ${id}, which is not open`);
    this.#lateAnswers++;
  }

  /** A call of ours ended without its answer. */
  #giveUp(id: number): void {
    const waitingIndex = this.#waiting.findIndex((waiting) => waiting.id === id);
    if (waitingIndex >= 0) {
      this.#waiting.splice(waitingIndex, 1);
      this.#line?.withdrawn(id, this.#clock.monotonic());
      return;
    }
    this.#abandoned.add(id);
    this.#writer.write(`{"t":"cancel","id":${id}}`, []);
  }

  #onCall(header: Readonly<Record<string, unknown>>, params: unknown): void {
    const id = idOf(header);
    const method = textOf(header, 'm');
    const onBehalfOf = header['c'] === undefined ? undefined : idOf(header, 'c');
    const parent = onBehalfOf === undefined ? undefined : this.#pending.get(onBehalfOf);
    if (onBehalfOf !== undefined && !parent) {
      return this.#answerError(
        id,
        new StudioError('conflict', `${method} was called on behalf of call ${onBehalfOf}, which is over`),
      );
    }
    if (this.#incoming.has(id)) throw new StudioError('protocol_error', `call ${id} is open already`);
    this.#handle(method, params, new OpenIncomingCall(id, onBehalfOf, parent?.context));
  }

  #handle(method: string, params: unknown, call: OpenIncomingCall): void {
    let result: unknown;
    try {
      result = this.#handler(method, params, call);
    } catch (error) {
      return this.#answerError(call.callId, error);
    }
    if (!isThenable(result)) return this.#answer(call.callId, result);
    this.#incoming.set(call.callId, call);
    result.then(
      (value) => this.#incoming.delete(call.callId) && this.#answer(call.callId, value),
      (error: unknown) => this.#incoming.delete(call.callId) && this.#answerError(call.callId, error),
    );
  }

  #answer(id: number, result: unknown): void {
    if (this.#endReason) return;
    try {
      const segments: Uint8Array[] = [];
      const value = JSON.stringify(encodeValue(result, segments));
      this.#writer.write(`{"t":"ok","id":${id},"r":${value}}`, segments);
    } catch (error) {
      this.#answerError(id, error);
    }
  }

  #answerError(id: number, thrown: unknown): void {
    if (this.#endReason) return;
    this.#writer.write(`{"t":"err","id":${id},"e":${JSON.stringify(toWireError(thrown))}}`, []);
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0 && this.#socket.writableLength < highWaterBytes)
      this.#waiting.shift()?.send();
  }
}

class OpenIncomingCall implements IncomingCall {
  readonly callId: number;
  readonly onBehalfOf: number | undefined;
  readonly context: unknown;
  #controller: AbortController | undefined;

  constructor(callId: number, onBehalfOf: number | undefined, context: unknown) {
    this.callId = callId;
    this.onBehalfOf = onBehalfOf;
    this.context = context;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(reason: StudioError): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function refuseCalls(method: string): never {
  throw new StudioError('unsupported', `${method} is not served here`);
}

function closedError(message: string, cause?: unknown): StudioError {
  return new StudioError('connection_closed', message, { cause });
}
