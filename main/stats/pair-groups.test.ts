// Groups of pairs: by name, and by ranges of round widths in their order.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { listFlips } from './flips.ts';
import { groupingsOf, groupPairs } from './pair-groups.ts';
import { sampleRow, success } from './testing/sample-rows.ts';

const words = (count: number): string => Array.from({ length: count }, (_word, at) => `w${at}`).join(' ');
const flipsOf = (lengths: readonly (number | null)[]) => {
  const rows = (value: number) =>
    lengths.map((length, ordinal) =>
      sampleRow({
        ordinal,
        instruction: length === null ? null : words(length),
        sceneId: 'only',
        metrics: { success: value },
      }),
    );
  return listFlips({ baseline: rows(0), other: rows(1), metric: success });
};

it('puts instructions into ranges of words, shortest first, and leaves out who has none', () => {
  const groups = groupPairs(flipsOf([9, 3, 41, 12, 12, null, 0]), 'length');
  expect(groups.map(({ group, pairs }) => [group, pairs])).toEqual([
    ['0 to 9 words', 2],
    ['10 to 19 words', 2],
    ['40 to 49 words', 1],
  ]);
  expect(groupPairs(flipsOf([3, 4, 4]), 'length').map(({ group }) => group)).toEqual(['3 words', '4 words']);
});

it('offers only groupings that tell pairs apart', () => {
  expect(groupingsOf(flipsOf([3, 4]))).toEqual(['task', 'length']);
  expect(groupingsOf(flipsOf([null, null]))).toEqual([]);
});

it('has at most eight ranges, and every pair in exactly one', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 30 }), (steps) => {
      const rows = steps.map((count, ordinal) =>
        sampleRow({ ordinal, steps: count, metrics: { success: 1 } }),
      );
      const flips = listFlips({ baseline: rows, other: rows, metric: success });
      const groups = groupPairs(flips, 'steps');
      expect(groups.length).toBeLessThanOrEqual(8);
      expect(groups.reduce((sum, { pairs }) => sum + pairs, 0)).toBe(steps.length);
    }),
    { seed: 11, numRuns: 100 },
  );
});
