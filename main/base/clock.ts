// Time as a port, so that the engine can be simulated. Wall time is for records, monotonic time for durations.

export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  /** Monotonic milliseconds; only differences mean something. */
  monotonic(): number;
  /** Calls `fire` once after `delayMs` (any size; delays beyond 2^31 ms re-arm). Dispose cancels. */
  after(delayMs: number, fire: () => void): Disposable;
}

const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, fire) {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (remainingMs: number): void => {
      timer =
        remainingMs > longestTimerMs
          ? setTimeout(() => arm(remainingMs - longestTimerMs), longestTimerMs)
          : setTimeout(fire, Math.max(0, remainingMs));
    };
    arm(delayMs);
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};
