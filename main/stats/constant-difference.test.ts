import { describe, expect, it } from 'vitest';
import { constantDifferenceInterval } from './constant-difference.ts';

const times = (count: number, value: number): number[] => Array.from({ length: count }, () => value);

describe('paired differences that are all the same', () => {
  it('of rates have a score interval that narrows with the number of pairs', () => {
    // Wilson of 0 of 30: [0, 0.11351]; z² / (30 + z²) = 0.113516, and 1 - sqrt(2) x 0.113516 = 0.83946.
    expect(constantDifferenceInterval(times(30, 1))).toMatchObject({ method: 'newcombe', high: 1 });
    const [few, many] = [10, 1000].map((count) => constantDifferenceInterval(times(count, 1)));
    const lowOf = (found: typeof few): number => (found?.method === 'newcombe' ? found.low : Number.NaN);
    expect(lowOf(constantDifferenceInterval(times(30, 1)))).toBeCloseTo(0.83946, 4);
    expect(lowOf(few)).toBeCloseTo(0.60751, 4);
    expect(lowOf(many)).toBeGreaterThan(0.994);
  });

  it('are the same in both directions', () => {
    const [up, down] = [1, -1].map((value) => constantDifferenceInterval(times(7, value)));
    if (up?.method !== 'newcombe' || down?.method !== 'newcombe') throw new Error('no interval');
    expect([down.low, down.high]).toEqual([-up.high, -up.low]);
  });

  it('of other values have none, and those that vary or are 0 are not its business', () => {
    expect(constantDifferenceInterval(times(5, 0.25))).toEqual({ method: 'none' });
    expect(constantDifferenceInterval(times(5, 0))).toBeUndefined();
    expect(constantDifferenceInterval([1, 1, 0])).toBeUndefined();
    expect(constantDifferenceInterval([])).toBeUndefined();
  });
});
