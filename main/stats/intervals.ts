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
  const { values, clusters, seed, draws = bootstrapDraws } = request;
  const sample = clusters
    ? groupClusters(values, clusters)
    : { sums: Float64Array.from(values), counts: null };
  if (sample.sums.length < 2) return null;
  const means = sample.counts
    ? drawClusteredMeans(sample.sums, sample.counts, seed, draws)
    : drawMeans(sample.sums, values.length / sample.sums.length, seed, draws);
  means.sort();
  return { low: quantileOfSorted(means, 0.025), high: quantileOfSorted(means, 0.975) };
}

interface ClusterSample {
  readonly sums: Float64Array;
  /** Null when all clusters are of one size. */
  readonly counts: Float64Array | null;
}

function groupClusters(values: Numbers, clusters: readonly number[]): ClusterSample {
  const slotOf = new Map<number, number>();
  for (const cluster of clusters) if (!slotOf.has(cluster)) slotOf.set(cluster, slotOf.size);
  const sums = new Float64Array(slotOf.size);
  const counts = new Float64Array(slotOf.size);
  clusters.forEach((cluster, i) => {
    const slot = slotOf.get(cluster) ?? 0;
    sums[slot] = (sums[slot] ?? 0) + (values[i] ?? 0);
    counts[slot] = (counts[slot] ?? 0) + 1;
  });
  const even = counts.every((count) => count === counts[0]);
  return { sums, counts: even ? null : counts };
}

function drawMeans(sums: Float64Array, perCluster: number, seed: number, draws: number): Float64Array {
  const random = createRandomBlocks(seed);
  const picks = new Uint32Array(sums.length);
  const means = new Float64Array(draws);
  for (let draw = 0; draw < draws; draw++) {
    random.fillIndexes(picks, sums.length);
    let total = 0;
    for (let i = 0; i < picks.length; i++) total += sums[picks[i] as number] as number;
    means[draw] = total / (sums.length * perCluster);
  }
  return means;
}

function drawClusteredMeans(
  sums: Float64Array,
  counts: Float64Array,
  seed: number,
  draws: number,
): Float64Array {
  const random = createRandomBlocks(seed);
  const picks = new Uint32Array(sums.length);
  const means = new Float64Array(draws);
  for (let draw = 0; draw < draws; draw++) {
    random.fillIndexes(picks, sums.length);
    let total = 0;
    let count = 0;
    for (let i = 0; i < picks.length; i++) {
      total += sums[picks[i] as number] as number;
      count += counts[picks[i] as number] as number;
    }
    means[draw] = total / count;
  }
  return means;
}
