// Numbers while a run is going: adding a row costs O(metrics), a snapshot too, and memory does not grow with the
// run (with repeats: one small entry per episode). Rates have Wilson intervals, means Student's t; medians wait for
// the final summary.
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { EpisodeAttempt, Estimate, MetricSummary, RunCounts, RunSummary } from '../contract/run.ts';
import { headlineDefinition } from './aggregate.ts';
import { isBinary } from './estimates.ts';
import { wilsonInterval } from './intervals.ts';
import { episodeIdentity, headlineBasis, readingFor, type Basis } from './metric-values.ts';
import { createRunFacts, usageMember } from './run-facts.ts';
import { studentQuantile } from './student.ts';

export interface LiveAggregate {
  /** A final row; each ordinal once. */
  add(row: EpisodeAttempt): void;
  /** Of any attempt, final or not: what it cost was spent. */
  spend(usage: EpisodeAttempt['usage']): void;
  snapshot(running: number): RunSummary;
  /** The part of a snapshot that a list shows, at the price of one metric. */
  headline(): { counts: RunCounts; headline: MetricSummary | null };
}

export interface LiveAggregateInput {
  readonly definitions: readonly MetricDefinition[];
  readonly planned: number;
  /** True when episodes are repeated: intervals are then of per-episode clusters. */
  readonly repeated: boolean;
}

export function createLiveAggregate(input: LiveAggregateInput): LiveAggregate {
  const { definitions, planned, repeated } = input;
  const facts = createRunFacts(definitions);
  const trackers = definitions.map((definition) => ({
    definition,
    completed: createTracker(definition, 'completed', repeated),
    started: definition.worst === null ? null : createTracker(definition, 'started', repeated),
  }));
  const summaryOf = ({ definition, completed, started }: (typeof trackers)[number]): MetricSummary => ({
    definition,
    completed: completed.estimate(),
    started: started?.estimate() ?? null,
    headline: headlineBasis(definition),
    measured: facts.measured(definition.name),
    of: facts.started(),
    partial: facts.started() < planned,
  });
  const leading = trackers.find(({ definition }) => definition === headlineDefinition(definitions));
  return {
    add(row) {
      facts.add(row);
      for (const { completed, started } of trackers) {
        completed.add(row);
        started?.add(row);
      }
    },
    spend: (usage) => facts.spend(usage),
    snapshot: (running) => ({
      counts: facts.counts(planned, running),
      metrics: trackers.map(summaryOf),
      flags: facts.flags(),
      meanSteps: facts.meanSteps(),
      meanDurationMs: facts.meanDurationMs(),
      ...usageMember(facts.usage()),
    }),
    headline: () => ({ counts: facts.counts(planned, 0), headline: leading ? summaryOf(leading) : null }),
  };
}

interface Tracker {
  add(row: EpisodeAttempt): void;
  estimate(): Estimate;
}

function createTracker(definition: MetricDefinition, basis: Basis, repeated: boolean): Tracker {
  const moments = createMoments();
  const clusters = repeated ? createClusterMoments() : null;
  let nonFinite = 0;
  let allBinary = true;
  const interval = (): Pick<Estimate, 'low' | 'high' | 'method'> => {
    const { n, mean } = moments;
    if (n === 0) return { low: null, high: null, method: 'none' };
    if (!clusters && definition.kind === 'rate' && allBinary) {
      return { ...wilsonInterval(Math.round(moments.sum()), n), method: 'wilson' };
    }
    const groups = clusters ? clusters.count() : n;
    if (groups < 2) return { low: null, high: null, method: 'none' };
    const error = clusters ? clusters.standardError(n) : moments.sd() / Math.sqrt(n);
    const half = studentQuantile(0.975, groups - 1) * error;
    return { low: mean - half, high: mean + half, method: 't' };
  };
  return {
    add(row) {
      const reading = readingFor(row, definition, basis);
      if (reading === 'non_finite') nonFinite++;
      if (typeof reading !== 'number') return;
      moments.add(reading);
      clusters?.add(episodeIdentity(row), reading);
      allBinary &&= isBinary(reading);
    },
    estimate: () => ({
      n: moments.n,
      mean: moments.n === 0 ? null : moments.mean,
      ...interval(),
      median: null,
      sd: moments.n < 2 ? null : moments.sd(),
      nonFinite,
    }),
  };
}

interface Moments {
  readonly n: number;
  readonly mean: number;
  sum(): number;
  sd(): number;
  add(value: number): void;
}

/** Welford's recurrence (1962). */
function createMoments(): Moments {
  let n = 0;
  let mean = 0;
  let squares = 0;
  return {
    get n() {
      return n;
    },
    get mean() {
      return mean;
    },
    sum: () => mean * n,
    sd: () => Math.sqrt(squares / (n - 1)),
    add(value) {
      n++;
      const before = value - mean;
      mean += before / n;
      squares += before * (value - mean);
    },
  };
}

interface ClusterMoments {
  add(cluster: string, value: number): void;
  count(): number;
  standardError(n: number): number;
}

/**
 * Linearised error of a ratio mean over clusters (Cochran 1977, 6.4): per cluster only its sum and size, and three
 * running totals. Values are taken relative to the first one, so that the squares do not cancel.
 */
function createClusterMoments(): ClusterMoments {
  const known = new Map<string, { sum: number; size: number }>();
  let origin: number | undefined;
  let total = 0;
  let sumSquares = 0;
  let crossed = 0;
  let sizeSquares = 0;
  const account = (cluster: { sum: number; size: number }, sign: 1 | -1): void => {
    sumSquares += sign * cluster.sum ** 2;
    crossed += sign * cluster.sum * cluster.size;
    sizeSquares += sign * cluster.size ** 2;
  };
  return {
    add(name, value) {
      origin ??= value;
      const shifted = value - origin;
      const cluster = known.get(name) ?? { sum: 0, size: 0 };
      account(cluster, -1);
      cluster.sum += shifted;
      cluster.size++;
      total += shifted;
      account(cluster, 1);
      known.set(name, cluster);
    },
    count: () => known.size,
    standardError(n) {
      const mean = total / n;
      const squares = Math.max(0, sumSquares - 2 * mean * crossed + mean * mean * sizeSquares);
      return Math.sqrt((known.size / (known.size - 1)) * squares) / n;
    },
  };
}
