// A clock that moves only when told to. Timers fire in order of due time, then of creation.
import type { Clock } from './clock.ts';

interface Timer {
  readonly dueMs: number;
  readonly sequence: number;
  readonly fire: () => void;
}

export interface FakeClock extends Clock {
  /** Moves time on, firing what falls due, and lets promise reactions run between firings. */
  advance(byMs: number): Promise<void>;
  /** Moves to the next timer; false when there is none. */
  advanceToNext(): Promise<boolean>;
  readonly pendingTimers: number;
}

export function createFakeClock(startMs = 1_700_000_000_000): FakeClock {
  let elapsedMs = 0;
  let sequence = 0;
  const timers = new Set<Timer>();
  const next = (): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (
        !first ||
        timer.dueMs < first.dueMs ||
        (timer.dueMs === first.dueMs && timer.sequence < first.sequence)
      )
        first = timer;
    }
    return first;
  };
  const fire = async (timer: Timer): Promise<void> => {
    timers.delete(timer);
    elapsedMs = Math.max(elapsedMs, timer.dueMs);
    timer.fire();
    await settleMicrotasks();
  };
  return {
    now: () => startMs + elapsedMs,
    monotonic: () => elapsedMs,
    after(delayMs, callback) {
      const timer = { dueMs: elapsedMs + Math.max(0, delayMs), sequence: sequence++, fire: callback };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    async advance(byMs) {
      const untilMs = elapsedMs + byMs;
      await settleMicrotasks();
      for (let timer = next(); timer && timer.dueMs <= untilMs; timer = next()) await fire(timer);
      elapsedMs = untilMs;
    },
    async advanceToNext() {
      await settleMicrotasks();
      const timer = next();
      if (timer) await fire(timer);
      return timer !== undefined;
    },
    get pendingTimers() {
      return timers.size;
    },
  };
}

/** Lets chained promise reactions run; 32 turns cover the longest await chain between two timers. */
async function settleMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 32; turn++) await Promise.resolve();
}
