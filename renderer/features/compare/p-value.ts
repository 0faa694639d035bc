// How tests read: p-values with their sign, the test by its name. Pure.
import type { MetricComparisonView } from '#contract/compare.ts';

const significance = 0.05;
const smallestShown = 0.001;

/** "0.032", "< 0.001", "1"; never "0". */
export function formatPValue(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–';
  if (value < smallestShown) return '< 0.001';
  if (value >= 0.9995) return '1';
  const text = value.toFixed(value < 0.1 ? 3 : 2);
  return Number(text) === significance && value < significance ? '< 0.05' : text;
}

const testNames: Readonly<Record<MetricComparisonView['test'], string>> = {
  mcnemar_exact: 'exact McNemar',
  sign_flip_exact: 'exact sign flip',
  sign_flip_monte_carlo: 'sign flip, Monte Carlo',
  none: 'no test',
};
export const testName = (test: MetricComparisonView['test']): string => testNames[test];

const intervalNames: Readonly<Record<MetricComparisonView['intervalMethod'], string>> = {
  bootstrap: 'paired bootstrap',
  bootstrap_clustered: 'paired bootstrap, clustered by episode',
  newcombe: "Newcombe's score interval where every episode differs by the same",
  none: 'no interval',
};
/** Of a table: each way that is used in it. */
export function intervalNamesOf(rows: readonly Pick<MetricComparisonView, 'intervalMethod'>[]): string {
  const used = new Set(rows.map(({ intervalMethod }) => intervalMethod));
  if (used.size > 1) used.delete('none');
  return [...used].map((method) => intervalNames[method]).join('; ') || intervalNames.none;
}

/** By the adjusted value: several metrics are several chances to be lucky. */
export function isSignificant({ adjustedPValue }: Pick<MetricComparisonView, 'adjustedPValue'>): boolean {
  return adjustedPValue !== null && adjustedPValue < significance;
}
