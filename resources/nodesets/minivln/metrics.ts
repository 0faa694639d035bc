// Navigation metrics as pure functions over any kind of position: the distance is a parameter (Euclidean here,
// graph distance for R2R). Definitions: Anderson et al. 2018 (SPL), Jain et al. 2019 (CLS), Ilharco et al. 2019 (nDTW, sDTW).

export type Distance<T> = (a: T, b: T) => number;

export interface Comparison<T> {
  readonly reference: readonly T[];
  readonly predicted: readonly T[];
  readonly distance: Distance<T>;
}

export interface ScaledComparison<T> extends Comparison<T> {
  /** The success radius, in units of the distance. */
  readonly radius: number;
}

/** Sum of the distances between consecutive positions. */
export function pathLength<T>(path: readonly T[], distance: Distance<T>): number {
  let total = 0;
  for (let i = 1; i < path.length; i++) total += distance(path[i - 1]!, path[i]!);
  return total;
}

/** Cost of the cheapest monotone alignment of both paths (dynamic time warping), with both ends aligned. */
export function dynamicTimeWarping<T>({ reference, predicted, distance }: Comparison<T>): number {
  let previous = new Float64Array(reference.length + 1).fill(Infinity);
  previous[0] = 0;
  for (const position of predicted) {
    const current = new Float64Array(reference.length + 1).fill(Infinity);
    for (const [j, anchor] of reference.entries()) {
      const best = Math.min(previous[j]!, previous[j + 1]!, current[j]!);
      current[j + 1] = distance(position, anchor) + best;
    }
    previous = current;
  }
  return previous[reference.length]!;
}

/** exp(-DTW / (|R| x radius)), in (0, 1]. Drop consecutive duplicates of the predicted path first, as VLN-CE does. */
export function normalisedDynamicTimeWarping<T>(comparison: ScaledComparison<T>): number {
  return Math.exp(-dynamicTimeWarping(comparison) / (comparison.reference.length * comparison.radius));
}

/** nDTW of a successful episode, 0 of another. */
export function successWeightedDynamicTimeWarping<T>(
  comparison: ScaledComparison<T> & { readonly success: boolean },
): number {
  return comparison.success ? normalisedDynamicTimeWarping(comparison) : 0;
}

/** Coverage weighted by length score, in [0, 1]. */
export function coverageWeightedByLengthScore<T>({
  reference,
  predicted,
  distance,
  radius,
}: ScaledComparison<T>): number {
  const near = reference.map((anchor) =>
    Math.min(...predicted.map((position) => distance(anchor, position))),
  );
  const coverage = near.reduce((sum, gap) => sum + Math.exp(-gap / radius), 0) / reference.length;
  const expected = coverage * pathLength(reference, distance);
  if (expected === 0) return 0;
  return (coverage * expected) / (expected + Math.abs(expected - pathLength(predicted, distance)));
}

/**
 * Success weighted by path length: success x ruler / max(taken, ruler). The ruler is the shortest length from
 * start to goal (Anderson et al.), or the reference path's length (DUET, NavGPT): name it beside the number.
 */
export function successWeightedByPathLength(of: {
  success: boolean;
  rulerLength: number;
  takenLength: number;
}): number {
  if (!of.success) return 0;
  const longer = Math.max(of.takenLength, of.rulerLength);
  return longer === 0 ? 1 : of.rulerLength / longer;
}

export function withoutConsecutiveDuplicates<T>(path: readonly T[], isSame: (a: T, b: T) => boolean): T[] {
  return path.filter((position, i) => i === 0 || !isSame(path[i - 1]!, position));
}
