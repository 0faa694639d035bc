// What the charts draw, from rows: at most 800 points whatever the run's size. Pure.
import type { EpisodeRow } from '#contract/run.ts';
import { metricNumber } from '../../store/row-columns.ts';

export const greatestPoints = 800;

export interface SeriesPoint {
  /** Number of finished episodes so far, in plan order. */
  readonly at: number;
  /** Mean of the episodes this point stands for. */
  readonly value: number;
  /** Mean of all episodes up to here. */
  readonly runningMean: number;
}

const isFinished = (row: EpisodeRow): boolean => row.status !== 'pending' && row.status !== 'running';

/** A metric over finished episodes in plan order: the same whatever the number of workers. */
export function metricSeries(rows: Iterable<EpisodeRow>, metric: string): SeriesPoint[] {
  const values: number[] = [];
  for (const row of rows) {
    if (!isFinished(row)) continue;
    const value = metricNumber(row.metrics[metric]);
    if (value !== null && Number.isFinite(value)) values.push(value);
  }
  const stride = Math.max(1, Math.ceil(values.length / greatestPoints));
  const points: SeriesPoint[] = [];
  let sum = 0;
  let part = 0;
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? 0;
    sum += value;
    part += value;
    const size = at % stride === stride - 1 || at === values.length - 1 ? (at % stride) + 1 : 0;
    if (size === 0) continue;
    points.push({ at: at + 1, value: part / size, runningMean: sum / (at + 1) });
    part = 0;
  }
  return points;
}

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Equal bins; whole numbers with few distinct values get one bin each (from = to). */
export function histogram(values: readonly number[], greatestBins = 24): Bin[] {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [];
  let [least, greatest] = [Infinity, -Infinity];
  for (const value of finite) {
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }
  if (finite.every(Number.isInteger) && greatest - least < greatestBins) {
    const counts = Array.from({ length: greatest - least + 1 }, () => 0);
    for (const value of finite) counts[value - least] = (counts[value - least] ?? 0) + 1;
    return counts.map((count, at) => ({ from: least + at, to: least + at, count }));
  }
  const bins = Math.min(greatestBins, Math.max(4, Math.ceil(Math.sqrt(finite.length))));
  const width = (greatest - least) / bins || 1;
  const counts = Array.from({ length: bins }, () => 0);
  for (const value of finite) {
    const bin = Math.min(bins - 1, Math.floor((value - least) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts.map((count, at) => ({ from: least + at * width, to: least + (at + 1) * width, count }));
}

export function metricValues(rows: Iterable<EpisodeRow>, metric: string): number[] {
  const values: number[] = [];
  for (const row of rows) {
    const value = isFinished(row) ? metricNumber(row.metrics[metric]) : null;
    if (value !== null) values.push(value);
  }
  return values;
}

export function stepValues(rows: Iterable<EpisodeRow>): number[] {
  const values: number[] = [];
  for (const row of rows) if (isFinished(row) && row.steps !== null) values.push(row.steps);
  return values;
}
