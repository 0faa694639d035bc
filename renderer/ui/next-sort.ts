// What a click on a column's head makes of the sort. Pure.
import type { GridSort } from './grid-types.ts';

/** Ascending, descending, off; with `isAdditional` the other columns keep their places. */
export function nextSort(sort: readonly GridSort[], column: string, isAdditional: boolean): GridSort[] {
  const current = sort.find((key) => key.column === column);
  const next: GridSort | null =
    current === undefined
      ? { column, descending: false }
      : current.descending
        ? null
        : { column, descending: true };
  if (!isAdditional) return next === null ? [] : [next];
  if (current === undefined) return next === null ? [...sort] : [...sort, next];
  return sort.flatMap((key) => (key.column !== column ? [key] : next === null ? [] : [next]));
}
