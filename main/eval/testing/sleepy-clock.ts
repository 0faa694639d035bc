// A fake clock whose machine can sleep: on waking, monotonic time has jumped and every timer that came due meanwhile
// fires at once, in order.
import type { FakeClock } from '../../base/fake-clock.ts';
import { createFakeClock } from '../../base/fake-clock.ts';

export interface SleepyClock {
  /** The sleeper's view of time. */
  readonly clock: FakeClock;
  /** Time outside, which does not jump. */
  readonly outside: FakeClock;
  readonly sleepFor: (sleptMs: number) => void;
}

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
  handle: Disposable;
}

export function createSleepyClock(): SleepyClock {
  const outside = createFakeClock();
  const timers = new Set<Timer>();
  let sleptMs = 0;
  const monotonic = (): number => outside.monotonic() + sleptMs;
  const arm = (timer: Timer): Disposable =>
    outside.after(Math.max(0, timer.dueMs - monotonic()), () => {
      timers.delete(timer);
      timer.fire();
    });
  return {
    outside,
    clock: {
      ...outside,
      monotonic,
      get pendingTimers() {
        return outside.pendingTimers;
      },
      after(delayMs, fire) {
        const timer: Timer = { dueMs: monotonic() + Math.max(0, delayMs), fire, handle: nothing };
        timer.handle = arm(timer);
        timers.add(timer);
        return {
          [Symbol.dispose]: () => {
            timer.handle[Symbol.dispose]();
            timers.delete(timer);
          },
        };
      },
    },
    sleepFor(forMs) {
      sleptMs += forMs;
      const waking = [...timers].sort((a, b) => a.dueMs - b.dueMs);
      for (const timer of waking) {
        timer.handle[Symbol.dispose]();
        timer.handle = arm(timer);
      }
    },
  };
}

const nothing: Disposable = { [Symbol.dispose]: () => undefined };
