// How many episodes a claim needs. Pure; two-sided tests; answers are real numbers, round up to use them.
import { normalCdf, normalQuantile, normalSurvival } from './normal.ts';

export interface PowerTarget {
  /** Default 0.8. */
  readonly power?: number;
  /** Default 0.05. */
  readonly alpha?: number;
}

/** Episodes per arm to tell two independent rates apart (normal test of Cohen's h, both tails counted). */
export function sampleSizeTwoProportions(p1: number, p2: number, target: PowerTarget = {}): number {
  const { power = 0.8, alpha = 0.05 } = target;
  const effect = Math.abs(2 * Math.asin(Math.sqrt(p1)) - 2 * Math.asin(Math.sqrt(p2)));
  if (effect === 0) return Infinity;
  const noncentrality = solveNoncentrality(power, alpha);
  return 2 * (noncentrality / effect) ** 2;
}

/** The shift of a normal statistic at which a two-sided test of size alpha has the wanted power. */
function solveNoncentrality(power: number, alpha: number): number {
  const critical = normalQuantile(1 - alpha / 2);
  const powerAt = (shift: number): number => normalSurvival(critical - shift) + normalCdf(-critical - shift);
  let low = 0;
  let high = critical + normalQuantile(Math.max(power, 0.5)) + 1;
  for (let round = 0; round < 200 && high - low > 1e-15 * high; round++) {
    const middle = (low + high) / 2;
    if (powerAt(middle) < power) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

export interface PairedNeed {
  /** Paired episodes in all. */
  readonly needed: number;
  /** Of these, still to run. */
  readonly more: number;
}

/**
 * Paired episodes needed to see a mean difference of `difference`, given the spread of the paired differences so
 * far (normal approximation). Infinity for a difference of 0.
 */
export function pairedEpisodesNeeded(
  request: PowerTarget & {
    readonly difference: number;
    readonly sdOfDifferences: number;
    readonly have: number;
  },
): PairedNeed {
  const { difference, sdOfDifferences, have, power = 0.8, alpha = 0.05 } = request;
  const needed =
    difference === 0 ? Infinity : (solveNoncentrality(power, alpha) * (sdOfDifferences / difference)) ** 2;
  return withHave(needed, have);
}

/**
 * Paired episodes needed by McNemar's test when a share `discordant` of pairs differs (Connor 1987). The discordant
 * share is at least the difference itself.
 */
export function mcnemarEpisodesNeeded(
  request: PowerTarget & { readonly difference: number; readonly discordant: number; readonly have: number },
): PairedNeed {
  const { have, power = 0.8, alpha = 0.05 } = request;
  const difference = Math.abs(request.difference);
  const discordant = Math.max(request.discordant, difference);
  const spread = Math.sqrt(discordant - difference * difference);
  const root = normalQuantile(1 - alpha / 2) * Math.sqrt(discordant) + normalQuantile(power) * spread;
  return withHave(difference === 0 ? Infinity : (root / difference) ** 2, have);
}

function withHave(real: number, have: number): PairedNeed {
  const needed = Math.ceil(real - 1e-9);
  return { needed, more: Math.max(0, needed - have) };
}
