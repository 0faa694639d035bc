// How fast episodes were finished over a run's time. Pure. From the rows' own times where they are known, else from
// what this window saw while the run was live.
import type { EpisodeRow } from '#contract/run.ts';

export interface ThroughputPoint {
  /** Seconds since the first known start (rows), or of the run's active time (live samples). */
  readonly atSec: number;
  readonly perMinute: number;
}

export interface LiveSample {
  readonly elapsedMs: number;
  readonly finished: number;
}

const greatestSamples = 400;

/** Adds a sample at most once a second; when full, every other one goes, so the whole run stays covered. */
export function addSample(samples: readonly LiveSample[], sample: LiveSample): readonly LiveSample[] {
  const last = samples.at(-1);
  if (last && sample.elapsedMs - last.elapsedMs < 1000) return samples;
  const kept = samples.length >= greatestSamples ? samples.filter((_unused, at) => at % 2 === 0) : samples;
  return [...kept, sample];
}

export function throughputOfSamples(samples: readonly LiveSample[]): ThroughputPoint[] {
  const stride = Math.max(1, Math.floor(samples.length / 60));
  const points: ThroughputPoint[] = [];
  for (let at = stride; at < samples.length; at += stride) {
    const [from, to] = [samples[at - stride], samples[at]];
    if (!from || !to || to.elapsedMs <= from.elapsedMs) continue;
    const minutes = (to.elapsedMs - from.elapsedMs) / 60_000;
    points.push({ atSec: to.elapsedMs / 1000, perMinute: (to.finished - from.finished) / minutes });
  }
  return points;
}

/** Null when the rows do not tell when they ran. */
export function throughputOfRows(rows: Iterable<EpisodeRow>, greatestBuckets = 60): ThroughputPoint[] | null {
  const ends: number[] = [];
  let first = Infinity;
  for (const row of rows) {
    if (row.durationMs === null || row.status === 'running' || row.status === 'pending') continue;
    if (row.startedAt === undefined || row.startedAt === null) continue;
    const start = Date.parse(row.startedAt);
    if (Number.isNaN(start)) continue;
    first = Math.min(first, start);
    ends.push(start + row.durationMs);
  }
  if (ends.length < 2) return null;
  // Enough episodes in each part that chance does not draw the picture.
  const buckets = Math.min(greatestBuckets, Math.max(2, Math.floor(ends.length / 8)));
  let last = -Infinity;
  for (const end of ends) last = Math.max(last, end);
  const widthMs = Math.max(1, (last - first) / buckets);
  const counts = Array.from({ length: buckets }, () => 0);
  for (const end of ends) {
    const bucket = Math.min(buckets - 1, Math.floor((end - first) / widthMs));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts.map((count, bucket) => ({
    atSec: ((bucket + 0.5) * widthMs) / 1000,
    perMinute: (count / widthMs) * 60_000,
  }));
}
