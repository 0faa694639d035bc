// Bootstrap intervals of many samples drawn from the same rows: samples that include the same rows share their
// draws, so ten metrics cost hardly more than one. Each interval is what it would be alone.
import { bootstrapMeanIntervals, type Interval } from './intervals.ts';
import { seedOf } from './random-indexes.ts';

export interface RowSample {
  readonly values: readonly number[];
  /** For each value the row it came from, rising. */
  readonly rows: readonly number[];
}

/** One seed for everything that is published: equal rows give equal intervals everywhere. */
export const publishedSeed = seedOf('bootstrap');

/** In the order of the samples; `clusterOfRow` is null when every row is its own cluster. */
export function jointIntervals(
  samples: readonly RowSample[],
  clusterOfRow: readonly number[] | null,
): (Interval | null)[] {
  const intervals: (Interval | null)[] = samples.map(() => null);
  const groups = Map.groupBy(samples.keys(), (index) => samples[index]?.rows.join());
  for (const members of groups.values()) {
    const rows = samples[members[0] ?? 0]?.rows ?? [];
    const found = bootstrapMeanIntervals({
      columns: members.map((index) => samples[index]?.values ?? []),
      ...(clusterOfRow ? { clusters: rows.map((row) => clusterOfRow[row] ?? 0) } : {}),
      seed: publishedSeed,
    });
    members.forEach((index, place) => (intervals[index] = found[place] ?? null));
  }
  return intervals;
}
