// Port calls and time as choices: a call stays open until it is chosen to be answered, and time moves only to the next
// timer when that is chosen.
import type { Clock } from '../../../base/clock.ts';
import type { Choice } from './explore.ts';

interface OpenCall {
  readonly label: string;
  readonly answers: readonly Answer[];
}

export interface Answer {
  readonly name: string;
  readonly act: () => void;
  /** False: not now. */
  readonly isPossible?: () => boolean;
}

export class OpenCalls {
  readonly #calls = new Set<OpenCall>();

  open(label: string, answers: readonly Answer[]): Disposable {
    const call: OpenCall = { label, answers };
    this.#calls.add(call);
    return { [Symbol.dispose]: () => void this.#calls.delete(call) };
  }

  /** A call that is answered with nothing, or fails. */
  call<T>(
    label: string,
    answer: () => T,
    failure?: { readonly error: Error; readonly isPossible: () => boolean; readonly used: () => void },
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = this.open(label, [
        { name: '', act: () => (done[Symbol.dispose](), resolve(answer())) },
        ...(failure
          ? [
              {
                name: ' fails',
                isPossible: failure.isPossible,
                act: () => (done[Symbol.dispose](), failure.used(), reject(failure.error)),
              },
            ]
          : []),
      ]);
    });
  }

  choices(): Choice[] {
    return [...this.#calls]
      .flatMap(({ label, answers }) =>
        answers
          .filter(({ isPossible }) => isPossible?.() ?? true)
          .map(({ name, act }) => ({ label: label + name, take: act })),
      )
      .sort((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
  }

  labels(): string {
    return [...this.#calls]
      .map(({ label }) => label)
      .sort()
      .join(',');
  }
}

interface Timer {
  readonly dueMs: number;
  readonly sequence: number;
  readonly isTicker: boolean;
  readonly fire: () => void;
}

export class ChoiceClock implements Clock {
  #nowMs = 0;
  #sequence = 0;
  readonly #timers = new Set<Timer>();
  readonly #tickMs: number | null;
  /** The next timer of `tickMs` is the ticker's: the first one, and those it sets itself. */
  #isTickerDue = true;

  /** The ticker of `tickMs` fires whenever time passes over it and is no choice of its own. */
  constructor(tickMs: number | null = null) {
    this.#tickMs = tickMs;
  }

  now(): number {
    return 1e12 + this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  after(delayMs: number, fire: () => void): Disposable {
    const timer: Timer = {
      dueMs: this.#nowMs + Math.max(0, delayMs),
      sequence: this.#sequence++,
      isTicker: this.#isTickerDue && delayMs === this.#tickMs,
      fire,
    };
    if (timer.isTicker) this.#isTickerDue = false;
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  get pending(): number {
    return [...this.#timers].filter(({ isTicker }) => !isTicker).length;
  }

  choices(): Choice[] {
    const next = this.#next(false);
    return next ? [{ label: 'time passes', take: () => this.#passTo(next) }] : [];
  }

  /** How long from now each timer is due. */
  fingerprint(): string {
    return [...this.#timers]
      .filter(({ isTicker }) => !isTicker)
      .map(({ dueMs }) => dueMs - this.#nowMs)
      .sort((a, b) => a - b)
      .join(',');
  }

  #passTo(timer: Timer): void {
    for (let tick = this.#next(true); tick && tick.dueMs <= timer.dueMs; tick = this.#next(true))
      this.#fire(tick);
    this.#fire(timer);
  }

  #fire(timer: Timer): void {
    if (!this.#timers.delete(timer)) return;
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
    if (timer.isTicker) this.#isTickerDue = true;
    timer.fire();
  }

  #next(isTicker: boolean): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.isTicker !== isTicker) continue;
      if (
        !first ||
        timer.dueMs < first.dueMs ||
        (timer.dueMs === first.dueMs && timer.sequence < first.sequence)
      )
        first = timer;
    }
    return first;
  }
}
