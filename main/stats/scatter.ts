// Paired values of one metric for a scatter plot: points while there are few, counts in a grid of equal cells beyond,
// so that what is drawn stays bounded. Pure.
import type { MetricDefinition } from '../contract/nodeset.ts';
import { flipOutcome, pairRows, pairValues, type FlipOutcome } from './comparison.ts';
import type { FlipRequest } from './flips.ts';

/** Beyond this many pairs they are counted in cells. */
export const mostPoints = 2000;
export const cellsPerSide = 40;

export interface ScatterPoint {
  readonly baseline: number;
  readonly other: number;
  readonly outcome: FlipOutcome;
  readonly baselineOrdinal: number;
  readonly otherOrdinal: number;
  readonly episodeId: string | null;
}

export interface ScatterCell {
  /** Along the baseline. */
  readonly column: number;
  /** Along the other run. */
  readonly row: number;
  readonly count: number;
}

export type ScatterData =
  | { readonly kind: 'points'; readonly total: number; readonly points: readonly ScatterPoint[] }
  | {
      readonly kind: 'bins';
      readonly total: number;
      readonly low: number;
      readonly high: number;
      readonly cellsPerSide: number;
      readonly cells: readonly ScatterCell[];
    };

export function scatterOf(request: FlipRequest): ScatterData {
  const pairs = pairValues(pairRows(request.baseline, request.other), request.metric);
  if (pairs.length > mostPoints) return binned(pairs);
  return { kind: 'points', total: pairs.length, points: pairs.map((pair) => pointOf(pair, request.metric)) };
}

type Pairs = ReturnType<typeof pairValues>;

function pointOf(pair: Pairs[number], metric: MetricDefinition): ScatterPoint {
  return {
    baseline: pair.a,
    other: pair.b,
    outcome: flipOutcome(pair, metric),
    baselineOrdinal: pair.baseline.ordinal,
    otherOrdinal: pair.other.ordinal,
    episodeId: pair.baseline.episodeId,
  };
}

/** Both axes share a range, so that equal values lie on the diagonal. */
function binned(pairs: Pairs): ScatterData {
  let low = Infinity;
  let high = -Infinity;
  for (const { a, b } of pairs) {
    low = Math.min(low, a, b);
    high = Math.max(high, a, b);
  }
  const width = high - low || 1;
  const cellOf = (value: number): number =>
    Math.min(cellsPerSide - 1, Math.floor(((value - low) / width) * cellsPerSide));
  const counts = new Map<number, number>();
  for (const { a, b } of pairs) {
    const cell = cellOf(b) * cellsPerSide + cellOf(a);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  const cells = [...counts]
    .sort(([a], [b]) => a - b)
    .map(([cell, count]) => ({
      column: cell % cellsPerSide,
      row: Math.floor(cell / cellsPerSide),
      count,
    }));
  return { kind: 'bins', total: pairs.length, low, high, cellsPerSide, cells };
}
