// The episode table's rows, sorted and filtered, kept up to date outside React. A hot path: 100,000 rows at 200
// updates a second. A change costs a binary search and one copy of the order, never a new sort.
import type { EpisodeRow, EpisodeStatus } from '#contract/run.ts';
import { accessorOf, compareCells, errorGroupOf, type Accessor, type CellValue } from './row-columns.ts';

export interface SortKey {
  readonly column: string;
  readonly descending: boolean;
}

export interface RowView {
  readonly statuses: readonly EpisodeStatus[];
  readonly accepts: ((row: EpisodeRow) => boolean) | null;
  readonly sort: readonly SortKey[];
  readonly groupByError: boolean;
}

interface SortColumn {
  readonly read: Accessor;
  readonly descending: boolean;
}

export const plainView: RowView = { statuses: [], accepts: null, sort: [], groupByError: false };

export class RowIndex {
  /** Increases whenever what is drawn may have changed. */
  version = 0;
  readonly #rows: (EpisodeRow | undefined)[] = [];
  /** Ordinals in the order they are drawn; only the first `#length` count. */
  #order = new Int32Array(0);
  #length = 0;
  #size = 0;
  readonly #dirty = new Set<number>();
  /** Rows whose place is out of date because the table holds still. */
  readonly #waiting = new Set<number>();
  #frozen = 0;
  #view: RowView = plainView;
  #statuses: ReadonlySet<EpisodeStatus> | null = null;
  #columns: readonly SortColumn[] = [];
  readonly #counts = new Map<EpisodeStatus, number>();

  /** Rows that pass the filter. */
  get length(): number {
    return this.#length;
  }

  /** Rows known, filtered out or not. */
  get size(): number {
    return this.#size;
  }

  /** Rows that will move when the table is let go. */
  get waiting(): number {
    return this.#waiting.size;
  }

  countOf(status: EpisodeStatus): number {
    return this.#counts.get(status) ?? 0;
  }

  get(ordinal: number): EpisodeRow | undefined {
    return this.#rows[ordinal];
  }

  at(position: number): EpisodeRow | undefined {
    if (position < 0 || position >= this.#length) return undefined;
    return this.#rows[this.#order[position] ?? -1];
  }

  /** Where a row is drawn, or -1. */
  positionOf(ordinal: number): number {
    return this.#order.subarray(0, this.#length).indexOf(ordinal);
  }

  /** All known rows in plan order. */
  *rows(): IterableIterator<EpisodeRow> {
    for (const row of this.#rows) if (row) yield row;
  }

  upsert(rows: readonly EpisodeRow[]): void {
    for (const row of rows) {
      const before = this.#rows[row.ordinal];
      if (before) this.#count(before.status, -1);
      else this.#size += 1;
      this.#count(row.status, 1);
      this.#rows[row.ordinal] = row;
      this.#dirty.add(row.ordinal);
    }
  }

  /** Another sort or filter: everything is ranked anew, held or not, because the person asked for it. */
  setView(view: RowView): void {
    this.#view = view;
    this.#statuses = view.statuses.length > 0 ? new Set(view.statuses) : null;
    this.#columns = [
      ...(view.groupByError ? [{ read: groupKey, descending: false }] : []),
      ...view.sort.map((key) => ({ read: accessorOf(key.column), descending: key.descending })),
    ];
    this.#rebuild();
  }

  /**
   * The first `positions` rows stay where they are until `hold(0)`; rows below may still come and go. The held part
   * only grows: its rows are out of order, so it cannot be given back in pieces.
   */
  hold(positions: number): void {
    if (positions > 0) {
      this.#frozen = Math.max(this.#frozen, Math.min(positions, this.#length));
      return;
    }
    for (const ordinal of this.#waiting) this.#dirty.add(ordinal);
    this.#waiting.clear();
    this.#frozen = 0;
  }

  /** Gives the changed rows their places. True when something to draw changed. Call once per frame. */
  flush(): boolean {
    if (this.#dirty.size === 0) return false;
    if (this.#frozen === 0 && this.#dirty.size > this.#length / 4) this.#rebuild();
    else this.#merge();
    return true;
  }

  #merge(): void {
    const moved = this.#takeDirty();
    const isMoved = new Uint8Array(this.#rows.length);
    for (const ordinal of moved) isMoved[ordinal] = 1;
    const next = new Int32Array(this.#length + moved.length);
    next.set(this.#order.subarray(0, this.#frozen));
    let kept = this.#frozen;
    for (let at = this.#frozen; at < this.#length; at += 1) {
      const ordinal = this.#order[at] as number;
      if (isMoved[ordinal] === 0) next[kept++] = ordinal;
    }
    const added = moved.filter((ordinal) => this.#passes(ordinal)).sort((a, b) => this.#compare(a, b));
    this.#length = insertSorted(next, this.#frozen, kept, added, (a, b) => this.#compare(a, b));
    this.#order = next;
    const last = this.#lastSettledFrozen();
    if (last !== undefined)
      for (const ordinal of added) if (this.#compare(ordinal, last) < 0) this.#waiting.add(ordinal);
    this.version += 1;
  }

  /** The dirty rows that may move now; those in the frozen part wait. */
  #takeDirty(): number[] {
    for (let at = 0; at < this.#frozen; at += 1) {
      const ordinal = this.#order[at] as number;
      if (this.#dirty.delete(ordinal)) this.#waiting.add(ordinal);
    }
    const moved = [...this.#dirty];
    this.#dirty.clear();
    return moved;
  }

  /** The greatest frozen row that stands where it belongs: what ranks before it belongs among the frozen. */
  #lastSettledFrozen(): number | undefined {
    for (let at = this.#frozen - 1; at >= 0; at -= 1) {
      const ordinal = this.#order[at] as number;
      if (!this.#waiting.has(ordinal)) return ordinal;
    }
    return undefined;
  }

  #rebuild(): void {
    const passing: number[] = [];
    for (let ordinal = 0; ordinal < this.#rows.length; ordinal += 1)
      if (this.#rows[ordinal] && this.#passes(ordinal)) passing.push(ordinal);
    this.#order = Int32Array.from(passing);
    this.#length = passing.length;
    if (this.#columns.length > 0) this.#sortAll();
    this.#dirty.clear();
    this.#waiting.clear();
    this.#frozen = 0;
    this.version += 1;
  }

  #sortAll(): void {
    const keys = this.#columns.map((column) => {
      const values: CellValue[] = [];
      for (const ordinal of this.#order) values[ordinal] = column.read(this.#rows[ordinal] as EpisodeRow);
      return { values, descending: column.descending };
    });
    this.#order.sort((a, b) => {
      for (const { values, descending } of keys) {
        const order = compareCells(values[a] ?? null, values[b] ?? null, descending);
        if (order !== 0) return order;
      }
      return a - b;
    });
  }

  #compare(left: number, right: number): number {
    const [a, b] = [this.#rows[left], this.#rows[right]];
    if (a && b)
      for (const { read, descending } of this.#columns) {
        const order = compareCells(read(a), read(b), descending);
        if (order !== 0) return order;
      }
    return left - right;
  }

  #passes(ordinal: number): boolean {
    const row = this.#rows[ordinal];
    if (!row || (this.#statuses && !this.#statuses.has(row.status))) return false;
    return this.#view.accepts === null || this.#view.accepts(row);
  }

  #count(status: EpisodeStatus, change: number): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + change);
  }
}

/** Rows with errors first, by kind of error; the others after them, by status. */
function groupKey(row: EpisodeRow): string {
  const group = errorGroupOf(row);
  return group === '' ? `1 ${row.status}` : `0 ${group}`;
}

/** Puts `added` (sorted) into `target[from, to)` (sorted, with room behind it) and returns the new end. */
function insertSorted(
  target: Int32Array,
  from: number,
  to: number,
  added: readonly number[],
  compare: (left: number, right: number) => number,
): number {
  let read = to;
  let write = to + added.length;
  for (let index = added.length - 1; index >= 0; index -= 1) {
    const ordinal = added[index] as number;
    let [low, high] = [from, read];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(target[middle] as number, ordinal) < 0) low = middle + 1;
      else high = middle;
    }
    target.copyWithin(write - (read - low), low, read);
    write -= read - low + 1;
    target[write] = ordinal;
    read = low;
  }
  return to + added.length;
}
