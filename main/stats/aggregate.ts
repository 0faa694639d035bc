// The summary of a run from its final rows: every metric over completed episodes and over all that were started,
// failures as the worst value; the second one leads. Results do not depend on the order of the rows.
import type { ChatUsage } from '../contract/chat.ts';
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { EpisodeAttempt, Estimate, MetricSummary, RunSummary } from '../contract/run.ts';
import { meanOf } from './describe.ts';
import { estimateMetrics } from './estimates.ts';
import { headlineBasis, inPlanOrder, readingFor } from './metric-values.ts';
import { createRunFacts, usageMember } from './run-facts.ts';

export interface SummaryInput {
  /** Final rows, at most one per ordinal. */
  readonly rows: readonly EpisodeAttempt[];
  readonly planned: number;
  readonly running?: number;
  readonly definitions: readonly MetricDefinition[];
  /** First attempts of the same episodes: then what retries changed is said beside the retried share. */
  readonly firstAttempts?: readonly EpisodeAttempt[];
  /** Of language models, over every attempt. */
  readonly usage?: ChatUsage | null;
}

/** The bootstrap has one fixed seed: the same rows give the same interval everywhere. */
export function summarise(input: SummaryInput): RunSummary {
  const { planned, running = 0, definitions } = input;
  const rows = inPlanOrder(input.rows);
  const facts = createRunFacts(definitions);
  for (const row of rows) facts.add(row);
  const partial = facts.started() < planned;
  const estimates = bothEstimates(rows, definitions);
  const metrics = definitions.map((definition, index) => ({
    definition,
    ...(estimates[index] as (typeof estimates)[number]),
    headline: headlineBasis(definition),
    measured: facts.measured(definition.name),
    of: facts.started(),
    partial,
  }));
  return {
    counts: facts.counts(planned, running),
    metrics,
    flags: [...facts.flags(), ...firstAttemptFlags(input, metrics)],
    meanSteps: facts.meanSteps(),
    meanDurationMs: facts.meanDurationMs(),
    ...usageMember(input.usage ?? null),
  };
}

export interface GroupSummary {
  readonly group: string;
  readonly summary: RunSummary;
}

/** The same numbers per scene, task or anything a row tells; rows without a group are left out. Sorted by name. */
export function summariseGroups(
  input: Omit<SummaryInput, 'planned' | 'running' | 'firstAttempts'>,
  groupOf: (row: EpisodeAttempt) => string | null = (row) => row.sceneId,
): GroupSummary[] {
  const groups = Map.groupBy(input.rows, groupOf);
  return [...groups]
    .flatMap(([group, rows]) => (group === null ? [] : [{ group, rows }]))
    .sort((a, b) => (a.group < b.group ? -1 : 1))
    .map(({ group, rows }) => ({
      group,
      summary: summarise({ rows, planned: rows.length, definitions: input.definitions }),
    }));
}

/** The estimate that leads. */
export function headlineEstimate(metric: MetricSummary): Estimate {
  return metric.headline === 'started' && metric.started ? metric.started : metric.completed;
}

/** The metric that stands for a run in a list: the first with a known worst value, rates first. */
export function headlineMetric(summary: RunSummary): MetricSummary | null {
  const chosen = headlineDefinition(summary.metrics.map(({ definition }) => definition));
  return summary.metrics.find(({ definition }) => definition === chosen) ?? null;
}

export function headlineDefinition(definitions: readonly MetricDefinition[]): MetricDefinition | null {
  const candidates = definitions.filter((definition) => headlineBasis(definition) === 'started');
  return candidates.find(({ kind }) => kind === 'rate') ?? candidates[0] ?? null;
}

/** For each metric, over completed episodes and, where the worst value is known, over started ones. */
function bothEstimates(
  rows: readonly EpisodeAttempt[],
  definitions: readonly MetricDefinition[],
): Pick<MetricSummary, 'completed' | 'started'>[] {
  const started = definitions.filter(({ worst }) => worst !== null);
  const estimates = estimateMetrics(rows, [
    ...definitions.map((definition) => ({ definition, basis: 'completed' as const })),
    ...started.map((definition) => ({ definition, basis: 'started' as const })),
  ]);
  return definitions.map((definition, index) => {
    const place = started.indexOf(definition);
    return {
      completed: estimates[index] as Estimate,
      started: place < 0 ? null : (estimates[definitions.length + place] ?? null),
    };
  });
}

function firstAttemptFlags(input: SummaryInput, metrics: readonly MetricSummary[]): RunSummary['flags'] {
  const { firstAttempts, definitions } = input;
  if (!firstAttempts) return [];
  return definitions.flatMap((definition, i) => {
    if (definition.worst === null) return [];
    const readings = firstAttempts.map((row) => readingFor(row, definition, 'started'));
    const first = meanOf(readings.filter((reading) => typeof reading === 'number'));
    const last = metrics[i]?.started?.mean ?? null;
    if (first === null || last === null || Math.abs(first - last) <= 1e-12 * Math.abs(last)) return [];
    const message = `${definition.name} is ${last.toPrecision(4)} with retries and ${first.toPrecision(4)} by first attempts`;
    return [{ kind: 'first_attempts', metric: definition.name, message }];
  });
}
