// "How many more episodes?": the number that shows a wanted difference, from what the rows say about the spread. Pure;
// two-sided tests.
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import { pairRows, pairValues } from './comparison.ts';
import { meanOf, sampleSd } from './describe.ts';
import { isBinary } from './estimates.ts';
import { headlineBasis, readingFor } from './metric-values.ts';
import {
  mcnemarEpisodesNeeded,
  pairedEpisodesNeeded,
  sampleSizeTwoProportions,
  type PowerTarget,
} from './power.ts';

export interface NeedRequest extends Required<PowerTarget> {
  readonly rows: readonly EpisodeAttempt[];
  /** Present: the runs are compared over the same episodes. */
  readonly otherRows?: readonly EpisodeAttempt[];
  readonly metric: MetricDefinition;
  /** The difference somebody wants to see; > 0. */
  readonly difference: number;
}

export interface EpisodesNeeded {
  readonly have: number;
  /** Null when no number of episodes would do, or there are too few values to tell. */
  readonly needed: number | null;
  readonly more: number | null;
  /** What was assumed. */
  readonly method: string;
}

export function episodesNeeded(request: NeedRequest): EpisodesNeeded {
  return request.otherRows ? pairedNeed(request, request.otherRows) : unpairedNeed(request);
}

function pairedNeed(request: NeedRequest, otherRows: readonly EpisodeAttempt[]): EpisodesNeeded {
  const { metric, difference, power, alpha } = request;
  const pairs = pairValues(pairRows(request.rows, otherRows), metric);
  const have = pairs.length;
  const target = { difference, have, power, alpha };
  const isRate = metric.kind === 'rate' && pairs.every(({ a, b }) => isBinary(a) && isBinary(b));
  if (have < 2) return { have, needed: null, more: null, method: 'fewer than two pairs have both values' };
  if (isRate) {
    const discordant = pairs.filter(({ a, b }) => a !== b).length / have;
    const need = mcnemarEpisodesNeeded({ ...target, discordant });
    const share = (100 * discordant).toFixed(1);
    return answer(
      have,
      need.needed,
      `McNemar's test over the same episodes; ${share} % of pairs differ (Connor 1987)`,
    );
  }
  const spread = sampleSd(pairs.map(({ a, b }) => b - a));
  if (spread === null) return { have, needed: null, more: null, method: 'the spread is not known' };
  const need = pairedEpisodesNeeded({ ...target, sdOfDifferences: spread });
  return answer(
    have,
    need.needed,
    `paired test; paired differences spread by ${spread.toPrecision(3)} (normal approximation)`,
  );
}

function unpairedNeed(request: NeedRequest): EpisodesNeeded {
  const { rows, metric, difference, power, alpha } = request;
  const basis = headlineBasis(metric) === 'started' ? 'started' : 'completed';
  const values = rows
    .map((row) => readingFor(row, metric, basis))
    .filter((reading) => typeof reading === 'number');
  const have = values.length;
  const mean = meanOf(values);
  const spread = sampleSd(values);
  if (mean === null || spread === null)
    return { have, needed: null, more: null, method: 'fewer than two episodes have a value' };
  if (metric.kind === 'rate' && values.every(isBinary)) {
    const wanted = mean + difference <= 1 ? mean + difference : mean - difference;
    if (wanted < 0) return { have, needed: null, more: null, method: 'no rate lies that far away' };
    const needed = sampleSizeTwoProportions(mean, wanted, { power, alpha });
    const [from, to] = [mean, wanted].map((share) => `${(100 * share).toFixed(1)} %`);
    return answer(
      have,
      needed,
      `episodes per run to tell ${from} from ${to} in independent runs (Cohen's h)`,
    );
  }
  // Two independent samples of equal spread: the difference of their means spreads by √2 times as much.
  const need = pairedEpisodesNeeded({
    difference,
    sdOfDifferences: spread * Math.SQRT2,
    have,
    power,
    alpha,
  });
  return answer(
    have,
    need.needed,
    `episodes per run in independent runs; values spread by ${spread.toPrecision(3)} (normal approximation)`,
  );
}

function answer(have: number, real: number, method: string): EpisodesNeeded {
  if (!Number.isFinite(real)) return { have, needed: null, more: null, method };
  const needed = Math.max(1, Math.ceil(real - 1e-9));
  return { have, needed, more: Math.max(0, needed - have), method };
}
