// Mean, spread and quantiles of finite numbers. Sums are compensated, so that the order of rows does not show.

export type Numbers = readonly number[] | Float64Array;

/** Neumaier's compensated sum. */
export function sumOf(values: Numbers): number {
  let sum = 0;
  let lost = 0;
  for (const value of values) {
    const total = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - total + value : value - total + sum;
    sum = total;
  }
  return sum + lost;
}

/** Null when there are no values. */
export function meanOf(values: Numbers): number | null {
  return values.length === 0 ? null : sumOf(values) / values.length;
}

/** Sample standard deviation (n - 1); null for fewer than two values. */
export function sampleSd(values: Numbers): number | null {
  const mean = meanOf(values);
  if (mean === null || values.length < 2) return null;
  const squares = Float64Array.from(values, (value) => (value - mean) ** 2);
  return Math.sqrt(sumOf(squares) / (values.length - 1));
}

/** Null when there are no values. */
export function medianOf(values: Numbers): number | null {
  return values.length === 0 ? null : quantileOfSorted(Float64Array.from(values).sort(), 0.5);
}

/** Linear interpolation between order statistics (numpy's default, R's type 7). `sorted` must not be empty. */
export function quantileOfSorted(sorted: Float64Array, q: number): number {
  const position = q * (sorted.length - 1);
  const below = Math.floor(position);
  const low = sorted[below] ?? Number.NaN;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? Number.NaN;
  return low === high ? low : low + (high - low) * (position - below);
}
