// Student's t distribution through the incomplete beta function. Pure functions; quantiles are cheap, because live
// numbers ask for them several times a second: cached for few degrees of freedom, a series for many.
import { normalQuantile } from './normal.ts';

const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** ln Γ(x), x > 0 (Lanczos, g = 7). */
export function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const shifted = x - 1;
  const t = shifted + 7.5;
  const series = lanczos.reduce((sum, c, i) => (i === 0 ? c : sum + c / (shifted + i)), 0);
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(series);
}

/** Regularised incomplete beta function I_x(a, b). */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return (front * betaFraction(x, a, b)) / a;
}

/** Continued fraction of the incomplete beta function, by Lentz's method. */
function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  const safe = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / safe(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m < 1000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / safe(1 + even * d);
    c = safe(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / safe(1 + odd * d);
    c = safe(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return result;
}

/** P(T > t) for t >= 0. */
export function studentSurvival(t: number, degrees: number): number {
  return incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
}

const quantiles = new Map<string, number>();
const largestCache = 4096;
/** From here on the expansion below is exact to twelve digits. */
const expansionFrom = 300;

/** The t with P(T <= t) = p, 0.5 <= p < 1; degrees of freedom > 0. */
export function studentQuantile(p: number, degrees: number): number {
  if (degrees >= expansionFrom) return expandedQuantile(normalQuantile(p), degrees);
  const key = `${p}:${degrees}`;
  const known = quantiles.get(key);
  if (known !== undefined) return known;
  const value = solveQuantile(1 - p, degrees);
  if (quantiles.size >= largestCache) quantiles.clear();
  quantiles.set(key, value);
  return value;
}

/** Abramowitz & Stegun 26.7.5: the quantile as a series in 1 / degrees around the normal one. */
function expandedQuantile(z: number, degrees: number): number {
  const zz = z * z;
  const first = (z * (zz + 1)) / 4;
  const second = (z * ((5 * zz + 16) * zz + 3)) / 96;
  const third = (z * (((3 * zz + 19) * zz + 17) * zz - 15)) / 384;
  const fourth = (z * ((((79 * zz + 776) * zz + 1482) * zz - 1920) * zz - 945)) / 92160;
  return z + (first + (second + (third + fourth / degrees) / degrees) / degrees) / degrees;
}

/** Bisection to a bracket that Newton's rule cannot leave. */
function solveQuantile(tail: number, degrees: number): number {
  if (tail >= 0.5) return 0;
  let low = 0;
  let high = Math.max(1, normalQuantile(1 - tail));
  while (studentSurvival(high, degrees) > tail) {
    low = high;
    high *= 2;
  }
  const logDensity = logGamma((degrees + 1) / 2) - logGamma(degrees / 2) - 0.5 * Math.log(degrees * Math.PI);
  let t = (low + high) / 2;
  for (let round = 0; round < 200; round++) {
    const error = studentSurvival(t, degrees) - tail;
    if (error > 0) low = t;
    else high = t;
    const density = Math.exp(logDensity - ((degrees + 1) / 2) * Math.log1p((t * t) / degrees));
    const newton = t + error / density;
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (Math.abs(next - t) <= 1e-15 * t) return next;
    t = next;
  }
  return t;
}
