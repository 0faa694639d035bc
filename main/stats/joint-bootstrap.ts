// Bootstrap intervals of many samples drawn from the same rows: samples that include the same rows share their
// draws, so ten metrics cost hardly more than one. Each interval is what it would be alone; very large samples need no
// draws (bootstrap-series.ts).
import { seriesInterval } from './bootstrap-series.ts';
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
  const drawn = [...samples.keys()].filter((index) => {
    // With clusters the mean is a ratio of sums: those are drawn.
    intervals[index] = clusterOfRow ? null : seriesInterval(samples[index]?.values ?? []);
    return intervals[index] === null;
  });
  const groups = Map.groupBy(drawn, (index) => rowsKey(samples[index]?.rows ?? []));
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

/** Equal for equal rows. Rows rise, so that a run of them is told by its ends: no text of a hundred thousand numbers. */
function rowsKey(rows: readonly number[]): string {
  const first = rows[0] ?? 0;
  const last = rows.at(-1) ?? -1;
  return last - first + 1 === rows.length ? `${first}-${last}` : rows.join();
}
