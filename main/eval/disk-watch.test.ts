import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../base/fake-clock.ts';
import { silentLogger } from '../base/logger.ts';
import { lowSpaceReason, watchDisk } from './disk-watch.ts';

describe('disk watch', () => {
  it('says once that space is low, with what is free and what is needed', async () => {
    const clock = createFakeClock();
    let freeBytes = 900e6;
    const reasons: string[] = [];
    using _watch = watchDisk({
      clock,
      logger: silentLogger,
      freeBytes: () => Promise.resolve(freeBytes),
      pauseBelowBytes: 500e6,
      onLow: (reason) => reasons.push(reason),
    });
    await clock.advance(60_000);
    expect(reasons).toEqual([]);
    freeBytes = 499e6;
    await clock.advance(60_000);
    expect(reasons).toEqual([
      "only 499 MB are free on the workspace's disk (limit 500 MB); free some space, then resume",
    ]);
  });

  it('goes on looking when free space could not be read, and stops when disposed', async () => {
    const clock = createFakeClock();
    let asked = 0;
    const watch = watchDisk({
      clock,
      logger: silentLogger,
      freeBytes: () => Promise.reject(new Error(`no ${++asked}`)),
      pauseBelowBytes: 1,
      onLow: () => undefined,
    });
    await clock.advance(35_000);
    expect(asked).toBe(3);
    watch[Symbol.dispose]();
    await clock.advance(60_000);
    expect([asked, clock.pendingTimers]).toEqual([3, 0]);
  });

  it('the limit itself is enough', () => {
    expect(lowSpaceReason(500, 500)).toBeNull();
    expect(lowSpaceReason(499, 500)).not.toBeNull();
  });
});
