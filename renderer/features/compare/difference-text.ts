// How a difference between two runs reads: signed, in the metric's unit, better or worse by the metric's direction. Pure.
import type { MetricDefinition } from '#contract/nodeset.ts';
import { decimalsOf, decimalsOfInterval, formatDecimal } from '../../ui/format.ts';

export type Tone = 'better' | 'worse' | 'changed' | 'equal';

type Direction = Pick<MetricDefinition, 'higherIsBetter'>;

/** `changed`: it differs, and nobody said which way is better. */
export function toneOf(difference: number | null, { higherIsBetter }: Direction): Tone {
  if (difference === null || difference === 0) return 'equal';
  if (higherIsBetter === null) return 'changed';
  return difference > 0 === higherIsBetter ? 'better' : 'worse';
}

/** Rates are shown in per cent, their differences in percentage points. */
export const scaleOf = (metric: Pick<MetricDefinition, 'kind'>): number => (metric.kind === 'rate' ? 100 : 1);
export const unitOf = (metric: Pick<MetricDefinition, 'kind' | 'unit'>): string =>
  metric.kind === 'rate' ? '%' : metric.unit;
export const differenceUnitOf = (metric: Pick<MetricDefinition, 'kind' | 'unit'>): string =>
  metric.kind === 'rate' ? 'points' : metric.unit;

export interface DifferenceParts {
  readonly difference: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

export interface DifferenceText {
  readonly value: string;
  /** Empty without an interval. */
  readonly interval: string;
}

export function formatDifference(
  parts: DifferenceParts,
  metric: Pick<MetricDefinition, 'kind'>,
): DifferenceText {
  if (parts.difference === null) return { value: '–', interval: '' };
  const scale = scaleOf(metric);
  const value = parts.difference * scale;
  if (parts.low === null || parts.high === null)
    return { value: signed(value, decimalsIn(value, metric)), interval: '' };
  const [low, high] = [parts.low * scale, parts.high * scale];
  const decimals =
    high > low ? decimalsIn(decimalsOfInterval(low, high), metric, true) : decimalsIn(value, metric);
  return {
    value: signed(value, decimals),
    interval: `${signed(low, decimals)} to ${signed(high, decimals)}`,
  };
}

/** Rates have one, like the means beside them: 37.5 and 0.0 differ by 37.5. */
function decimalsIn(value: number, { kind }: Pick<MetricDefinition, 'kind'>, isCount = false): number {
  if (kind === 'rate') return 1;
  return isCount ? value : decimalsOf(value);
}

/** A real sign also on gains; what rounds to zero has none. */
export function signed(value: number, decimals: number): string {
  const text = formatDecimal(Math.abs(value), decimals);
  if (Number.isNaN(value) || Number(value.toFixed(decimals)) === 0) return text;
  return `${value > 0 ? '+' : '−'}${text}`;
}

/** A mean of one side with as many decimals as the difference deserves. */
export function formatMean(mean: number | null, metric: Pick<MetricDefinition, 'kind'>): string {
  if (mean === null) return '–';
  const scaled = mean * scaleOf(metric);
  return formatDecimal(
    scaled,
    metric.kind === 'rate' ? 1 : decimalsOf(scaled) || (Number.isInteger(scaled) ? 0 : 2),
  );
}
