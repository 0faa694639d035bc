// The index is compared with the plain answer: filter and sort everything.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EpisodeRow, EpisodeStatus } from '#contract/run.ts';
import { accessorOf, compareCells, errorGroupOf } from './row-columns.ts';
import { plainView, RowIndex, type RowView } from './row-index.ts';

const statuses: readonly EpisodeStatus[] = ['completed', 'error', 'timeout', 'pending', 'running'];

function rowOf(ordinal: number, change: Partial<EpisodeRow> = {}): EpisodeRow {
  return {
    ordinal,
    key: `k${ordinal}`,
    episodeIndex: ordinal,
    episodeId: `e${ordinal}`,
    sceneId: null,
    instruction: null,
    repeat: 0,
    status: 'completed',
    attempts: 1,
    metrics: {},
    steps: null,
    durationMs: null,
    worker: null,
    limit: null,
    errorCode: null,
    errorMessage: null,
    retried: false,
    ...change,
  };
}

const drawn = (index: RowIndex): number[] =>
  Array.from({ length: index.length }, (_unused, at) => index.at(at)?.ordinal ?? -1);

function expected(rows: readonly EpisodeRow[], view: RowView): number[] {
  return rows
    .filter((row) => view.statuses.length === 0 || view.statuses.includes(row.status))
    .filter((row) => view.accepts?.(row) ?? true)
    .toSorted((a, b) => {
      for (const { column, descending } of view.sort) {
        const read = accessorOf(column);
        const order = compareCells(read(a), read(b), descending);
        if (order !== 0) return order;
      }
      return a.ordinal - b.ordinal;
    })
    .map((row) => row.ordinal);
}

const change = fc.record({
  ordinal: fc.integer({ min: 0, max: 40 }),
  steps: fc.option(fc.integer({ min: 0, max: 5 })),
  spl: fc.constantFrom(0, 0.5, 1, null, 'nan' as const, 'inf' as const),
  status: fc.constantFrom(...statuses),
});
const views: readonly RowView[] = [
  plainView,
  { ...plainView, sort: [{ column: 'steps', descending: true }] },
  {
    ...plainView,
    statuses: ['completed', 'error'],
    sort: [
      { column: 'metrics.spl', descending: false },
      { column: 'steps', descending: true },
    ],
  },
  { ...plainView, accepts: (row) => (row.steps ?? 0) > 2, sort: [{ column: 'status', descending: false }] },
];

const apply = (
  batch: readonly {
    ordinal: number;
    steps: number | null;
    spl: EpisodeRow['metrics'][string];
    status: EpisodeStatus;
  }[],
) => batch.map(({ ordinal, steps, spl, status }) => rowOf(ordinal, { steps, status, metrics: { spl } }));

describe('RowIndex', () => {
  it('draws what filtering and sorting everything would draw, whatever the updates', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...views),
        fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 12 }),
        (view, batches) => {
          const index = new RowIndex();
          index.setView(view);
          const known = new Map<number, EpisodeRow>();
          for (const batch of batches) {
            const rows = apply(batch);
            for (const row of rows) known.set(row.ordinal, row);
            index.upsert(rows);
            index.flush();
            expect(drawn(index)).toEqual(expected([...known.values()], view));
            expect(index.size).toBe(known.size);
          }
        },
      ),
      { numRuns: 300, seed: 7 },
    );
  });

  it('keeps the held rows in place and ranks everything when let go', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...views),
        fc.array(change, { minLength: 5, maxLength: 40 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 8 }),
        (view, first, held, batches) => {
          const index = new RowIndex();
          index.setView(view);
          const known = new Map<number, EpisodeRow>();
          const give = (rows: readonly EpisodeRow[]): void => {
            for (const row of rows) known.set(row.ordinal, row);
            index.upsert(rows);
            index.flush();
          };
          give(apply(first));
          const frozen = drawn(index).slice(0, held);
          for (const batch of batches) {
            index.hold(held);
            give(apply(batch));
            expect(drawn(index).slice(0, frozen.length)).toEqual(frozen);
            expect(new Set(drawn(index)).size).toBe(index.length);
          }
          index.hold(0);
          index.flush();
          expect(index.waiting).toBe(0);
          expect(drawn(index)).toEqual(expected([...known.values()], view));
        },
      ),
      { numRuns: 300, seed: 11 },
    );
  });

  it('shows the new values of held rows at once', () => {
    const index = new RowIndex();
    index.setView({ ...plainView, sort: [{ column: 'steps', descending: true }] });
    index.upsert([rowOf(0, { steps: 9 }), rowOf(1, { steps: 5 })]);
    index.flush();
    index.hold(2);
    index.upsert([rowOf(1, { steps: 50 })]);
    index.flush();
    expect(drawn(index)).toEqual([0, 1]);
    expect(index.at(1)?.steps).toBe(50);
    expect(index.waiting).toBe(1);
  });

  it('puts what is not measured last in both directions and counts by status', () => {
    const index = new RowIndex();
    index.upsert([
      rowOf(0, { steps: null, status: 'pending' }),
      rowOf(1, { steps: 3 }),
      rowOf(2, { steps: 8 }),
    ]);
    index.setView({ ...plainView, sort: [{ column: 'steps', descending: true }] });
    expect(drawn(index)).toEqual([2, 1, 0]);
    index.setView({ ...plainView, sort: [{ column: 'steps', descending: false }] });
    expect(drawn(index)).toEqual([1, 2, 0]);
    expect([index.countOf('completed'), index.countOf('pending'), index.countOf('error')]).toEqual([2, 1, 0]);
  });

  it('groups failures whose messages differ only in numbers, before the rest', () => {
    const fail = (ordinal: number, message: string): EpisodeRow =>
      rowOf(ordinal, { status: 'died', errorCode: 'process_died', errorMessage: message });
    const index = new RowIndex();
    index.upsert([
      rowOf(0),
      fail(1, 'SIGSEGV in step 12'),
      rowOf(2),
      fail(3, 'exit 1'),
      fail(4, 'SIGSEGV in step 7'),
    ]);
    index.setView({ ...plainView, groupByError: true });
    expect(errorGroupOf(fail(1, 'SIGSEGV in step 12'))).toBe(errorGroupOf(fail(4, 'SIGSEGV in step 7')));
    expect(drawn(index)).toEqual([1, 4, 3, 0, 2]);
  });

  it('keeps 100,000 rows sorted through 200 updates in well under a second', () => {
    const index = new RowIndex();
    const rows = Array.from({ length: 100_000 }, (_unused, ordinal) =>
      rowOf(ordinal, { steps: (ordinal * 7919) % 500, metrics: { spl: ((ordinal * 31) % 100) / 100 } }),
    );
    index.upsert(rows);
    index.setView({
      ...plainView,
      sort: [
        { column: 'metrics.spl', descending: true },
        { column: 'steps', descending: false },
      ],
    });
    const before = performance.now();
    for (let tick = 0; tick < 200; tick += 1) {
      index.upsert([rowOf((tick * 499) % 100_000, { steps: tick, metrics: { spl: 0.5 } })]);
      index.flush();
    }
    const elapsedMs = performance.now() - before;
    expect(index.length).toBe(100_000);
    expect(elapsedMs / 200).toBeLessThan(8);
  });
});
