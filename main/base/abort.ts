// Waiting that can be aborted and has a deadline. Not for hot paths: those use one signal per episode and the
// deadline wheel of their connection.
import type { Clock } from './clock.ts';
import { StudioError } from './errors.ts';

/** Throws `aborted` when the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal);
}

export function abortedError(signal: AbortSignal): StudioError {
  const reason: unknown = signal.reason;
  if (reason instanceof StudioError) return reason;
  return new StudioError('aborted', 'stopped', { cause: reason });
}

export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedError(signal));
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      timer[Symbol.dispose]();
      reject(abortedError(signal as AbortSignal));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

export interface Deadline {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** What was waited for; the message reads "<what> took longer than <n> s". */
  readonly what: string;
}

/** The promise's outcome, or `timeout` after the deadline, or `aborted`. The work itself is not stopped. */
export function withDeadline<T>(work: Promise<T>, deadline: Deadline): Promise<T> {
  const { clock, timeoutMs, signal, what } = deadline;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedError(signal));
    const settle = (finish: () => void): void => {
      timer[Symbol.dispose]();
      signal?.removeEventListener('abort', onAbort);
      finish();
    };
    const timer = clock.after(timeoutMs, () =>
      settle(() => reject(new StudioError('timeout', `${what} took longer than ${timeoutMs / 1000} s`))),
    );
    const onAbort = (): void => settle(() => reject(abortedError(signal as AbortSignal)));
    signal?.addEventListener('abort', onAbort, { once: true });
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });
}
