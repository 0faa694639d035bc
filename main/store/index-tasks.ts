// Bulk task about the index: one run of many episodes, read and written on a connection of its own while the engine's
// keeps answering.
import { StudioError, messageOf } from '../base/errors.ts';
import { isDamage, openDatabase } from './index-database.ts';
import { indexRun } from './index-run.ts';
import { RunIndex, type RunStamp } from './run-index.ts';
import type { RunReader } from './run-reader.ts';

export interface IndexTasks {
  /** Answers how much of the journal is indexed. */
  indexRun: {
    input: { readonly folder: string; readonly indexPath: string; readonly stamp: RunStamp };
    output: number;
  };
}

export const indexTasks = {
  async indexRun(
    { fileSystem }: RunReader,
    { folder, indexPath, stamp }: IndexTasks['indexRun']['input'],
  ): Promise<number> {
    try {
      const { database } = openDatabase(indexPath);
      try {
        const index = new RunIndex(database);
        return await indexRun({ fileSystem, folder, index, stamp, nextTurn: () => Promise.resolve() });
      } finally {
        database.close();
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      // SQLite's own number does not come through to the other thread.
      throw new StudioError('corrupt', messageOf(error), { details: { isIndexDamage: true } });
    }
  },
};
