// Where two runs differ, episode by episode: flips of one metric sorted by size, the same per scene, and every
// difference in what was recorded (for "is my parallel number right").
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import { flipOutcome, pairRows, pairValues, type FlipOutcome } from './comparison.ts';
import { meanOf } from './describe.ts';

export interface Flip {
  readonly outcome: FlipOutcome;
  readonly episodeId: string | null;
  readonly episodeIndex: number | null;
  readonly sceneId: string | null;
  readonly instruction: string | null;
  readonly repeat: number;
  readonly baselineOrdinal: number;
  readonly otherOrdinal: number;
  readonly baselineSteps: number | null;
  readonly baselineValue: number;
  readonly otherValue: number;
  readonly difference: number;
}

export interface FlipRequest {
  readonly baseline: readonly EpisodeAttempt[];
  readonly other: readonly EpisodeAttempt[];
  readonly metric: MetricDefinition;
}

/** Largest differences first, then by the plan; pairs that are the same come last. */
export function listFlips(request: FlipRequest): Flip[] {
  return pairValues(pairRows(request.baseline, request.other), request.metric)
    .map((pair) => ({
      outcome: flipOutcome(pair, request.metric),
      episodeId: pair.baseline.episodeId,
      episodeIndex: pair.baseline.episodeIndex,
      sceneId: pair.baseline.sceneId ?? pair.other.sceneId,
      instruction: pair.baseline.instruction ?? pair.other.instruction,
      repeat: pair.baseline.repeat,
      baselineOrdinal: pair.baseline.ordinal,
      otherOrdinal: pair.other.ordinal,
      baselineSteps: pair.baseline.steps,
      baselineValue: pair.a,
      otherValue: pair.b,
      difference: pair.b - pair.a,
    }))
    .sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference) || x.baselineOrdinal - y.baselineOrdinal);
}

export interface GroupDifference {
  readonly group: string;
  readonly pairs: number;
  readonly baselineMean: number;
  readonly otherMean: number;
  readonly difference: number;
  readonly won: number;
  readonly lost: number;
}

/** Means of both runs per group (default: scene), largest difference first; flips without a group are left out. */
export function groupFlips(
  flips: readonly Flip[],
  groupOf: (flip: Flip) => string | null = (flip) => flip.sceneId,
): GroupDifference[] {
  return [...Map.groupBy(flips, groupOf)]
    .flatMap(([group, members]) => {
      const baselineMean = meanOf(members.map((flip) => flip.baselineValue));
      const otherMean = meanOf(members.map((flip) => flip.otherValue));
      if (group === null || baselineMean === null || otherMean === null) return [];
      const count = (outcome: FlipOutcome): number =>
        members.filter((flip) => flip.outcome === outcome).length;
      return [
        {
          group,
          pairs: members.length,
          baselineMean,
          otherMean,
          difference: otherMean - baselineMean,
          won: count('won'),
          lost: count('lost'),
        },
      ];
    })
    .sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference) || (x.group < y.group ? -1 : 1));
}

export interface RecordedDifference {
  readonly episodeId: string | null;
  readonly episodeIndex: number | null;
  readonly repeat: number;
  /** `status`, `steps`, `limit` or a metric's name. */
  readonly field: string;
  readonly baseline: string | number | null;
  readonly other: string | number | null;
}

/** Everything that should be equal when only the number of workers changed; empty = the runs agree exactly. */
export function recordedDifferences(
  baseline: readonly EpisodeAttempt[],
  other: readonly EpisodeAttempt[],
): RecordedDifference[] {
  return pairRows(baseline, other).flatMap((pair) => {
    const { episodeId, episodeIndex, repeat } = pair.baseline;
    const a = comparableFields(pair.baseline);
    const b = comparableFields(pair.other);
    return [...new Set([...a.keys(), ...b.keys()])]
      .filter((field) => (a.get(field) ?? null) !== (b.get(field) ?? null))
      .map((field) => ({
        episodeId,
        episodeIndex,
        repeat,
        field,
        baseline: a.get(field) ?? null,
        other: b.get(field) ?? null,
      }));
  });
}

function comparableFields(row: EpisodeAttempt): Map<string, string | number | null> {
  return new Map<string, string | number | null>([
    ...Object.entries(row.metrics),
    ['status', row.status],
    ['steps', row.steps],
    ['limit', row.limit],
  ]);
}
