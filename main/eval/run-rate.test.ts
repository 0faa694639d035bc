import { describe, expect, it } from 'vitest';
import { runRate } from './run-rate.ts';

describe('rate of a run', () => {
  it('is not known before the first episode', () => {
    expect(
      runRate({ finished: 0, remaining: 10, elapsedMs: 5000, workers: 2, recentDurationsMs: [] }),
    ).toEqual({ episodesPerSecond: null, remainingMs: null });
  });

  it('spans a range that narrows with the number of episodes', () => {
    const durations = (count: number): number[] =>
      Array.from({ length: count }, (_item, index) => 1000 + (index % 2) * 400);
    const few = runRate({
      finished: 4,
      remaining: 100,
      elapsedMs: 4000,
      workers: 1,
      recentDurationsMs: durations(4),
    });
    const many = runRate({
      finished: 64,
      remaining: 100,
      elapsedMs: 64_000,
      workers: 1,
      recentDurationsMs: durations(64),
    });
    expect([few.episodesPerSecond, many.episodesPerSecond]).toEqual([1, 1]);
    const width = ({ remainingMs }: typeof few): number =>
      remainingMs ? remainingMs.high - remainingMs.low : Number.NaN;
    expect(width(many)).toBeLessThan(width(few) / 3);
    expect(many.remainingMs?.low).toBeLessThan(100_000);
    expect(many.remainingMs?.high).toBeGreaterThan(100_000);
  });

  it('is nothing once nothing remains', () => {
    expect(
      runRate({ finished: 5, remaining: 0, elapsedMs: 5000, workers: 1, recentDurationsMs: [1000] })
        .remainingMs,
    ).toEqual({ low: 0, high: 0 });
  });
});
