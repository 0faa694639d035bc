// What an episode counts as for a metric. The one place that decides between a value, "not measured", "not finite"
// and the worst value: a failure is never left out of `started`.
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { EpisodeAttempt, MetricValue } from '../contract/run.ts';

/** A finite number, `non_finite`, or null = not measured. */
export type Reading = number | 'non_finite' | null;

/** Over completed episodes, or over all started and not cancelled with failures as the worst value. */
export type Basis = 'completed' | 'started';

export function readMetric(value: MetricValue | undefined): Reading {
  if (value === null || value === undefined) return null;
  return typeof value === 'number' && Number.isFinite(value) ? value : 'non_finite';
}

/** The value of a completed episode; null for every other outcome, whatever metrics it left behind. */
export function completedReading(row: EpisodeAttempt, metric: string): Reading {
  return row.status === 'completed' ? readMetric(row.metrics[metric]) : null;
}

/** As `completedReading`, with the worst value (when known) where nothing was measured. */
export function readingFor(row: EpisodeAttempt, definition: MetricDefinition, basis: Basis): Reading {
  const reading = completedReading(row, definition.name);
  return reading === null && basis === 'started' ? definition.worst : reading;
}

/** Which basis leads: `started` unless the metric has no known worst value. */
export function headlineBasis(definition: MetricDefinition): 'started' | 'completed_only' {
  return definition.worst === null ? 'completed_only' : 'started';
}

/** What makes two rows the same episode, whatever run they belong to. */
export function episodeIdentity(row: {
  readonly episodeId: string | null;
  readonly episodeIndex: number | null;
  readonly ordinal: number;
}): string {
  if (row.episodeId !== null) return `id ${row.episodeId}`;
  return row.episodeIndex === null ? `ordinal ${row.ordinal}` : `index ${row.episodeIndex}`;
}

/** Rows in the order of the plan, whatever order they finished in. */
export function inPlanOrder(rows: readonly EpisodeAttempt[]): EpisodeAttempt[] {
  return rows.toSorted((a, b) => a.ordinal - b.ordinal);
}
