// Calls at once per key: first come, first served. A key that was told to wait hands out nothing until then, so that
// seven other callers do not ask what the first one was just refused.
import { abortedError } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';

interface Waiter {
  readonly start: () => void;
}

export class KeyLimiter {
  readonly #clock: Clock;
  readonly #waiting: Waiter[] = [];
  #limit: number;
  #active = 0;
  #heldUntilMs = 0;
  #timer: Disposable | null = null;

  constructor(clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
  }

  get active(): number {
    return this.#active;
  }

  /** Settings may change it while calls go on. */
  set limit(limit: number) {
    this.#limit = limit;
    this.#next();
  }

  /** A slot, given back by disposing it. Rejects with `aborted`; then nothing is held. */
  acquire(signal: AbortSignal): Promise<Disposable> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(abortedError(signal));
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(abortedError(signal));
      };
      const waiter: Waiter = {
        start: () => {
          signal.removeEventListener('abort', onAbort);
          resolve(this.#slot());
        },
      };
      this.#waiting.push(waiter);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#next();
    });
  }

  /** Nothing new for so long. */
  hold(delayMs: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, this.#clock.monotonic() + delayMs);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  #slot(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#active--;
        this.#next();
      },
    };
  }

  #next(): void {
    const restMs = this.#heldUntilMs - this.#clock.monotonic();
    if (restMs > 0) {
      if (this.#waiting.length > 0) this.#wakeAfter(restMs);
      return;
    }
    while (this.#active < this.#limit) {
      const waiter = this.#waiting.shift();
      if (!waiter) return;
      this.#active++;
      waiter.start();
    }
  }

  #wakeAfter(delayMs: number): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#clock.after(delayMs, () => this.#next());
  }
}
