// What every row of the reliability table is: a seeded experiment that gives figures and says whether the promise held.

export type Scale = 'full' | 'reduced';

export interface RowOptions {
  readonly seed: number;
  readonly scale: Scale;
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

export interface RowResult {
  readonly name: string;
  readonly figures: Readonly<Record<string, number | string>>;
  readonly ok: boolean;
  readonly details?: unknown;
}

export interface RowModule {
  readonly run: (options: RowOptions) => Promise<RowResult>;
}

/** The nearest-rank percentile; NaN of nothing. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function largest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

export function atScale<Value>(scale: Scale, full: Value, reduced: Value): Value {
  return scale === 'full' ? full : reduced;
}

/** Counts what went wrong and keeps the first few stories. */
export class Faults {
  readonly stories: string[] = [];
  count = 0;

  add(story: string): void {
    this.count++;
    if (this.stories.length < 20) this.stories.push(story);
  }

  check(holds: boolean, story: () => string): void {
    if (!holds) this.add(story());
  }
}
