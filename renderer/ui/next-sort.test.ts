// Clicks on column heads.
import { describe, expect, it } from 'vitest';
import { nextSort } from './next-sort.ts';

const up = (column: string) => ({ column, descending: false });
const down = (column: string) => ({ column, descending: true });

describe('next sort', () => {
  it('goes up, down and off with plain clicks, replacing other columns', () => {
    expect(nextSort([], 'a', false)).toEqual([up('a')]);
    expect(nextSort([up('a')], 'a', false)).toEqual([down('a')]);
    expect(nextSort([down('a')], 'a', false)).toEqual([]);
    expect(nextSort([up('a'), up('b')], 'c', false)).toEqual([up('c')]);
  });

  it('adds, turns and takes out a column with Shift, keeping the others in order', () => {
    expect(nextSort([up('a')], 'b', true)).toEqual([up('a'), up('b')]);
    expect(nextSort([up('a'), up('b')], 'a', true)).toEqual([down('a'), up('b')]);
    expect(nextSort([down('a'), up('b')], 'a', true)).toEqual([up('b')]);
  });
});
