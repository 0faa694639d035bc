// Where Replay shows a pair: baseline left, other right; a side without a recording never hides the one with. Pure.
import type { FlipView } from '#contract/compare.ts';

export interface ReplayPlace {
  readonly run: string;
  readonly episode: number;
  readonly other: string;
  readonly otherEpisode: number;
}

type Flip = Pick<FlipView, 'baselineOrdinal' | 'otherOrdinal' | 'baselineRecorded' | 'otherRecorded'>;

export function replayOfFlip(flip: Flip, baselineRun: string, otherRun: string): ReplayPlace {
  const isOtherFirst = flip.otherRecorded && !flip.baselineRecorded;
  return isOtherFirst
    ? { run: otherRun, episode: flip.otherOrdinal, other: baselineRun, otherEpisode: flip.baselineOrdinal }
    : { run: baselineRun, episode: flip.baselineOrdinal, other: otherRun, otherEpisode: flip.otherOrdinal };
}
