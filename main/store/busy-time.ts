// How long a run was at work, told by its attempts alone: what is left of a run whose engine was killed before it could
// write the time down.
import type { EpisodeAttempt } from '../contract/run.ts';

/** Milliseconds in which at least one attempt was going on; workers that overlap count once. */
export function busyMs(attempts: readonly Pick<EpisodeAttempt, 'startedAt' | 'durationMs'>[]): number {
  const spans = attempts
    .map(({ startedAt, durationMs }) => ({ fromMs: Date.parse(startedAt), durationMs }))
    .filter(({ fromMs }) => Number.isFinite(fromMs))
    .toSorted((one, other) => one.fromMs - other.fromMs);
  let sumMs = 0;
  let untilMs = Number.NEGATIVE_INFINITY;
  for (const { fromMs, durationMs } of spans) {
    const endMs = fromMs + durationMs;
    sumMs += Math.max(0, endMs - Math.max(fromMs, untilMs));
    untilMs = Math.max(untilMs, endMs);
  }
  return sumMs;
}
