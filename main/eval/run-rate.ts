// How fast a run goes and how long it still takes, as a pure function of what is finished. The range is honest about
// few episodes: it spans two standard errors of the mean episode time.

export interface RateInput {
  /** Finished in this session of the run. */
  readonly finished: number;
  readonly remaining: number;
  /** Time since the first episode of this session began. */
  readonly elapsedMs: number;
  readonly workers: number;
  /** Durations of the latest attempts, milliseconds. */
  readonly recentDurationsMs: readonly number[];
}

export interface RunRate {
  readonly episodesPerSecond: number | null;
  readonly remainingMs: { readonly low: number; readonly high: number } | null;
}

export function runRate(input: RateInput): RunRate {
  const { finished, remaining, elapsedMs, workers, recentDurationsMs } = input;
  if (finished === 0 || elapsedMs <= 0) return { episodesPerSecond: null, remainingMs: null };
  const episodesPerSecond = (finished * 1000) / elapsedMs;
  if (remaining === 0) return { episodesPerSecond, remainingMs: { low: 0, high: 0 } };
  const expectedMs = (remaining / episodesPerSecond) * 1000;
  const spread = Math.min(0.9, 2 * relativeError(recentDurationsMs));
  const lastRoundMs = (remaining < workers ? 1 : 0) * Math.max(0, ...recentDurationsMs);
  return {
    episodesPerSecond,
    remainingMs: { low: expectedMs * (1 - spread), high: Math.max(expectedMs * (1 + spread), lastRoundMs) },
  };
}

/** Standard error of the mean over the mean; 0.5 while there are too few values. */
function relativeError(values: readonly number[]): number {
  if (values.length < 3) return 0.5;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (mean === 0) return 0;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return Math.sqrt(variance / values.length) / mean;
}
