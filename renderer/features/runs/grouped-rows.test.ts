// Heads and rows take the places they should, folded or not.
import { describe, expect, it } from 'vitest';
import type { EpisodeRow } from '#contract/run.ts';
import { plainView, RowIndex } from '../../store/row-index.ts';
import { groupedItem, groupRows, placeOf } from './grouped-rows.ts';

const rowOf = (ordinal: number, errorMessage: string | null): EpisodeRow => ({
  ordinal,
  key: '',
  episodeIndex: ordinal,
  episodeId: null,
  sceneId: null,
  instruction: null,
  repeat: 0,
  status: errorMessage === null ? 'completed' : 'error',
  attempts: 1,
  metrics: {},
  steps: null,
  durationMs: null,
  worker: null,
  limit: null,
  errorCode: errorMessage === null ? null : 'node_failed',
  errorMessage,
  retried: false,
});

const index = new RowIndex();
index.upsert([
  rowOf(0, null),
  rowOf(1, 'step 3 failed'),
  rowOf(2, null),
  rowOf(3, 'step 9 failed'),
  rowOf(4, 'other'),
]);
index.setView({ ...plainView, groupByError: true });

describe('grouped rows', () => {
  it('puts a head before each group', () => {
    const grouped = groupRows(index, new Set());
    expect(grouped.groups.map((group) => [group.title, group.count, group.at])).toEqual([
      ['node_failed: other', 1, 0],
      ['node_failed: step # failed', 2, 2],
      ['completed', 2, 5],
    ]);
    expect(grouped.count).toBe(8);
    const drawn = Array.from({ length: 8 }, (_unused, at) => groupedItem(grouped, at));
    expect(drawn.map((item) => (item?.kind === 'row' ? index.at(item.position)?.ordinal : 'head'))).toEqual([
      'head',
      4,
      'head',
      1,
      3,
      'head',
      0,
      2,
    ]);
    expect(placeOf(grouped, index.positionOf(3))).toBe(4);
  });

  it('folds a group away', () => {
    const grouped = groupRows(index, new Set(['node_failed: step # failed']));
    expect(grouped.count).toBe(6);
    expect(groupedItem(grouped, 3)?.kind).toBe('head');
    expect(placeOf(grouped, index.positionOf(3))).toBe(-1);
    expect(groupedItem(grouped, 99)).toBeUndefined();
  });
});
