// The pure statistics against values computed by SciPy and statsmodels.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { meanOf, sampleSd, sumOf } from './describe.ts';
import { bootstrapMeanInterval, meanTInterval, wilsonInterval } from './intervals.ts';
import { holmAdjusted, mcnemarExact, signFlipTest } from './paired-tests.ts';
import { sampleSizeTwoProportions } from './power.ts';

const path = fileURLToPath(new URL('../../../shared/vectors/statistics.json', import.meta.url));

const number = z.number();
const values = z.array(number);
const schema = z.object({
  wilson_95: z.array(z.object({ successes: number, n: number, low: number, high: number })),
  mean_t_95: z.array(
    z.object({ values, mean: number, sd: number, standardError: number, low: number, high: number }),
  ),
  mcnemar_exact: z.array(z.object({ onlyAWins: number, onlyBWins: number, pValue: number })),
  paired_sign_flip_exact: z.array(z.object({ differences: values, meanDifference: number, pValue: number })),
  bootstrap_percentile_mean_95: z.array(
    z.object({ values, mean: number, low: number, high: number, tolerance: number }),
  ),
  holm: z.object({ pValues: values, adjusted: values }),
  sample_size_two_proportions: z.array(
    z.object({ p1: number, p2: number, power: number, alpha: number, nPerArm: number }),
  ),
});

/** Relative, or absolute where 0 is expected. */
const errorOf = (actual: number | undefined | null, expected: number): number =>
  Math.abs((actual ?? Number.NaN) - expected) / (expected === 0 ? 1 : Math.abs(expected));

/** NaN is an error, not a pass. */
const worstOf = (errors: readonly number[]): number => Math.max(...errors);

describe.skipIf(!existsSync(path))('values of other libraries', () => {
  const vectors = existsSync(path) ? schema.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
  const cases = vectors as z.infer<typeof schema>;

  it('agrees on every Wilson interval', () => {
    const errors = cases.wilson_95.flatMap((row) => {
      const interval = wilsonInterval(row.successes, row.n);
      return [errorOf(interval.low, row.low), errorOf(interval.high, row.high)];
    });
    expect(worstOf(errors)).toBeLessThanOrEqual(1e-9);
  });

  it('agrees on every t interval', () => {
    const errors = cases.mean_t_95.flatMap((row) => {
      const interval = meanTInterval(row.values);
      return [
        errorOf(meanOf(row.values), row.mean),
        errorOf(sampleSd(row.values), row.sd),
        errorOf(interval?.standardError, row.standardError),
        errorOf(interval?.low, row.low),
        errorOf(interval?.high, row.high),
      ];
    });
    expect(worstOf(errors)).toBeLessThanOrEqual(1e-9);
  });

  it('agrees on every McNemar p-value', () => {
    const errors = cases.mcnemar_exact.map((row) =>
      errorOf(mcnemarExact(row.onlyAWins, row.onlyBWins), row.pValue),
    );
    expect(worstOf(errors)).toBeLessThanOrEqual(1e-9);
  });

  it('agrees on every exact sign-flip p-value', () => {
    const results = cases.paired_sign_flip_exact.map((row) => ({
      row,
      result: signFlipTest(row.differences, 1),
    }));
    expect(results.map(({ result }) => result.method)).toEqual(results.map(() => 'sign_flip_exact'));
    const errors = results.flatMap(({ row, result }) => [
      errorOf(sumOf(row.differences) / row.differences.length, row.meanDifference),
      errorOf(result.pValue, row.pValue),
    ]);
    expect(worstOf(errors)).toBeLessThanOrEqual(1e-9);
  });

  it('agrees on bootstrap intervals within their tolerance', () => {
    for (const row of cases.bootstrap_percentile_mean_95) {
      const interval = bootstrapMeanInterval({ values: row.values, seed: 7 });
      expect(Math.abs((interval?.low ?? NaN) - row.low)).toBeLessThanOrEqual(row.tolerance);
      expect(Math.abs((interval?.high ?? NaN) - row.high)).toBeLessThanOrEqual(row.tolerance);
    }
  });

  it('agrees on Holm and on sample sizes', () => {
    const holm = holmAdjusted(cases.holm.pValues).map((p, i) => errorOf(p, cases.holm.adjusted[i] ?? NaN));
    const sizes = cases.sample_size_two_proportions.map((row) =>
      errorOf(sampleSizeTwoProportions(row.p1, row.p2, row), row.nPerArm),
    );
    expect(worstOf([...holm, ...sizes])).toBeLessThanOrEqual(1e-9);
  });
});
