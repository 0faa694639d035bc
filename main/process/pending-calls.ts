// Hot path (frame.bench.ts). Calls that wait for an answer, with one timer for all their deadlines and one listener per abort signal:
// a timer and a listener per call would cost more than the call.
import type { Clock } from '../base/clock.ts';
import { abortedError } from '../base/abort.ts';
import { StudioError } from '../base/errors.ts';

export interface PendingCall {
  readonly method: string;
  readonly timeoutMs: number;
  /** Monotonic; moved on when the machine slept. */
  dueMs: number;
  readonly signal: AbortSignal | undefined;
  readonly context: unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: StudioError) => void;
}

/** Knows from when the time of a call runs, where calls wait for their turn. */
export interface TurnKeeper {
  dueMs(id: number, nowMs: number): number | undefined;
  postpone(byMs: number): void;
}

/** The timer never sleeps longer, so that a suspended machine or a blocked engine is noticed. */
const longestTickMs = 5_000;
/** A tick that comes this much too late means nobody could have been answered meanwhile. */
const noticedGapMs = 2_000;
const mostIdleSignals = 4;

export class PendingCalls {
  readonly #clock: Clock;
  readonly #onGivenUp: (id: number) => void;
  readonly #turns: TurnKeeper | undefined;
  readonly #byId = new Map<number, PendingCall>();
  readonly #signals = new Map<AbortSignal, () => void>();
  #timer: Disposable | undefined;
  #tickDueMs = Infinity;

  /** `onGivenUp` is called for each call that ends by its deadline or its signal, just before it rejects. */
  constructor(clock: Clock, onGivenUp: (id: number) => void, turns?: TurnKeeper) {
    this.#clock = clock;
    this.#turns = turns;
    this.#onGivenUp = onGivenUp;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: number): PendingCall | undefined {
    return this.#byId.get(id);
  }

  add(id: number, call: PendingCall): void {
    this.#byId.set(id, call);
    if (call.dueMs < this.#tickDueMs) this.#arm(call.dueMs);
    if (call.signal && !this.#signals.has(call.signal)) this.#watch(call.signal);
  }

  take(id: number): PendingCall | undefined {
    const call = this.#byId.get(id);
    if (call) this.#byId.delete(id);
    return call;
  }

  /** The connection is gone: every call rejects now. */
  rejectAll(reason: StudioError): void {
    this.#timer?.[Symbol.dispose]();
    this.#tickDueMs = Infinity;
    for (const [signal, listener] of this.#signals) signal.removeEventListener('abort', listener);
    this.#signals.clear();
    const calls = [...this.#byId.values()];
    this.#byId.clear();
    for (const call of calls) call.reject(reason);
  }

  #arm(dueMs: number): void {
    this.#timer?.[Symbol.dispose]();
    const nowMs = this.#clock.monotonic();
    const delayMs = Math.min(Math.max(0, dueMs - nowMs), longestTickMs);
    this.#tickDueMs = nowMs + delayMs;
    this.#timer = this.#clock.after(delayMs, () => this.#tick());
  }

  #tick(): void {
    const nowMs = this.#clock.monotonic();
    const lateMs = nowMs - this.#tickDueMs;
    this.#timer = undefined;
    this.#tickDueMs = Infinity;
    let nextDueMs = Infinity;
    if (lateMs > noticedGapMs) this.#turns?.postpone(lateMs);
    for (const [id, call] of this.#byId) {
      if (lateMs > noticedGapMs) call.dueMs += lateMs;
      if (call.dueMs <= nowMs) call.dueMs = this.#turns?.dueMs(id, nowMs) ?? call.dueMs;
      if (call.dueMs <= nowMs) this.#giveUp(id, call, timeoutOf(call));
      else if (call.dueMs < nextDueMs) nextDueMs = call.dueMs;
    }
    if (nextDueMs < Infinity) this.#arm(nextDueMs);
  }

  #giveUp(id: number, call: PendingCall, reason: StudioError): void {
    this.#byId.delete(id);
    this.#onGivenUp(id);
    call.reject(reason);
  }

  #watch(signal: AbortSignal): void {
    if (this.#signals.size >= mostIdleSignals) this.#forgetIdleSignals();
    const listener = (): void => {
      this.#signals.delete(signal);
      for (const [id, call] of this.#byId) {
        if (call.signal === signal) this.#giveUp(id, call, abortedError(signal));
      }
    };
    this.#signals.set(signal, listener);
    signal.addEventListener('abort', listener, { once: true });
  }

  #forgetIdleSignals(): void {
    const used = new Set<AbortSignal | undefined>();
    for (const call of this.#byId.values()) used.add(call.signal);
    for (const [signal, listener] of this.#signals) {
      if (used.has(signal)) continue;
      signal.removeEventListener('abort', listener);
      this.#signals.delete(signal);
    }
  }
}

function timeoutOf(call: PendingCall): StudioError {
  return new StudioError('timeout', `no answer to ${call.method} within ${call.timeoutMs / 1000} s`, {
    details: { method: call.method, timeoutMs: call.timeoutMs },
  });
}
