// Pairs of two runs by what their episodes have in common: scene, task, length of the instruction, steps, repeat.
import type { ComparisonGroup } from '../contract/compare.ts';
import { groupFlips, type Flip, type GroupDifference } from './flips.ts';

/** At most this many ranges: more would leave too few pairs in each. */
const mostRanges = 8;
const roundWidths = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000];

const labels: Readonly<Record<'scene' | 'task' | 'repeat', (flip: Flip) => string | null>> = {
  scene: (flip) => flip.sceneId,
  task: (flip) => flip.instruction,
  repeat: (flip) => `repeat ${flip.repeat}`,
};

const sizes: Readonly<
  Record<'length' | 'steps', { readonly unit: string; readonly of: (flip: Flip) => number | null }>
> = {
  length: { unit: 'words', of: ({ instruction }) => wordsOf(instruction) },
  steps: { unit: 'steps', of: ({ baselineSteps }) => baselineSteps },
};

/** Named groups: largest difference first. Ranges: in their order. */
export function groupPairs(flips: readonly Flip[], by: ComparisonGroup): readonly GroupDifference[] {
  if (by !== 'length' && by !== 'steps') return groupFlips(flips, labels[by]);
  const { unit, of } = sizes[by];
  const width = rangeWidth(flips.map(of));
  const rangeOf = (value: number): string => {
    const low = Math.floor(value / width) * width;
    return width === 1 ? `${low} ${unit}` : `${low} to ${low + width - 1} ${unit}`;
  };
  const groups = groupFlips(flips, (flip) => {
    const value = of(flip);
    return value === null ? null : rangeOf(value);
  });
  return groups.sort((x, y) => Number.parseInt(x.group, 10) - Number.parseInt(y.group, 10));
}

/** Groupings that tell pairs apart. */
export function groupingsOf(flips: readonly Flip[]): readonly ComparisonGroup[] {
  const valueOf: Readonly<Record<ComparisonGroup, (flip: Flip) => string | number | null>> = {
    ...labels,
    length: sizes.length.of,
    steps: sizes.steps.of,
  };
  const tells = (by: ComparisonGroup): boolean => {
    const values = new Set(flips.map(valueOf[by]));
    values.delete(null);
    return values.size > 1;
  };
  return (['scene', 'task', 'length', 'steps', 'repeat'] as const).filter(tells);
}

function wordsOf(instruction: string | null): number | null {
  const words = instruction?.trim().split(/\s+/u) ?? [];
  return words.length > 0 && words[0] !== '' ? words.length : null;
}

function rangeWidth(values: readonly (number | null)[]): number {
  const known = values.filter((value) => value !== null);
  const [low, high] = known.reduce(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Number.POSITIVE_INFINITY, 0],
  );
  const fits = (width: number): boolean => Math.floor(high / width) - Math.floor(low / width) < mostRanges;
  return roundWidths.find(fits) ?? Math.ceil((high + 1) / mostRanges);
}
