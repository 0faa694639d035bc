// Long computations over run folders, described as plain data so that they can run in a worker thread (or, in
// simulations, in this one).
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { RunSummary } from '../contract/run.ts';
import { StudioError } from '../base/errors.ts';
import { summariseGroups, type GroupSummary } from '../stats/aggregate.ts';
import { compareRuns, type RunComparison } from '../stats/comparison.ts';
import type { ComparedRun } from '../stats/comparability.ts';
import { listFlips, type Flip } from '../stats/flips.ts';
import type { FileSystemPort } from './ports.ts';
import { readRecord } from './run-folder.ts';
import { readCountedRows, summariseFolder } from './run-rows.ts';

export interface BulkTasks {
  /** summary.json's content. */
  summarise: { input: { readonly folder: string }; output: RunSummary };
  /** The same per scene. */
  summariseScenes: { input: { readonly folder: string }; output: GroupSummary[] };
  compare: {
    input: {
      readonly baselineFolder: string;
      readonly otherFolders: readonly string[];
      readonly metricNames?: readonly string[];
      readonly commonOnly?: boolean;
    };
    output: RunComparison;
  };
  flips: {
    input: { readonly baselineFolder: string; readonly otherFolder: string; readonly metric: string };
    output: Flip[];
  };
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
    fileSystem: FileSystemPort,
    input: BulkTasks[Name]['input'],
  ) => Promise<BulkTasks[Name]['output']>;
};

const performers: Performers = {
  summarise: (fileSystem, { folder }) => summariseFolder(fileSystem, folder),
  async summariseScenes(fileSystem, { folder }) {
    const { record, finals } = await readRun(fileSystem, folder);
    return summariseGroups({ rows: finals, definitions: record.metrics });
  },
  async compare(fileSystem, { baselineFolder, otherFolders, ...options }) {
    const baseline = await readRun(fileSystem, baselineFolder);
    const others: ComparedRun[] = [];
    for (const folder of otherFolders) others.push(await readRun(fileSystem, folder));
    return compareRuns({ baseline, others, ...options });
  },
  async flips(fileSystem, { baselineFolder, otherFolder, metric }) {
    const baseline = await readRun(fileSystem, baselineFolder);
    const other = await readRun(fileSystem, otherFolder);
    const definition = metricNamed(baseline.record.metrics, metric);
    return listFlips({ baseline: baseline.finals, other: other.finals, metric: definition });
  },
};

export function performBulkTask<Name extends BulkTaskName>(
  fileSystem: FileSystemPort,
  name: Name,
  input: BulkTasks[Name]['input'],
): Promise<BulkTasks[Name]['output']> {
  return performers[name](fileSystem, input);
}

/** In the calling thread: for tests and simulations, where the file system is not the real one. */
export function createInThreadBulkWork(fileSystem: FileSystemPort): BulkWork {
  return {
    run: (name, input) => performBulkTask(fileSystem, name, input),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function readRun(fileSystem: FileSystemPort, folder: string): Promise<ComparedRun> {
  const { record } = await readRecord(fileSystem, folder);
  const { finals } = await readCountedRows(fileSystem, folder, record.plan);
  return { record, finals };
}

function metricNamed(definitions: readonly MetricDefinition[], name: string): MetricDefinition {
  const found = definitions.find((definition) => definition.name === name);
  if (found) return found;
  const known = definitions.map((definition) => definition.name).join(', ');
  throw new StudioError('not_found', `The run has no metric "${name}". It has: ${known}`);
}
