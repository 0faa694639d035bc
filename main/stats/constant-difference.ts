// The interval of paired differences that are all the same: resampling them can only give that value again, which would
// claim certainty. Where every episode was lost by one side and won by the other, it is Newcombe's hybrid score interval
// (1998, method 10; the correlation term is 0 there); for other constants nothing is known of the spread.
import { wilsonInterval, type Interval } from './intervals.ts';

export type DifferenceInterval =
  | { readonly method: 'newcombe'; readonly low: number; readonly high: number }
  | { readonly method: 'none' };

/** Undefined where differences vary, or where they are all 0: two runs that did the same differ by nothing. */
export function constantDifferenceInterval(differences: readonly number[]): DifferenceInterval | undefined {
  const [first] = differences;
  if (first === undefined || first === 0 || differences.some((difference) => difference !== first))
    return undefined;
  if (Math.abs(first) !== 1) return { method: 'none' };
  const count = differences.length;
  const [never, always] = [wilsonInterval(0, count), wilsonInterval(count, count)];
  const inner = 1 - Math.hypot(never.high, 1 - always.low);
  const interval: Interval = first > 0 ? { low: inner, high: 1 } : { low: -1, high: -inner };
  return { method: 'newcombe', ...interval };
}
