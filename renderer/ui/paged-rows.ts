// A long list read page by page as it is looked at. Rows stay drawn while newer ones are fetched; answers to older
// questions are dropped.
import type { RequestError } from '../api/request-error.ts';
import { isAborted, toRequestError } from '../api/request-error.ts';

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

export type FetchPage<Row> = (offset: number, limit: number, signal: AbortSignal) => Promise<Page<Row>>;

export class PagedRows<Row> {
  /** Increases whenever something to draw changed. */
  version = 0;
  total: number | null = null;
  error: RequestError | null = null;
  readonly #fetch: FetchPage<Row>;
  readonly #pageSize: number;
  readonly #rows: (Row | undefined)[] = [];
  readonly #fresh = new Set<number>();
  readonly #loading = new Map<number, AbortController>();
  readonly #listeners = new Set<() => void>();
  #window = { first: 0, last: 0 };

  constructor(fetch: FetchPage<Row>, pageSize = 200) {
    this.#fetch = fetch;
    this.#pageSize = pageSize;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly getVersion = (): number => this.version;

  get(position: number): Row | undefined {
    return this.#rows[position];
  }

  /** Rows known, in order; for finding one by its identity. */
  find(matches: (row: Row) => boolean): number {
    return this.#rows.findIndex((row) => row !== undefined && matches(row));
  }

  /** The part that is looked at: its pages are fetched unless they are fresh, and what is scrolled to next. */
  show(first: number, last: number): void {
    this.#window = { first, last: Math.max(first, last) };
    const ahead = this.#pageSize / 2;
    const from = Math.floor(Math.max(0, first - ahead) / this.#pageSize);
    const end = this.#window.last + (this.total === null ? 0 : ahead);
    const to = Math.floor(Math.max(0, Math.min(end, (this.total ?? Infinity) - 1)) / this.#pageSize);
    for (let page = from; page <= to; page += 1) this.#load(page);
  }

  /** Everything may have changed: what is looked at is fetched anew, the rest when it is looked at. */
  invalidate(): void {
    for (const controller of this.#loading.values()) controller.abort();
    this.#loading.clear();
    this.#fresh.clear();
    this.show(this.#window.first, this.#window.last);
  }

  dispose(): void {
    for (const controller of this.#loading.values()) controller.abort();
    this.#listeners.clear();
  }

  #load(page: number): void {
    if (this.#fresh.has(page) || this.#loading.has(page)) return;
    const controller = new AbortController();
    this.#loading.set(page, controller);
    const offset = page * this.#pageSize;
    this.#fetch(offset, this.#pageSize, controller.signal).then(
      ({ rows, total }) => {
        if (controller.signal.aborted) return;
        this.#settle(page);
        this.#fresh.add(page);
        this.total = total;
        this.error = null;
        for (let at = 0; at < this.#pageSize; at += 1) this.#rows[offset + at] = rows[at];
        this.#rows.length = Math.min(this.#rows.length, total);
        this.#tell();
      },
      (thrown: unknown) => {
        if (controller.signal.aborted || isAborted(thrown)) return;
        this.#settle(page);
        this.error = toRequestError(thrown);
        this.#tell();
      },
    );
  }

  #settle(page: number): void {
    this.#loading.delete(page);
  }

  #tell(): void {
    this.version += 1;
    for (const listener of this.#listeners) listener();
  }
}
