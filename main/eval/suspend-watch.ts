// Deadlines that move when the machine was asleep (or the engine stopped): a ticker that comes much later than it
// was set shows the gap, and every deadline moves by it, whichever of the two timers fires first.
import type { Clock } from '../base/clock.ts';

const tickMs = 500;
/** A tick may be this late before the machine is taken to have slept. */
const toleratedLateMs = 2000;

export interface MovableDeadline extends Disposable {
  /** Starts anew, `delayMs` from now. */
  rearm(delayMs: number): void;
}

export interface SuspendWatch extends Disposable {
  deadline(delayMs: number, onDue: () => void): MovableDeadline;
  /** Called at every tick, twice a second. */
  onTick(listener: () => void): Disposable;
  /** Milliseconds noticed so far. */
  readonly suspendedMs: number;
}

interface Entry {
  dueMs: number;
  timer: Disposable;
}

export function createSuspendWatch(clock: Clock): SuspendWatch {
  const entries = new Set<Entry>();
  const listeners = new Set<() => void>();
  let lastTickMs = clock.monotonic();
  let suspendedMs = 0;
  /** Looks for a gap since the last tick and moves what is pending. */
  const look = (): void => {
    const lateMs = clock.monotonic() - lastTickMs - tickMs;
    if (lateMs <= toleratedLateMs) return;
    suspendedMs += lateMs;
    for (const entry of entries) entry.dueMs += lateMs;
    lastTickMs = clock.monotonic();
  };
  const tick = (): void => {
    look();
    lastTickMs = clock.monotonic();
    ticker = clock.after(tickMs, tick);
    for (const listener of listeners) listener();
  };
  let ticker = clock.after(tickMs, tick);
  return {
    deadline(delayMs, onDue) {
      look();
      const check = (): void => {
        look();
        const leftMs = entry.dueMs - clock.monotonic();
        if (leftMs > 0) {
          entry.timer = clock.after(leftMs, check);
          return;
        }
        entries.delete(entry);
        onDue();
      };
      const entry: Entry = { dueMs: clock.monotonic() + delayMs, timer: clock.after(delayMs, check) };
      entries.add(entry);
      return {
        rearm(nextMs) {
          look();
          entry.timer[Symbol.dispose]();
          entry.dueMs = clock.monotonic() + nextMs;
          entry.timer = clock.after(nextMs, check);
          entries.add(entry);
        },
        [Symbol.dispose]: () => {
          entry.timer[Symbol.dispose]();
          entries.delete(entry);
        },
      };
    },
    onTick(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    get suspendedMs() {
      return suspendedMs;
    },
    [Symbol.dispose]: () => {
      ticker[Symbol.dispose]();
      for (const entry of entries) entry.timer[Symbol.dispose]();
      entries.clear();
      listeners.clear();
    },
  };
}
