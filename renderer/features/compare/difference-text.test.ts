// Differences carry their sign, their unit and the direction of better.
import { describe, expect, it } from 'vitest';
import { differenceUnitOf, formatDifference, formatMean, signed, toneOf } from './difference-text.ts';

describe('differences', () => {
  it('are better or worse only by the metric’s direction', () => {
    expect(toneOf(0.1, { higherIsBetter: true })).toBe('better');
    expect(toneOf(0.1, { higherIsBetter: false })).toBe('worse');
    expect(toneOf(-0.1, { higherIsBetter: false })).toBe('better');
    expect(toneOf(-0.1, { higherIsBetter: null })).toBe('changed');
    expect(toneOf(0, { higherIsBetter: true })).toBe('equal');
    expect(toneOf(null, { higherIsBetter: true })).toBe('equal');
  });

  it('of rates are points with one decimal at most', () => {
    const rate = { kind: 'rate', unit: '' } as const;
    expect(formatDifference({ difference: 0.1234, low: 0.05, high: 0.2 }, rate)).toEqual({
      value: '+12.3',
      interval: '+5.0 to +20.0',
    });
    expect(differenceUnitOf(rate)).toBe('points');
    expect(formatMean(0.5, rate)).toBe('50.0');
  });

  it('have as many decimals as the interval allows', () => {
    const metres = { kind: 'mean', unit: 'm' } as const;
    expect(formatDifference({ difference: -1.23456, low: -2.5, high: 0.1 }, metres)).toEqual({
      value: '−1.2',
      interval: '−2.5 to +0.1',
    });
    expect(formatDifference({ difference: null, low: null, high: null }, metres).value).toBe('–');
    expect(formatDifference({ difference: 2, low: null, high: null }, metres)).toEqual({
      value: '+2',
      interval: '',
    });
  });

  it('give no sign to what rounds to nothing', () => {
    expect(signed(-0.001, 1)).toBe('0.0');
    expect(signed(3, 0)).toBe('+3');
    expect(signed(Number.NEGATIVE_INFINITY, 1)).toBe('−∞');
  });
});
