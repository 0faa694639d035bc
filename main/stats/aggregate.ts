// The summary of a run from its final rows: every metric over completed episodes and over all that were started,
// failures as the worst value; the second one leads. Results do not depend on the order of the rows.
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { EpisodeAttempt, Estimate, MetricSummary, RunSummary } from '../contract/run.ts';
import { meanOf, medianOf, sampleSd } from './describe.ts';
import { bootstrapMeanInterval, wilsonInterval, type Interval } from './intervals.ts';
import { episodeIdentity, headlineBasis, inPlanOrder, readingFor, type Basis } from './metric-values.ts';
import { seedOf } from './random-indexes.ts';
import { createRunFacts } from './run-facts.ts';

export interface SummaryInput {
  /** Final rows, at most one per ordinal. */
  readonly rows: readonly EpisodeAttempt[];
  readonly planned: number;
  readonly running?: number;
  readonly definitions: readonly MetricDefinition[];
  /** First attempts of the same episodes: then what retries changed is said beside the retried share. */
  readonly firstAttempts?: readonly EpisodeAttempt[];
}

/** Bootstrap seeds derive from metric and basis: the same rows give the same interval everywhere. */
export function summarise(input: SummaryInput): RunSummary {
  const { planned, running = 0, definitions } = input;
  const rows = inPlanOrder(input.rows);
  const facts = createRunFacts(definitions);
  for (const row of rows) facts.add(row);
  const partial = facts.started() < planned;
  const metrics = definitions.map((definition) => ({
    definition,
    ...bothEstimates(rows, definition),
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
  const candidates = summary.metrics.filter((metric) => metric.headline === 'started');
  return candidates.find((metric) => metric.definition.kind === 'rate') ?? candidates[0] ?? null;
}

function bothEstimates(
  rows: readonly EpisodeAttempt[],
  definition: MetricDefinition,
): Pick<MetricSummary, 'completed' | 'started'> {
  return {
    completed: estimateMetric(rows, definition, 'completed'),
    started: definition.worst === null ? null : estimateMetric(rows, definition, 'started'),
  };
}

function estimateMetric(
  rows: readonly EpisodeAttempt[],
  definition: MetricDefinition,
  basis: Basis,
): Estimate {
  const values: number[] = [];
  const episodes: string[] = [];
  let nonFinite = 0;
  let repeated = false;
  for (const row of rows) {
    const reading = readingFor(row, definition, basis);
    if (reading === 'non_finite') nonFinite++;
    if (typeof reading !== 'number') continue;
    values.push(reading);
    episodes.push(episodeIdentity(row));
    repeated ||= row.repeat > 0;
  }
  const interval = intervalOf({
    values,
    episodes,
    repeated,
    definition,
    seed: seedOf(`${definition.name} ${basis}`),
  });
  return {
    n: values.length,
    mean: meanOf(values),
    low: interval?.low ?? null,
    high: interval?.high ?? null,
    method: interval?.method ?? 'none',
    median: medianOf(values),
    sd: sampleSd(values),
    nonFinite,
  };
}

interface IntervalInput {
  readonly values: readonly number[];
  readonly episodes: readonly string[];
  readonly repeated: boolean;
  readonly definition: MetricDefinition;
  readonly seed: number;
}

function intervalOf(input: IntervalInput): (Interval & { method: Estimate['method'] }) | null {
  const { values, episodes, repeated, definition, seed } = input;
  if (values.length === 0) return null;
  if (repeated) {
    const interval = bootstrapMeanInterval({ values, clusters: numbered(episodes), seed });
    return interval && { ...interval, method: 'bootstrap_clustered' };
  }
  if (definition.kind === 'rate' && values.every(isBinary)) {
    const successes = values.reduce((sum, value) => sum + value, 0);
    return { ...wilsonInterval(successes, values.length), method: 'wilson' };
  }
  const interval = bootstrapMeanInterval({ values, seed });
  return interval && { ...interval, method: 'bootstrap' };
}

/** A rate is counted only when every value is 0 or 1; shares go through the bootstrap. */
export function isBinary(value: number): boolean {
  return value === 0 || value === 1;
}

/** Equal names get equal numbers. */
export function numbered(names: readonly string[]): number[] {
  const numbers = new Map<string, number>();
  return names.map((name) => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, numbers.size);
    return numbers.size - 1;
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
