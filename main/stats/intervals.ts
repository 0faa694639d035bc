// 95 % intervals: Wilson for rates, Student's t for live means, seeded percentile bootstrap (plain or clustered by
// episode) for everything that is published. Pure; the bootstrap is a hot path.
import { meanOf, quantileOfSorted, sampleSd, type Numbers } from './describe.ts';
import { z95 } from './normal.ts';
import { createRandomBlocks } from './random-indexes.ts';
import { studentQuantile } from './student.ts';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export const bootstrapDraws = 10_000;

/** Wilson's score interval without continuity correction (Wilson 1927). `trials` > 0. */
export function wilsonInterval(successes: number, trials: number): Interval {
  const share = successes / trials;
  const zz = z95 * z95;
  const centre = (share + zz / (2 * trials)) / (1 + zz / trials);
  const half =
    (z95 / (1 + zz / trials)) * Math.sqrt((share * (1 - share)) / trials + zz / (4 * trials * trials));
  return {
    low: successes === 0 ? 0 : Math.max(0, centre - half),
    high: successes === trials ? 1 : Math.min(1, centre + half),
  };
}

/** Null for fewer than two values. */
export function meanTInterval(values: Numbers): (Interval & { standardError: number }) | null {
  const mean = meanOf(values);
  const sd = sampleSd(values);
  if (mean === null || sd === null) return null;
  const standardError = sd / Math.sqrt(values.length);
  const half = studentQuantile(0.975, values.length - 1) * standardError;
  return { low: mean - half, high: mean + half, standardError };
}

export interface BootstrapRequest {
  readonly values: Numbers;
  /** Cluster of each value (any numbers); absent = every value is its own. Whole clusters are drawn. */
  readonly clusters?: readonly number[];
  readonly seed: number;
  readonly draws?: number;
}

/** Percentile bootstrap interval of the mean; null for fewer than two clusters. The order of values matters only
 *  through the seeded stream: sort them first where results must not depend on the order of arrival. */
export function bootstrapMeanInterval(request: BootstrapRequest): Interval | null {
  const { values, ...rest } = request;
  return bootstrapMeanIntervals({ columns: [values], ...rest })[0] ?? null;
}

export interface JointBootstrapRequest extends Omit<BootstrapRequest, 'values'> {
  /** Several measurements of the same rows. */
  readonly columns: readonly Numbers[];
}

/**
 * The same for several columns over the same rows, which share their draws: random numbers and cache lines are paid
 * for once. Each column's interval is what it would be alone.
 */
export function bootstrapMeanIntervals(request: JointBootstrapRequest): (Interval | null)[] {
  const { columns, clusters, seed, draws = bootstrapDraws } = request;
  const rows = columns[0]?.length ?? 0;
  const sample = groupRows(columns, clusters ?? Array.from({ length: rows }, (_, row) => row));
  if (sample.clusters < 2) return columns.map(() => null);
  const means = drawMeans(sample, rows, { seed, draws });
  return means.map((column) => {
    column.sort();
    return { low: quantileOfSorted(column, 0.025), high: quantileOfSorted(column, 0.975) };
  });
}

/** Columns are summed four at a time: that many running sums stay in registers. */
const blockWidth = 4;

interface ClusterSample {
  readonly clusters: number;
  readonly columns: number;
  /** For each block of four columns: their sums in cluster 0, then in cluster 1, … */
  readonly blocks: readonly Float64Array[];
  /** Rows per cluster. */
  readonly counts: Float64Array;
  /** True when all clusters are of one size. */
  readonly even: boolean;
}

function groupRows(columns: readonly Numbers[], clusterOfRow: readonly number[]): ClusterSample {
  const slotOf = new Map<number, number>();
  for (const cluster of clusterOfRow) if (!slotOf.has(cluster)) slotOf.set(cluster, slotOf.size);
  const clusters = slotOf.size;
  const counts = new Float64Array(clusters);
  for (const cluster of clusterOfRow) increase(counts, slotOf.get(cluster) ?? 0, 1);
  const blocks = Array.from(
    { length: Math.ceil(columns.length / blockWidth) },
    () => new Float64Array(clusters * blockWidth),
  );
  columns.forEach((column, index) => {
    const block = blocks[Math.floor(index / blockWidth)];
    clusterOfRow.forEach((cluster, row) => {
      const place = (slotOf.get(cluster) ?? 0) * blockWidth + (index % blockWidth);
      if (block) increase(block, place, column[row] ?? 0);
    });
  });
  const even = counts.every((count) => count === counts[0]);
  return { clusters, columns: columns.length, blocks, counts, even };
}

function increase(sums: Float64Array, place: number, by: number): void {
  sums[place] = (sums[place] ?? 0) + by;
}

function drawMeans(
  sample: ClusterSample,
  rows: number,
  request: { seed: number; draws: number },
): Float64Array[] {
  const { clusters, columns, blocks, counts, even } = sample;
  const { seed, draws } = request;
  const random = createRandomBlocks(seed);
  const picks = new Uint32Array(clusters);
  const means = Array.from({ length: columns }, () => new Float64Array(draws));
  const totals = new Float64Array(blocks.length * blockWidth);
  for (let draw = 0; draw < draws; draw++) {
    random.fillIndexes(picks, clusters);
    blocks.forEach((block, index) => sumBlock(block, picks, totals, index * blockWidth));
    const divisor = even ? rows : sumOfPicks(counts, picks);
    for (let at = 0; at < columns; at++) (means[at] as Float64Array)[draw] = (totals[at] as number) / divisor;
  }
  return means;
}

function sumOfPicks(sums: Float64Array, picks: Uint32Array): number {
  let total = 0;
  for (let i = 0; i < picks.length; i++) total += sums[picks[i] as number] as number;
  return total;
}

function sumBlock(block: Float64Array, picks: Uint32Array, totals: Float64Array, at: number): void {
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  for (let i = 0; i < picks.length; i++) {
    const from = (picks[i] as number) * blockWidth;
    first += block[from] as number;
    second += block[from + 1] as number;
    third += block[from + 2] as number;
    fourth += block[from + 3] as number;
  }
  totals[at] = first;
  totals[at + 1] = second;
  totals[at + 2] = third;
  totals[at + 3] = fourth;
}
