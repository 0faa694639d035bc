// Which columns stay out of sight at first, so that a table need not scroll sideways. Pure.
import type { GridColumn } from './grid-types.ts';

export interface Fit {
  /** Pixels there are; null while unknown: then all fit. */
  readonly available: number | null;
  readonly sizeOf: (id: string) => number;
  /** What somebody chose by hand: it holds, and counts. */
  readonly chosen: Readonly<Record<string, boolean>>;
}

/** Ids of columns that yield, beginning with the last: those before a column that is shown are shown too. */
export function yieldedColumns<Row>(columns: readonly GridColumn<Row>[], fit: Fit): readonly string[] {
  const { available, sizeOf, chosen } = fit;
  if (available === null) return [];
  const isOpen = ({ id, yields }: GridColumn<Row>): boolean => yields === true && chosen[id] === undefined;
  const isShown = (column: GridColumn<Row>): boolean => chosen[column.id] ?? !column.isHiddenAtFirst;
  let used = columns
    .filter((column) => !isOpen(column) && isShown(column))
    .reduce((sum, { id }) => sum + sizeOf(id), 0);
  let isFull = false;
  return columns.filter(isOpen).flatMap(({ id }) => {
    used += sizeOf(id);
    isFull ||= used > available;
    return isFull ? [id] : [];
  });
}
