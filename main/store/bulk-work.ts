// Long computations over run folders, described as plain data so that they can run in a worker thread (or, in
// simulations, in this one).
import type { RunSummary } from '../contract/run.ts';
import { summarise } from '../stats/aggregate.ts';
import { compareTasks, type CompareTasks } from './compare-tasks.ts';
import { indexTasks, type IndexTasks } from './index-tasks.ts';
import type { FileSystemPort } from './ports.ts';
import { recordingTasks, type RecordingTasks } from './recording-tasks.ts';
import { RunReader } from './run-reader.ts';
import { transferTasks, type TransferTasks } from './transfer-tasks.ts';

export interface BulkTasks extends CompareTasks, IndexTasks, RecordingTasks, TransferTasks {
  /** summary.json's content. */
  summarise: { input: { readonly folder: string }; output: RunSummary };
}

export type BulkTaskName = keyof BulkTasks;

export interface BulkWork extends AsyncDisposable {
  run<Name extends BulkTaskName>(
    name: Name,
    input: BulkTasks[Name]['input'],
    signal?: AbortSignal,
  ): Promise<BulkTasks[Name]['output']>;
}

type Performers = {
  readonly [Name in BulkTaskName]: (
    runs: RunReader,
    input: BulkTasks[Name]['input'],
  ) => Promise<BulkTasks[Name]['output']>;
};

const performers: Performers = {
  ...compareTasks,
  ...indexTasks,
  ...recordingTasks,
  ...transferTasks,
  async summarise(runs, { folder }) {
    const { record, finals, firsts, usage } = await runs.read(folder);
    return summarise({
      usage,
      rows: finals,
      planned: record.plan.length,
      definitions: record.metrics,
      firstAttempts: firsts,
    });
  },
};

export type PerformBulkTask = <Name extends BulkTaskName>(
  name: Name,
  input: BulkTasks[Name]['input'],
) => Promise<BulkTasks[Name]['output']>;

/** Keeps the runs it read last. */
export function createPerformer(fileSystem: FileSystemPort): PerformBulkTask {
  const runs = new RunReader(fileSystem);
  return (name, input) => performers[name](runs, input);
}

/** In the calling thread: for tests and simulations, where the file system is not the real one. */
export function createInThreadBulkWork(fileSystem: FileSystemPort): BulkWork {
  return {
    run: createPerformer(fileSystem),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
