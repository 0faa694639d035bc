// Compares runs with a baseline over the same (episode, repeat) pairs: exact McNemar for rates, sign-flip
// permutation for others, bootstrap of the paired differences, Holm over all tests of one comparison. With repeats
// every test works on per-episode means and the bootstrap draws whole episodes.
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import { isBinary, numbered } from './estimates.ts';
import {
  comparabilityReasons,
  pairKey,
  type ComparabilityReason,
  type ComparedRun,
} from './comparability.ts';
import { constantDifferenceInterval } from './constant-difference.ts';
import { meanOf, sampleSd } from './describe.ts';
import type { Interval } from './intervals.ts';
import { jointIntervals, publishedSeed } from './joint-bootstrap.ts';
import { episodeIdentity, headlineBasis, inPlanOrder, readingFor } from './metric-values.ts';
import { holmAdjusted, mcnemarExact, signFlipTest } from './paired-tests.ts';
import { mcnemarEpisodesNeeded, pairedEpisodesNeeded, type PairedNeed } from './power.ts';

export interface RowPair {
  readonly baseline: EpisodeAttempt;
  readonly other: EpisodeAttempt;
}

/** A pair with both values of one metric. */
export interface ValuePair extends RowPair {
  /** Index among the pairs of rows. */
  readonly place: number;
  readonly a: number;
  readonly b: number;
}

export interface MetricComparison {
  readonly runId: string;
  readonly metric: MetricDefinition;
  /** `started`: failures count as the worst value. */
  readonly basis: 'started' | 'completed_only';
  readonly pairs: number;
  readonly episodes: number;
  /** Pairs left out because a side was not measured or not finite. */
  readonly leftOut: number;
  readonly baselineMean: number | null;
  readonly otherMean: number | null;
  /** Other minus baseline, with its 95 % interval. */
  readonly difference: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly intervalMethod: 'bootstrap' | 'bootstrap_clustered' | 'newcombe' | 'none';
  readonly test: 'mcnemar_exact' | 'sign_flip_exact' | 'sign_flip_monte_carlo' | 'none';
  readonly pValue: number | null;
  /** Holm over every test of the comparison. */
  readonly adjustedPValue: number | null;
  readonly won: number;
  readonly lost: number;
  readonly same: number;
  /** Paired episodes that would show a difference of this size with 80 % power; null without a difference. */
  readonly need: PairedNeed | null;
}

export type RunComparison =
  | { readonly kind: 'refused'; readonly reasons: readonly ComparabilityReason[] }
  | {
      readonly kind: 'compared';
      /** What was set aside because the caller asked for the common episodes only. */
      readonly reasons: readonly ComparabilityReason[];
      readonly metrics: readonly MetricComparison[];
    };

export interface ComparisonRequest {
  readonly baseline: ComparedRun;
  readonly others: readonly ComparedRun[];
  /** Default: the metrics every run defines. */
  readonly metricNames?: readonly string[];
  /** Compare the common episodes although there are reasons not to. */
  readonly commonOnly?: boolean;
}

/** Refuses, with reasons, unless the runs are comparable or `commonOnly` is set. */
export function compareRuns(request: ComparisonRequest): RunComparison {
  const { baseline, others, commonOnly = false } = request;
  const reasons = others.flatMap((other) => comparabilityReasons(baseline, other));
  if (reasons.length > 0 && !commonOnly) return { kind: 'refused', reasons };
  const compared = others.flatMap((other) => {
    const pairs = pairRows(baseline.finals, other.finals);
    return compareMetrics(other.record.runId, sharedMetrics(request, other), pairs);
  });
  const tested = compared.flatMap(({ pValue }, index) => (pValue === null ? [] : [{ pValue, index }]));
  const adjusted = holmAdjusted(tested.map(({ pValue }) => pValue));
  const adjustedByIndex = new Map(tested.map(({ index }, i) => [index, adjusted[i] ?? null]));
  const metrics = compared.map((row, index) => ({
    ...row,
    adjustedPValue: adjustedByIndex.get(index) ?? null,
  }));
  return { kind: 'compared', reasons, metrics };
}

function sharedMetrics(request: ComparisonRequest, other: ComparedRun): MetricDefinition[] {
  const theirs = new Set(other.record.metrics.map(({ name }) => name));
  const wanted = request.metricNames && new Set(request.metricNames);
  return request.baseline.record.metrics.filter(
    ({ name }) => theirs.has(name) && (!wanted || wanted.has(name)),
  );
}

/** Rows of both runs with the same episode and repeat, in the baseline's plan order. */
export function pairRows(baseline: readonly EpisodeAttempt[], other: readonly EpisodeAttempt[]): RowPair[] {
  const byKey = new Map(other.map((row) => [pairKey(row), row]));
  return inPlanOrder(baseline).flatMap((row) => {
    const match = byKey.get(pairKey(row));
    return match ? [{ baseline: row, other: match }] : [];
  });
}

/** Both values of a metric; pairs without a finite value on both sides are left out. */
export function pairValues(pairs: readonly RowPair[], definition: MetricDefinition): ValuePair[] {
  const basis = headlineBasis(definition) === 'started' ? 'started' : 'completed';
  return pairs.flatMap((pair, place) => {
    const a = readingFor(pair.baseline, definition, basis);
    const b = readingFor(pair.other, definition, basis);
    return typeof a === 'number' && typeof b === 'number' ? [{ ...pair, place, a, b }] : [];
  });
}

function compareMetrics(
  runId: string,
  metrics: readonly MetricDefinition[],
  rows: readonly RowPair[],
): MetricComparison[] {
  const episodes = numbered(rows.map(({ baseline }) => episodeIdentity(baseline)));
  const repeated = new Set(episodes).size < rows.length;
  const samples = metrics.map((metric) => pairValues(rows, metric));
  const intervals = jointIntervals(
    samples.map((pairs) => ({
      values: pairs.map(({ a, b }) => b - a),
      rows: pairs.map(({ place }) => place),
    })),
    repeated ? episodes : null,
  );
  return metrics.map((metric, index) => {
    const pairs = samples[index] ?? [];
    const clusters = repeated ? pairs.map(({ place }) => episodes[place] ?? 0) : null;
    const interval = intervals[index] ?? null;
    return compareMetric({ runId, metric, pairs, of: rows.length, clusters, interval });
  });
}

interface MetricSample {
  readonly runId: string;
  readonly metric: MetricDefinition;
  readonly pairs: readonly ValuePair[];
  /** Pairs before those without values were left out. */
  readonly of: number;
  /** Episode of each pair; null without repeats. */
  readonly clusters: readonly number[] | null;
  readonly interval: Interval | null;
}

function compareMetric(sample: MetricSample): MetricComparison {
  const { runId, metric, pairs, of, clusters } = sample;
  const differences = pairs.map(({ a, b }) => b - a);
  const perEpisode = clusters ? clusterMeans(differences, clusters) : differences;
  const outcomes = pairs.map((pair) => flipOutcome(pair, metric));
  return {
    runId,
    metric,
    basis: headlineBasis(metric),
    pairs: pairs.length,
    episodes: perEpisode.length,
    leftOut: of - pairs.length,
    baselineMean: meanOf(pairs.map(({ a }) => a)),
    otherMean: meanOf(pairs.map(({ b }) => b)),
    difference: meanOf(differences),
    ...intervalOf(sample, perEpisode),
    ...testPairs({ pairs, perEpisode, repeated: clusters !== null, metric }),
    adjustedPValue: null,
    won: outcomes.filter((outcome) => outcome === 'won').length,
    lost: outcomes.filter((outcome) => outcome === 'lost').length,
    same: outcomes.filter((outcome) => outcome === 'same').length,
  };
}

function intervalOf(
  { interval, clusters }: MetricSample,
  perEpisode: readonly number[],
): Pick<MetricComparison, 'low' | 'high' | 'intervalMethod'> {
  const constant = constantDifferenceInterval(perEpisode);
  if (constant?.method === 'newcombe')
    return { low: constant.low, high: constant.high, intervalMethod: 'newcombe' };
  if (constant || !interval) return { low: null, high: null, intervalMethod: 'none' };
  return { ...interval, intervalMethod: clusters ? 'bootstrap_clustered' : 'bootstrap' };
}

interface TestInput {
  readonly pairs: readonly ValuePair[];
  readonly perEpisode: readonly number[];
  readonly repeated: boolean;
  readonly metric: MetricDefinition;
}

function testPairs(input: TestInput): Pick<MetricComparison, 'test' | 'pValue' | 'need'> {
  const { pairs, perEpisode, repeated, metric } = input;
  const difference = meanOf(perEpisode);
  if (difference === null) return { test: 'none', pValue: null, need: null };
  const have = perEpisode.length;
  const isRate = metric.kind === 'rate' && !repeated && pairs.every(({ a, b }) => isBinary(a) && isBinary(b));
  if (isRate) {
    const onlyBaseline = pairs.filter(({ a, b }) => a > b).length;
    const onlyOther = pairs.filter(({ a, b }) => b > a).length;
    const discordant = (onlyBaseline + onlyOther) / have;
    const need = difference === 0 ? null : mcnemarEpisodesNeeded({ difference, discordant, have });
    return { test: 'mcnemar_exact', pValue: mcnemarExact(onlyBaseline, onlyOther), need };
  }
  const { pValue, method } = signFlipTest(perEpisode, publishedSeed);
  const sd = sampleSd(perEpisode);
  const need =
    difference === 0 || sd === null ? null : pairedEpisodesNeeded({ difference, sdOfDifferences: sd, have });
  return { test: method, pValue, need };
}

function clusterMeans(values: readonly number[], clusters: readonly number[]): number[] {
  const groups = Map.groupBy(values.keys(), (index) => clusters[index]);
  return [...groups.values()].map((indexes) => meanOf(indexes.map((index) => values[index] ?? 0)) ?? 0);
}

export type FlipOutcome = 'won' | 'lost' | 'same';

/** From the other run's point of view; a metric without a direction counts higher as won. */
export function flipOutcome(
  pair: { readonly a: number; readonly b: number },
  metric: MetricDefinition,
): FlipOutcome {
  if (pair.a === pair.b) return 'same';
  return pair.b > pair.a === (metric.higherIsBetter ?? true) ? 'won' : 'lost';
}
