// Mean, interval, median and spread of metrics over the rows of a run. Rates of zeros and ones get Wilson's interval,
// everything else the percentile bootstrap; with repeats every interval is the bootstrap clustered by episode.
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { EpisodeAttempt, Estimate } from '../contract/run.ts';
import { meanOf, medianOf, sampleSd } from './describe.ts';
import { wilsonInterval, type Interval } from './intervals.ts';
import { jointIntervals } from './joint-bootstrap.ts';
import { episodeIdentity, readingFor, type Basis } from './metric-values.ts';

export interface EstimateRequest {
  readonly definition: MetricDefinition;
  readonly basis: Basis;
}

interface Sample {
  readonly request: EstimateRequest;
  readonly values: number[];
  readonly rows: number[];
  readonly nonFinite: number;
}

/** In the order of the requests. `rows` in the order of the plan. */
export function estimateMetrics(
  rows: readonly EpisodeAttempt[],
  requests: readonly EstimateRequest[],
): Estimate[] {
  const repeated = rows.some(({ repeat }) => repeat > 0);
  const samples = requests.map((request) => readSample(rows, request));
  const isCounted = (sample: Sample): boolean =>
    !repeated && sample.request.definition.kind === 'rate' && sample.values.every(isBinary);
  const resampled = samples.filter((sample) => !isCounted(sample));
  const intervals = jointIntervals(resampled, repeated ? numbered(rows.map(episodeIdentity)) : null);
  const intervalOf = new Map(resampled.map((sample, i) => [sample, intervals[i] ?? null]));
  return samples.map((sample) => {
    if (isCounted(sample)) return estimateOf(sample, wilsonOf(sample.values), 'wilson');
    return estimateOf(sample, intervalOf.get(sample) ?? null, repeated ? 'bootstrap_clustered' : 'bootstrap');
  });
}

function readSample(rows: readonly EpisodeAttempt[], request: EstimateRequest): Sample {
  const values: number[] = [];
  const from: number[] = [];
  let nonFinite = 0;
  rows.forEach((row, index) => {
    const reading = readingFor(row, request.definition, request.basis);
    if (reading === 'non_finite') nonFinite++;
    if (typeof reading !== 'number') return;
    values.push(reading);
    from.push(index);
  });
  return { request, values, rows: from, nonFinite };
}

function estimateOf(sample: Sample, interval: Interval | null, method: Estimate['method']): Estimate {
  const { values, nonFinite } = sample;
  return {
    n: values.length,
    mean: meanOf(values),
    low: interval?.low ?? null,
    high: interval?.high ?? null,
    method: interval ? method : 'none',
    median: medianOf(values),
    sd: sampleSd(values),
    nonFinite,
  };
}

function wilsonOf(values: readonly number[]): Interval | null {
  if (values.length === 0) return null;
  return wilsonInterval(
    values.reduce((sum, value) => sum + value, 0),
    values.length,
  );
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
