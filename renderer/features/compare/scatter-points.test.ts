// No pair is lost on the way to the chart, and the chart never gets more than it can draw.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { greatestMarks, roundRange, scatterMarks } from './scatter-points.ts';

const pointOf = (baseline: number, other: number, at: number) => ({
  baseline,
  other,
  outcome: 'same' as const,
  baselineOrdinal: at,
  otherOrdinal: at,
  episodeId: `e${at}`,
});

describe('scatter', () => {
  it('makes one mark of pairs at one place', () => {
    const { marks, low, high, isBinned } = scatterMarks({
      kind: 'points',
      total: 3,
      points: [pointOf(0, 1, 0), pointOf(0, 1, 1), pointOf(2, 0, 2)],
    });
    expect(marks).toEqual([
      { baseline: 0, other: 1, count: 2, episodeId: null },
      { baseline: 2, other: 0, count: 1, episodeId: 'e2' },
    ]);
    expect([low, high, isBinned]).toEqual([0, 2, false]);
  });

  it('keeps every pair in at most 800 marks', () => {
    const value = fc.double({ min: -5, max: 5, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(value, value), { minLength: 0, maxLength: 2000, size: 'max' }),
        (pairs) => {
          const points = pairs.map(([baseline, other], at) => pointOf(baseline, other, at));
          const { marks, low, high } = scatterMarks({ kind: 'points', total: points.length, points });
          expect(marks.length).toBeLessThanOrEqual(greatestMarks);
          expect(marks.reduce((sum, mark) => sum + mark.count, 0)).toBe(points.length);
          for (const mark of marks) {
            expect(mark.baseline).toBeGreaterThanOrEqual(low);
            expect(mark.other).toBeLessThanOrEqual(high);
          }
        },
      ),
      { seed: 4, numRuns: 20 },
    );
  });

  it('has axes that end at round numbers', () => {
    expect(roundRange(0, 1)).toEqual([0, 1]);
    expect(roundRange(0.02, 13.77)).toEqual([0, 15]);
    expect(roundRange(-3.2, 4.1)).toEqual([-4, 5]);
    expect(roundRange(2, 2)).toEqual([2, 3]);
  });

  it('draws counted cells at their centres', () => {
    const { marks, isBinned } = scatterMarks({
      kind: 'bins',
      total: 5000,
      low: 0,
      high: 10,
      cellsPerSide: 10,
      cells: [{ column: 0, row: 9, count: 5000 }],
    });
    expect(marks).toEqual([{ baseline: 0.5, other: 9.5, count: 5000, episodeId: null }]);
    expect(isBinned).toBe(true);
  });
});
