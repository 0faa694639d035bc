// Comparison: refusals with reasons, tests against independent computations, flips and groups.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../base/random.ts';
import { seriesInterval } from './bootstrap-series.ts';
import { compareRuns, type MetricComparison } from './comparison.ts';
import { groupFlips, listFlips, recordedDifferences } from './flips.ts';
import { bootstrapMeanInterval, bootstrapMeanIntervals } from './intervals.ts';
import { createRandomBlocks } from './random-indexes.ts';
import { holmAdjusted, mcnemarExact, signFlipTest } from './paired-tests.ts';
import { mcnemarEpisodesNeeded, pairedEpisodesNeeded } from './power.ts';
import { sampleRow, sampleRun, spl, success } from './testing/sample-rows.ts';
import { evalConfig } from '../contract/eval-config.ts';

const rowsWith = (values: readonly number[], metric = 'success') =>
  values.map((value, ordinal) => sampleRow({ ordinal, metrics: { [metric]: value } }));

const comparedMetrics = (request: Parameters<typeof compareRuns>[0]): readonly MetricComparison[] => {
  const result = compareRuns(request);
  return result.kind === 'compared' ? result.metrics : [];
};

/** Binomial test by summing Pascal's triangle in integers. */
function mcnemarByCounting(b: number, c: number): number {
  const n = b + c;
  let row = [1n];
  for (let i = 0; i < n; i++) row = [1n, ...row.slice(1).map((value, k) => value + (row[k] ?? 0n)), 1n];
  const tail = row.slice(0, Math.min(b, c) + 1).reduce((sum, value) => sum + value, 0n);
  return Math.min(1, Number((tail * 2n * 10n ** 17n) / 2n ** BigInt(n)) / 1e17);
}

describe('tests of pairs', () => {
  it('computes McNemar as counting does, and stays exact for thousands of pairs', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(40), (b, c) => {
        expect(mcnemarExact(b, c)).toBeCloseTo(mcnemarByCounting(b, c), 12);
      }),
      { seed: 4 },
    );
    expect(mcnemarExact(490, 510)).toBeCloseTo(mcnemarByCounting(490, 510), 10);
    expect(mcnemarExact(0, 10_000)).toBe(0);
  });

  it('estimates by Monte Carlo what enumeration gives', () => {
    const few = [
      0.3, -0.1, 0.4, 0.2, 0.5, -0.2, 0.1, 0.35, -0.05, 0.15, 0.25, 0.02, 0.07, -0.3, 0.2, 0.1, 0.12, 0.4,
    ];
    const exact = signFlipTest(few, 1);
    // Four more differences so small that they hardly matter push it over the limit of enumeration.
    const monteCarlo = signFlipTest([...few, 1e-7, -1e-7, 2e-7], 1);
    expect([exact.method, monteCarlo.method]).toEqual(['sign_flip_exact', 'sign_flip_monte_carlo']);
    expect(Math.abs(exact.pValue - monteCarlo.pValue)).toBeLessThan(0.005);
    expect(signFlipTest([...few, 1e-7, -1e-7, 2e-7], 1)).toEqual(monteCarlo);
  });

  it('gives p = 1 without any difference and never 0', () => {
    expect(signFlipTest([0, 0, 0], 1).pValue).toBe(1);
    expect(
      signFlipTest(
        Array.from({ length: 200 }, () => 1),
        1,
      ).pValue,
    ).toBeGreaterThan(0);
  });

  it('adjusts p-values upwards, keeping their order', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }), (pValues) => {
        const adjusted = holmAdjusted(pValues);
        pValues.forEach((p, i) => {
          expect(adjusted[i]).toBeGreaterThanOrEqual(p);
          expect(adjusted[i]).toBeLessThanOrEqual(1);
          const larger = pValues.flatMap((q, j) => (q > p ? [adjusted[j] ?? 0] : []));
          expect(adjusted[i]).toBeLessThanOrEqual(Math.min(1, ...larger));
        });
      }),
      { seed: 5 },
    );
  });

  it('says how many more episodes a difference needs', () => {
    // 7.849 = (1.960 + 0.842)^2, the textbook factor for 80 % power at 5 %.
    expect(pairedEpisodesNeeded({ difference: 0.1, sdOfDifferences: 0.5, have: 100 })).toEqual({
      needed: 197,
      more: 97,
    });
    expect(mcnemarEpisodesNeeded({ difference: 0.05, discordant: 0.2, have: 1000 })).toEqual({
      needed: 626,
      more: 0,
    });
    expect(pairedEpisodesNeeded({ difference: 0, sdOfDifferences: 0.5, have: 10 }).more).toBe(Infinity);
  });
});

describe('the bootstrap', () => {
  it('gives columns that share their draws the intervals they have alone, clustered or not', () => {
    const random = createRandomBlocks(9);
    const bits = new Uint32Array(60);
    const columns = Array.from({ length: 6 }, () => {
      random.fillIndexes(bits, 1000);
      return Array.from(bits, (value) => value / 100);
    });
    const clusters = Array.from({ length: 60 }, (_, row) => Math.floor(row / 7));
    for (const grouping of [{}, { clusters }]) {
      const together = bootstrapMeanIntervals({ columns, seed: 3, draws: 500, ...grouping });
      const alone = columns.map((values) =>
        bootstrapMeanInterval({ values, seed: 3, draws: 500, ...grouping }),
      );
      expect(together).toEqual(alone);
    }
  });

  it('of a very large sample agree with draws within the error of drawing, and heavy tails are drawn', () => {
    const random = createRandom(7);
    const skewed = Array.from({ length: 20_000 }, () => Math.log(1 - random.next()) ** 2);
    const series = seriesInterval(skewed);
    const drawn = bootstrapMeanInterval({ values: skewed, seed: 3, draws: 4000 });
    if (!series || !drawn) throw new Error('both are known');
    const width = drawn.high - drawn.low;
    expect(Math.abs(series.low - drawn.low) / width).toBeLessThan(0.03);
    expect(Math.abs(series.high - drawn.high) / width).toBeLessThan(0.03);
    expect(seriesInterval(skewed.slice(1))).toBeNull();
    expect(seriesInterval([...skewed, 1e9])).toBeNull();
    expect(seriesInterval(skewed.map(() => 2))).toEqual({ low: 2, high: 2 });
  });

  it('covers a known mean about as often as it says', () => {
    const random = createRandomBlocks(11);
    const bits = new Uint32Array(80);
    const covered = Array.from({ length: 300 }, (_, seed) => {
      random.fillIndexes(bits, 1 << 20);
      const interval = bootstrapMeanInterval({
        values: Array.from(bits, (value) => value / (1 << 20)),
        seed,
        draws: 500,
      });
      return interval !== null && interval.low <= 0.5 && interval.high >= 0.5;
    }).filter(Boolean).length;
    expect(covered / 300).toBeGreaterThan(0.9);
    expect(covered / 300).toBeLessThan(0.98);
  });
});

describe('compareRuns', () => {
  it('refuses runs that differ or are unknown, with every reason', () => {
    const baseline = sampleRun('a', rowsWith([1, 0, 1]));
    const other = sampleRun('b', rowsWith([1, 0]), {
      split: 'val_seen',
      stepBudget: null,
      perStepBudgetSec: 5,
      config: evalConfig.parse({ graph: 'g', seed: 3, selectors: { dataset: 'r2r' } }),
    });
    const result = compareRuns({ baseline, others: [other] });
    expect(result.kind).toBe('refused');
    expect(result.reasons.map(({ kind }) => kind)).toEqual([
      'split',
      'selectors',
      'episodes',
      'unknown_budget',
      'budget',
      'seed',
    ]);
    const imported = sampleRun('c', rowsWith([1, 0, 1]), { importedFrom: 'a folder' });
    expect(compareRuns({ baseline, others: [imported] }).reasons.map(({ kind }) => kind)).toEqual([
      'unknown_seed',
    ]);
  });

  it('uses only the common episodes when asked, and still says why', () => {
    const baseline = sampleRun('a', rowsWith([1, 0, 1, 1]));
    const other = sampleRun('b', rowsWith([1, 1]));
    const result = compareRuns({ baseline, others: [other], commonOnly: true });
    expect(result.reasons.map(({ kind }) => kind)).toEqual(['episodes']);
    expect(result.kind === 'compared' && result.metrics[0]).toMatchObject({
      pairs: 2,
      won: 1,
      lost: 0,
      same: 1,
    });
  });

  it('does not compare a run whose plan is not finished unless asked', () => {
    const rows = rowsWith([1, 0, 1]);
    const whole = sampleRun('a', rows);
    const unfinished = { ...sampleRun('b', rows), finals: rows.slice(0, 2) };
    expect(compareRuns({ baseline: whole, others: [unfinished] })).toMatchObject({
      kind: 'refused',
      reasons: [{ kind: 'partial' }],
    });
  });

  it('tests rates by McNemar and others by sign flips, and adjusts over all of them', () => {
    const baselineRows = [1, 1, 0, 0, 0, 0, 0, 0, 1, 0].map((value, ordinal) =>
      sampleRow({ ordinal, metrics: { success: value, spl: value * 0.5, path_length: 3 } }),
    );
    const otherRows = [1, 0, 1, 1, 1, 1, 1, 1, 1, 0].map((value, ordinal) =>
      sampleRow({ ordinal, metrics: { success: value, spl: value * 0.7, path_length: 3 } }),
    );
    const metrics = comparedMetrics({
      baseline: sampleRun('a', baselineRows),
      others: [sampleRun('b', otherRows)],
    });
    const [rate, mean, length] = metrics;
    expect(rate).toMatchObject({
      test: 'mcnemar_exact',
      pValue: mcnemarExact(1, 6),
      won: 6,
      lost: 1,
      same: 3,
      basis: 'started',
    });
    expect(rate?.difference).toBeCloseTo(0.5, 12);
    expect(mean?.test).toBe('sign_flip_exact');
    expect(length).toMatchObject({ pValue: 1, difference: 0, need: null, basis: 'completed_only' });
    expect(metrics.map(({ adjustedPValue }) => adjustedPValue)).toEqual(
      holmAdjusted(metrics.map(({ pValue }) => pValue ?? NaN)),
    );
  });

  it('counts a failure as the worst value on its side', () => {
    const failedRow = sampleRow({ ordinal: 0, status: 'died', metrics: {} });
    const metrics = comparedMetrics({
      baseline: sampleRun('a', rowsWith([1, 1])),
      others: [sampleRun('b', [failedRow, ...rowsWith([1, 1]).slice(1)])],
      metricNames: ['success'],
    });
    expect(metrics).toMatchObject([{ pairs: 2, leftOut: 0, lost: 1, difference: -0.5 }]);
  });

  it('works on per-episode means when episodes are repeated', () => {
    const rows = (shift: number) =>
      Array.from({ length: 12 }, (_, ordinal) =>
        sampleRow({
          ordinal,
          episodeId: `e${ordinal >> 1}`,
          repeat: ordinal % 2,
          metrics: { success: (ordinal + shift) % 3 === 0 ? 1 : 0 },
        }),
      );
    const metrics = comparedMetrics({
      baseline: sampleRun('a', rows(0)),
      others: [sampleRun('b', rows(1))],
      metricNames: ['success'],
    });
    expect(metrics).toMatchObject([
      { pairs: 12, episodes: 6, test: 'sign_flip_exact', intervalMethod: 'bootstrap_clustered' },
    ]);
  });

  it('finds nothing between a run and itself', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 30 }), (values) => {
        const run = sampleRun('a', rowsWith(values));
        const [rate] = comparedMetrics({ baseline: run, others: [run], metricNames: ['success'] });
        expect(rate).toMatchObject({ pValue: 1, difference: 0, won: 0, lost: 0, same: values.length });
      }),
      { numRuns: 10, seed: 6 },
    );
  });
});

describe('flips', () => {
  it('lists the largest differences first and turns won into lost for metrics that should be low', () => {
    const metric = { ...spl, name: 'distance', higherIsBetter: false, worst: 30 };
    const flips = listFlips({
      baseline: rowsWith([3, 5, 2, 4], 'distance'),
      other: rowsWith([3, 1, 3, 4.5], 'distance'),
      metric,
    });
    expect(
      flips.map(({ outcome, difference, baselineOrdinal }) => [outcome, difference, baselineOrdinal]),
    ).toEqual([
      ['won', -4, 1],
      ['lost', 1, 2],
      ['lost', 0.5, 3],
      ['same', 0, 0],
    ]);
    expect(groupFlips(flips)).toMatchObject([
      { group: 'scene-1', pairs: 1, difference: -4, won: 1, lost: 0 },
      { group: 'scene-2', pairs: 1, difference: 1 },
      { group: 'scene-0', pairs: 2, difference: 0.25, won: 0, lost: 1 },
    ]);
  });

  it('pairs by episode and repeat, not by position', () => {
    const baseline = rowsWith([1, 0]);
    const other = rowsWith([1, 0])
      .map((row, i) => ({ ...row, ordinal: 1 - i }))
      .toReversed();
    expect(listFlips({ baseline, other, metric: success }).every(({ outcome }) => outcome === 'same')).toBe(
      true,
    );
  });

  it('lists every recorded difference between two runs that should agree', () => {
    const [row] = rowsWith([1]);
    const base = row ?? sampleRow({ ordinal: 0 });
    expect(recordedDifferences([base], [{ ...base, worker: 5, durationMs: 1 }])).toEqual([]);
    expect(recordedDifferences([base], [{ ...base, steps: 11, metrics: { success: 'nan' } }])).toMatchObject([
      { field: 'success', baseline: 1, other: 'nan' },
      { field: 'steps', baseline: 10, other: 11 },
    ]);
  });
});
