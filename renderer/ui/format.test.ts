// Numbers as people read them.
import { describe, expect, it } from 'vitest';
import type { Estimate } from '#contract/run.ts';
import {
  decimalsOfInterval,
  formatBytes,
  formatDate,
  formatDuration,
  formatEstimate,
  formatMetricValue,
  formatRate,
  formatRemaining,
  formatShare,
  formatShortDate,
} from './format.ts';

const plain = (text: string): string => text.replaceAll('\u202f', ' ');
const estimate = (change: Partial<Estimate>): Estimate => ({
  n: 1839,
  mean: 0.7312,
  low: 0.7104,
  high: 0.7509,
  method: 'wilson',
  median: null,
  sd: null,
  nonFinite: 0,
  ...change,
});
const rate = { name: 'success', unit: '', kind: 'rate', higherIsBetter: true, worst: 0 } as const;
const distance = {
  name: 'distance_to_goal',
  unit: 'm',
  kind: 'mean',
  higherIsBetter: false,
  worst: null,
} as const;

describe('format', () => {
  it('shows rates in per cent with their interval and n', () => {
    expect(formatEstimate(estimate({}), rate)).toEqual({
      value: '73.1',
      interval: '71.0 – 75.1',
      unit: '%',
      n: '1,839',
    });
  });

  it('shows no more digits than the interval supports', () => {
    const text = formatEstimate(estimate({ mean: 5.43217, low: 4.1, high: 6.9 }), distance);
    expect(text).toMatchObject({ value: '5.4', interval: '4.1 – 6.9', unit: 'm' });
    expect(decimalsOfInterval(0.7312, 0.7318)).toBe(3);
    expect(decimalsOfInterval(120, 260)).toBe(0);
  });

  it('tells not measured, not finite and zero apart', () => {
    expect(formatMetricValue(null)).toEqual({ text: '–', kind: 'not_measured' });
    expect(formatMetricValue('nan')).toEqual({ text: 'NaN', kind: 'non_finite' });
    expect(formatMetricValue('-inf')).toEqual({ text: '−∞', kind: 'non_finite' });
    expect(formatMetricValue(0)).toEqual({ text: '0', kind: 'value' });
    expect([1, 0.5, 13.75].map((value) => formatMetricValue(value, distance).text)).toEqual([
      '1.00',
      '0.50',
      '13.75',
    ]);
    expect([1, 0].map((value) => formatMetricValue(value, rate).text)).toEqual(['1', '0']);
    expect(formatEstimate(estimate({ mean: null, low: null, high: null, n: 0 }), rate).value).toBe('–');
  });

  it('writes durations in the unit that fits', () => {
    expect([350, 12_340, 59_960, 245_000, 7_620_000].map((ms) => plain(formatDuration(ms)))).toEqual([
      '350 ms',
      '12.3 s',
      '1 min 00 s',
      '4 min 05 s',
      '2 h 07 min',
    ]);
  });

  it('writes the remaining time as a range and never promises the end', () => {
    expect(plain(formatRemaining({ low: 360_000, high: 480_000 }))).toBe('6–8 min');
    expect(plain(formatRemaining({ low: 30_000, high: 30_100 }))).toBe('30 s');
    expect(plain(formatShare(1838, 1839))).toBe('99 %');
    expect(plain(formatShare(1839, 1839))).toBe('100 %');
    expect(plain(formatShare(0, 0))).toBe('0 %');
  });

  it('writes rates, sizes and dates', () => {
    expect([2.5, 0.05, 0.001].map(formatRate)).toEqual([
      '2.5 episodes/s',
      '3.0 episodes/min',
      '3.6 episodes/h',
    ]);
    expect([formatRate(null), formatRate(0)]).toEqual(['–', '–']);
    expect(plain(formatBytes(5 * 1024 ** 3))).toBe('5.0 GiB');
    expect(formatDate('not a date')).toBe('–');
    expect(formatDate('2026-11-30T14:05:00')).toBe('2026-11-30 14:05');
    expect(formatShortDate('2026-11-30T14:05:00', new Date('2026-12-24T00:00:00'))).toBe('30 Nov 14:05');
    expect(formatShortDate('2026-11-30T14:05:00', new Date('2027-01-01T12:00:00'))).toBe('2026-11-30');
  });
});
