// What the views of a comparison share: the runs, and which pair and metric are looked at.
import type { Comparison } from '#contract/compare.ts';
import type { MetricDefinition } from '#contract/nodeset.ts';

export type ComparedRun = Comparison['runs'][number];

export interface PairView {
  readonly comparison: Comparison;
  readonly baseline: ComparedRun;
  /** The run that is looked at against the baseline. */
  readonly other: ComparedRun;
  readonly others: readonly ComparedRun[];
  readonly metric: MetricDefinition | null;
}

const letters = 'ABCDEFGHIJKLMNOPQRST';

/** A short sign for a run in a comparison: A is the baseline. */
export const letterOf = (place: number): string => letters[place] ?? String(place + 1);
