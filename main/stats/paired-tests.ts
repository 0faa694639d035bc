// Tests for two runs over the same episodes: exact McNemar for rates, sign-flip permutation for everything else,
// Holm over several. Pure; two-sided throughout.
import { sumOf, type Numbers } from './describe.ts';
import { createRandomBlocks } from './random-indexes.ts';

/** Exact McNemar test: a binomial test of the discordant pairs at one half. */
export function mcnemarExact(onlyAWins: number, onlyBWins: number): number {
  const trials = onlyAWins + onlyBWins;
  const fewer = Math.min(onlyAWins, onlyBWins);
  if (trials === 0 || onlyAWins === onlyBWins) return 1;
  return Math.min(1, 2 * halfBinomialCdf(fewer, trials));
}

/** P(X <= k) for X binomial(n, 1/2), k <= n / 2: the largest term by logarithms, the rest by ratios. */
function halfBinomialCdf(k: number, n: number): number {
  let logTerm = -n * Math.LN2;
  for (let i = 0; i < k; i++) logTerm += Math.log((n - i) / (i + 1));
  let ratio = 1;
  let sum = 1;
  for (let i = k; i > 0 && ratio > 1e-18; i--) {
    ratio *= i / (n - i + 1);
    sum += ratio;
  }
  return Math.exp(logTerm) * sum;
}

export interface SignFlipResult {
  readonly pValue: number;
  readonly method: 'sign_flip_exact' | 'sign_flip_monte_carlo';
  /** Sign assignments that were looked at. */
  readonly draws: number;
}

/** Differences up to which all sign assignments are enumerated. */
export const exactSignFlipLimit = 20;
const monteCarloDraws = 40_000;

/**
 * Permutation test of mean difference 0 under random signs. Exact up to 20 differences that are not zero (zeros
 * change nothing); beyond that 40,000 seeded draws and p = (hits + 1) / (draws + 1), which is never 0.
 */
export function signFlipTest(differences: Numbers, seed: number): SignFlipResult {
  const magnitudes = Float64Array.from(differences)
    .filter((d) => d !== 0)
    .map(Math.abs);
  const observed = Math.abs(sumOf(differences));
  const slack = 1e-12 * sumOf(magnitudes);
  if (magnitudes.length <= exactSignFlipLimit) return exactSignFlip(magnitudes, observed - slack);
  return monteCarloSignFlip(magnitudes, observed - slack, seed);
}

function exactSignFlip(magnitudes: Float64Array, threshold: number): SignFlipResult {
  if (magnitudes.length === 0) return { pValue: 1, method: 'sign_flip_exact', draws: 1 };
  let hits = 0;
  const walk = (index: number, sum: number): void => {
    if (index === magnitudes.length) {
      if (Math.abs(sum) >= threshold) hits++;
      return;
    }
    const magnitude = magnitudes[index] as number;
    walk(index + 1, sum + magnitude);
    walk(index + 1, sum - magnitude);
  };
  // Flipping all signs changes no absolute sum: half of the assignments tell all.
  walk(1, magnitudes[0] as number);
  const draws = 2 ** (magnitudes.length - 1);
  return { pValue: hits / draws, method: 'sign_flip_exact', draws: draws * 2 };
}

/** Eight signs are one random byte; a table gives the signed sum of each group of eight. */
function monteCarloSignFlip(magnitudes: Float64Array, threshold: number, seed: number): SignFlipResult {
  const groups = Math.ceil(magnitudes.length / 8);
  const table = new Float64Array(groups * 256);
  for (let at = 0; at < table.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const magnitude = magnitudes[(at >> 8) * 8 + bit] ?? 0;
      table[at] = (table[at] as number) + (at & (1 << bit) ? magnitude : -magnitude);
    }
  }
  const random = createRandomBlocks(seed);
  const signs = new Uint8Array(groups);
  let hits = 0;
  for (let draw = 0; draw < monteCarloDraws; draw++) {
    random.fillBytes(signs);
    let sum = 0;
    for (let group = 0; group < groups; group++)
      sum += table[(group << 8) | (signs[group] as number)] as number;
    if (Math.abs(sum) >= threshold) hits++;
  }
  return {
    pValue: (hits + 1) / (monteCarloDraws + 1),
    method: 'sign_flip_monte_carlo',
    draws: monteCarloDraws,
  };
}

/** Holm's step-down adjustment (1979), in the order of the input. */
export function holmAdjusted(pValues: readonly number[]): number[] {
  const order = pValues.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const adjusted = Array.from(pValues);
  let floor = 0;
  order.forEach(({ p, index }, rank) => {
    floor = Math.max(floor, Math.min(1, p * (pValues.length - rank)));
    adjusted[index] = floor;
  });
  return adjusted;
}
