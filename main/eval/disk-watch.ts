// Looks at the free space every ten seconds while a run goes on, and says so once when it falls under the limit.
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

const intervalMs = 10_000;

export interface DiskWatchOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly freeBytes: () => Promise<number>;
  readonly pauseBelowBytes: number;
  readonly onLow: (reason: string) => void;
}

export function watchDisk(options: DiskWatchOptions): Disposable {
  const { clock, logger, freeBytes, pauseBelowBytes, onLow } = options;
  let isDisposed = false;
  let timer: Disposable | undefined;
  const check = async (): Promise<void> => {
    try {
      const reason = lowSpaceReason(await freeBytes(), pauseBelowBytes);
      if (isDisposed) return;
      if (reason !== null) return onLow(reason);
    } catch (error) {
      logger.warn('free space could not be read', { error: messageOf(error) });
    }
    if (!isDisposed) timer = clock.after(intervalMs, () => void check());
  };
  timer = clock.after(intervalMs, () => void check());
  return {
    [Symbol.dispose]: () => {
      isDisposed = true;
      timer?.[Symbol.dispose]();
    },
  };
}

export function lowSpaceReason(freeBytes: number, limitBytes: number): string | null {
  if (freeBytes >= limitBytes) return null;
  const [free, limit] = [freeBytes, limitBytes].map((bytes) => Math.floor(bytes / 1e6));
  return `only ${free} MB are free on the workspace's disk (limit ${limit} MB); free some space, then resume`;
}
