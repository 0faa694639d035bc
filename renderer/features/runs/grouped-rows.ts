// The episode table grouped by kind of error: one head per group, its rows below unless folded. Pure; walks the
// drawn order once.
import type { EpisodeRow } from '#contract/run.ts';
import { errorGroupOf } from '../../store/row-columns.ts';
import type { RowIndex } from '../../store/row-index.ts';

export interface RowGroup {
  /** Unique even while rows that hold still keep a group in pieces. */
  readonly key: string;
  readonly title: string;
  readonly isError: boolean;
  /** Position of its first row in the index, and how many there are. */
  readonly first: number;
  readonly count: number;
  /** Position of its head among the drawn items. */
  readonly at: number;
  readonly isFolded: boolean;
}

export interface GroupedRows {
  readonly groups: readonly RowGroup[];
  readonly count: number;
}

export type GroupedItem =
  | { readonly kind: 'head'; readonly group: RowGroup }
  | { readonly kind: 'row'; readonly position: number };

/** The index must be sorted with `groupByError`. */
export function groupRows(index: RowIndex, folded: ReadonlySet<string>): GroupedRows {
  const groups: RowGroup[] = [];
  let at = 0;
  let first = 0;
  while (first < index.length) {
    const title = titleOf(index.at(first));
    let end = first + 1;
    while (end < index.length && titleOf(index.at(end)) === title) end += 1;
    const row = index.at(first);
    const isFolded = folded.has(title);
    groups.push({
      key: `${title} #${row?.ordinal ?? first}`,
      title,
      isError: row?.errorCode !== null,
      first,
      count: end - first,
      at,
      isFolded,
    });
    at += 1 + (isFolded ? 0 : end - first);
    first = end;
  }
  return { groups, count: at };
}

/** What is drawn at a place. */
export function groupedItem({ groups }: GroupedRows, at: number): GroupedItem | undefined {
  const group = groups.findLast((candidate) => candidate.at <= at);
  if (!group) return undefined;
  if (group.at === at) return { kind: 'head', group };
  const offset = at - group.at - 1;
  return offset < group.count && !group.isFolded
    ? { kind: 'row', position: group.first + offset }
    : undefined;
}

/** Where a row of the index is drawn; -1 when its group is folded. */
export function placeOf({ groups }: GroupedRows, position: number): number {
  const group = groups.find(
    (candidate) => position >= candidate.first && position < candidate.first + candidate.count,
  );
  return group && !group.isFolded ? group.at + 1 + position - group.first : -1;
}

function titleOf(row: EpisodeRow | undefined): string {
  if (!row) return '';
  return errorGroupOf(row) || row.status;
}
