import { describe, expect, it } from 'vitest';
import { SuspendWatch } from './suspend-watch.ts';
import { createSleepyClock } from './testing/sleepy-clock.ts';

describe('suspend watch', () => {
  it('fires a deadline once, when it is due', async () => {
    const { outside: fake, clock } = createSleepyClock();
    using watch = new SuspendWatch(clock);
    const fired: number[] = [];
    watch.deadline(1300, () => fired.push(clock.monotonic()));
    await fake.advance(10_000);
    expect(fired).toEqual([1300]);
  });

  it('moves a deadline by the time the machine slept, whichever timer fires first', async () => {
    for (const delayMs of [3000, 5000]) {
      const { outside: fake, clock, sleepFor } = createSleepyClock();
      using watch = new SuspendWatch(clock);
      const fired: number[] = [];
      watch.deadline(delayMs, () => fired.push(fake.monotonic()));
      await fake.advance(1040);
      sleepFor(60_000);
      await fake.advance(20_000);
      // A part of the interval between two ticks cannot be told from the sleep.
      expect(fired[0]).toBeGreaterThanOrEqual(delayMs - 500);
      expect(fired[0]).toBeLessThanOrEqual(delayMs + 500);
      expect(fired).toHaveLength(1);
      expect(watch.suspendedMs).toBeGreaterThan(59_000);
    }
  });

  it('does not take a late tick for a sleep', async () => {
    const { outside: fake, clock, sleepFor } = createSleepyClock();
    using watch = new SuspendWatch(clock);
    const fired: number[] = [];
    watch.deadline(3000, () => fired.push(clock.monotonic()));
    await fake.advance(600);
    sleepFor(1900);
    await fake.advance(5000);
    expect(watch.suspendedMs).toBe(0);
    expect(fired).toEqual([3000]);
  });

  it('measures a deadline set right after waking from now', async () => {
    const { outside: fake, clock, sleepFor } = createSleepyClock();
    using watch = new SuspendWatch(clock);
    await fake.advance(600);
    sleepFor(60_000);
    const fired: number[] = [];
    const setAtMs = clock.monotonic();
    watch.deadline(2000, () => fired.push(clock.monotonic() - setAtMs));
    await fake.advance(10_000);
    expect(fired).toEqual([2000]);
  });

  it('forgets a deadline that was disposed, and starts one anew that was rearmed', async () => {
    const { outside: fake, clock } = createSleepyClock();
    using watch = new SuspendWatch(clock);
    const fired: string[] = [];
    watch.deadline(1000, () => fired.push('disposed'))[Symbol.dispose]();
    const rearmed = watch.deadline(1000, () => fired.push(`rearmed ${clock.monotonic()}`));
    await fake.advance(900);
    rearmed.rearm(1000);
    await fake.advance(5000);
    expect(fired).toEqual(['rearmed 1900']);
  });

  it('leaves no timer behind', async () => {
    const { outside: fake, clock } = createSleepyClock();
    const watch = new SuspendWatch(clock);
    watch.deadline(1000, () => undefined);
    await fake.advance(600);
    watch[Symbol.dispose]();
    expect(fake.pendingTimers).toBe(0);
  });
});
