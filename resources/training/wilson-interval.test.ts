// The interval is checked against what defines it, not against another copy of its formula.
import { describe, expect, it } from 'vitest';
import { wilsonInterval } from './wilson-interval.ts';

const z = 1.959963984540054;

describe('the Wilson interval', () => {
  it.each([
    [1, 10],
    [351, 400],
    [24, 400],
    [920, 1839],
  ])('of %i in %i ends where the rate lies 1.96 standard errors off', (successes, count) => {
    const rate = successes / count;
    const [low, high] = wilsonInterval(successes, count);
    for (const end of [low, high])
      expect(Math.abs(rate - end)).toBeCloseTo(z * Math.sqrt((end * (1 - end)) / count), 10);
    expect(low).toBeLessThan(rate);
    expect(high).toBeGreaterThan(rate);
  });

  it('stays within 0 and 1 and open on the other side when all or none succeed', () => {
    const [none, some] = wilsonInterval(0, 20);
    expect(none).toBeCloseTo(0, 12);
    expect(some).toBeCloseTo((z * z) / (20 + z * z), 12);
    const [most, all] = wilsonInterval(20, 20);
    expect(all).toBeCloseTo(1, 12);
    expect(most).toBeCloseTo(20 / (20 + z * z), 12);
  });
});
