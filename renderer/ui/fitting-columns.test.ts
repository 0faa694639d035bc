// Columns yield from the last one, what was chosen by hand stays.
import { expect, it } from 'vitest';
import { yieldedColumns } from './fitting-columns.ts';
import type { GridColumn } from './grid-types.ts';

const column = (id: string, more: Partial<GridColumn<null>> = {}): GridColumn<null> => ({
  id,
  header: id,
  width: 100,
  cell: () => null,
  text: () => '',
  ...more,
});
const metrics = ['a', 'b', 'c', 'd'].map((id) => column(id, { yields: true }));
const columns = [column('name'), ...metrics, column('error'), column('scene', { isHiddenAtFirst: true })];
const yielded = (available: number | null, chosen: Record<string, boolean> = {}): readonly string[] =>
  yieldedColumns(columns, { available, chosen, sizeOf: () => 100 });

it('hides as many as do not fit, the last ones first', () => {
  expect(yielded(null)).toEqual([]);
  expect(yielded(600)).toEqual([]);
  expect(yielded(599)).toEqual(['d']);
  expect(yielded(400)).toEqual(['c', 'd']);
  expect(yielded(10)).toEqual(['a', 'b', 'c', 'd']);
});

it('keeps what was chosen by hand, and makes room for it', () => {
  expect(yielded(500, { d: true })).toEqual(['c']);
  expect(yielded(500, { a: false })).toEqual([]);
  expect(yielded(500, { scene: true })).toEqual(['c', 'd']);
});
