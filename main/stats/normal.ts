// The standard normal distribution to near machine precision. Pure functions.

const sqrtTwo = Math.SQRT2;
const sqrtPi = Math.sqrt(Math.PI);

/** erfc(x) for any x; relative error about 1e-15. */
export function complementaryError(x: number): number {
  if (x < 0) return 2 - complementaryError(-x);
  return x < 2.5 ? 1 - errorBySeries(x) : errorTail(x);
}

/** erf by the all-positive series of Abramowitz & Stegun 7.1.6. */
function errorBySeries(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; n < 200 && term > sum * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / sqrtPi) * Math.exp(-x * x) * sum;
}

/** erfc by its continued fraction (Abramowitz & Stegun 7.1.14), evaluated backwards. */
function errorTail(x: number): number {
  let fraction = x;
  for (let k = 120; k >= 1; k--) fraction = x + k / 2 / fraction;
  return Math.exp(-x * x) / (fraction * sqrtPi);
}

/** P(Z <= z). */
export function normalCdf(z: number): number {
  return complementaryError(-z / sqrtTwo) / 2;
}

/** P(Z > z), precise in the upper tail. */
export function normalSurvival(z: number): number {
  return complementaryError(z / sqrtTwo) / 2;
}

/** The z with P(Z <= z) = p, 0 < p < 1. Start of Abramowitz & Stegun 26.2.23, polished by Halley's rule. */
export function normalQuantile(p: number): number {
  if (!(p > 0 && p < 1)) return p === 0 ? -Infinity : p === 1 ? Infinity : Number.NaN;
  const tail = Math.min(p, 1 - p);
  const t = Math.sqrt(-2 * Math.log(tail));
  let z =
    t -
    (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3);
  for (let round = 0; round < 4; round++) {
    const error = normalSurvival(z) - tail;
    const step = error * Math.sqrt(2 * Math.PI) * Math.exp((z * z) / 2);
    z += step / (1 + (z * step) / 2);
  }
  return p < 0.5 ? -z : z;
}

/** Two-sided 95 % point. */
export const z95 = normalQuantile(0.975);
