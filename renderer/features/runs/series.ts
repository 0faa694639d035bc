// What the charts draw, from rows: at most 800 points whatever the run's size. Pure.
import type { EpisodeRow } from '#contract/run.ts';
import { metricNumber } from '../../store/row-columns.ts';

export const greatestPoints = 800;

export interface SeriesPoint {
  /** Number of finished episodes so far, in plan order. */
  readonly at: number;
  /** Mean of the last `windowOf(n)` episodes: shows drift that the running mean hides. */
  readonly movingMean: number;
  /** Mean of all episodes up to here. */
  readonly runningMean: number;
}

const isFinished = (row: EpisodeRow): boolean => row.status !== 'pending' && row.status !== 'running';

/** Episodes of the moving mean: a twentieth of them, at least 10. */
export const windowOf = (count: number): number => Math.max(10, Math.ceil(count / 20));

/** A metric over finished episodes in plan order: the same whatever the number of workers. */
export function metricSeries(rows: Iterable<EpisodeRow>, metric: string): SeriesPoint[] {
  const values = metricValues(rows, metric).filter(Number.isFinite);
  const stride = Math.max(1, Math.ceil(values.length / greatestPoints));
  const size = windowOf(values.length);
  const points: SeriesPoint[] = [];
  let sum = 0;
  let windowSum = 0;
  for (const [at, value] of values.entries()) {
    sum += value;
    windowSum += value - (at >= size ? (values[at - size] ?? 0) : 0);
    const isDrawn = at % stride === stride - 1 || at === values.length - 1;
    if (isDrawn)
      points.push({
        at: at + 1,
        movingMean: windowSum / Math.min(size, at + 1),
        runningMean: sum / (at + 1),
      });
  }
  return points;
}

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/**
 * Equal bins that begin at round numbers. Whole numbers get whole edges: few distinct ones a bin each (from = to),
 * many of them bins such as 0 to 49 and 50 to 99.
 */
export function histogram(values: readonly number[], greatestBins = 24): Bin[] {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return [];
  let [least, greatest] = [Infinity, -Infinity];
  for (const value of finite) {
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }
  const isWhole = finite.every(Number.isInteger);
  if (isWhole && greatest - least < greatestBins) {
    const counts = Array.from({ length: greatest - least + 1 }, () => 0);
    for (const value of finite) counts[value - least] = (counts[value - least] ?? 0) + 1;
    return counts.map((count, at) => ({ from: least + at, to: least + at, count }));
  }
  const wanted = Math.min(greatestBins, Math.max(4, Math.ceil(Math.sqrt(finite.length))));
  const nice = niceWidth((greatest - least) / wanted);
  const width = isWhole ? Math.ceil(nice) : nice;
  const start = Math.floor(least / width) * width;
  const counts = Array.from({ length: Math.floor((greatest - start) / width) + 1 }, () => 0);
  for (const value of finite) {
    const bin = Math.min(counts.length - 1, Math.floor((value - start) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const edge = (at: number): number => Number((start + at * width).toPrecision(12));
  // A bin of whole numbers ends at the last one it holds.
  const last = isWhole ? 1 : 0;
  return counts.map((count, at) => ({ from: edge(at), to: edge(at + 1) - last, count }));
}

/** The next of 1, 2, 5 times a power of ten, so that bins begin at round numbers. */
function niceWidth(width: number): number {
  if (!(width > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(width));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= width * (1 - 1e-9)) ?? 10;
  return factor * power;
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
