// Bulk tasks about two runs, over rows in memory.
import { expect, it } from 'vitest';
import { sampleRow } from '../stats/testing/sample-rows.ts';
import { compareTasks } from './compare-tasks.ts';
import type { RunReader } from './run-reader.ts';

const runs = {
  read: (folder: string) =>
    Promise.resolve({
      record: { activeMs: 1000 },
      finals: (folder === 'first' ? [0, 1, 2] : [2, 3, 4]).map((ordinal) => sampleRow({ ordinal })),
    }),
} as unknown as RunReader;

it('calls equal only what both runs have a result of', async () => {
  const input = { baselineFolder: 'first', otherFolder: 'second', offset: 0, limit: 10 };
  const found = await compareTasks.parallelDifferences(runs, input);
  expect(found).toMatchObject({ pairs: 1, total: 0, rows: [] });
});
