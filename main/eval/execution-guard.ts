// The single execution mutex: canvas Play or one batch, never both. Whoever holds it has a lease; disposing the
// lease releases it, once, and never releases somebody else's.
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import type { GuardHolder } from './ports.ts';

export interface GuardLease extends Disposable {
  readonly holder: GuardHolder;
}

export interface ExecutionGuard {
  readonly holder: GuardHolder | null;
  /** Throws `guard_busy` with the holder in `details`. */
  acquire(request: Omit<GuardHolder, 'sinceMs'>): GuardLease;
  /** Called after every acquire and release with the holder of then. */
  onChange(listener: (holder: GuardHolder | null) => void): Disposable;
}

export function createExecutionGuard(clock: Clock): ExecutionGuard {
  let holder: GuardHolder | null = null;
  const listeners = new Set<(holder: GuardHolder | null) => void>();
  const change = (next: GuardHolder | null): void => {
    holder = next;
    for (const listener of listeners) listener(next);
  };
  return {
    get holder() {
      return holder;
    },
    acquire(request) {
      if (holder) throw busyError(holder);
      const mine: GuardHolder = { ...request, sinceMs: clock.now() };
      change(mine);
      return {
        holder: mine,
        [Symbol.dispose]: () => {
          if (holder === mine) change(null);
        },
      };
    },
    onChange(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

function busyError(holder: GuardHolder): StudioError {
  const what = holder.kind === 'eval' ? `Run ${holder.label}` : `Play of ${holder.label}`;
  const message = `${what} is executing. Wait for it, stop it, or add this run to the queue.`;
  return new StudioError('guard_busy', message, { details: { holder } });
}
