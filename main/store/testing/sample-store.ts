// Runs, rows and temporary folders for the store's tests.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { evalConfig } from '../../contract/eval-config.ts';
import type { EpisodeAttempt, PlannedEpisode, RunRecord } from '../../contract/run.ts';
import { sampleRow, spl, success } from '../../stats/testing/sample-rows.ts';
import { nodeFileSystem } from '../node-file-system.ts';
import type { RunStore } from '../ports.ts';
import { episodeKey } from '../run-id.ts';
import { openRunStore, type RunStoreOptions } from '../run-store.ts';

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'store-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export function samplePlan(episodes: number, repeats = 1): PlannedEpisode[] {
  return Array.from({ length: episodes * repeats }, (_, ordinal) => {
    const episodeIndex = Math.floor(ordinal / repeats);
    const identity = { ordinal, episodeId: `e${episodeIndex}`, episodeIndex, repeat: ordinal % repeats };
    return { ...identity, key: episodeKey({ ...identity, selectors: { split: 'test' } }), seed: ordinal };
  });
}

export function sampleRecord(overrides: Partial<RunRecord> = {}): RunRecord {
  return {
    formatVersion: 1,
    runId: '20261130T120000.000Z-aaaaaa',
    name: 'a run',
    parentRun: null,
    status: 'queued',
    config: evalConfig.parse({ graph: 'some_graph', selectors: { my_split: 'test' } }),
    graphName: 'some_graph',
    graphPath: 'graphs/some_graph.json',
    envNodeset: 'env_minivln',
    envName: 'minivln',
    split: 'test',
    metrics: [success, spl],
    stepBudget: 100,
    perStepBudgetSec: 30,
    plan: samplePlan(10),
    provenance: {
      appVersion: '0.1.0',
      gitCommit: null,
      graphHash: 'abc',
      nodesets: [],
      interpreters: [],
      models: [],
      host: 'here',
      os: 'some',
      cpu: 'some',
      cores: 2,
      memoryBytes: 1,
      gpu: null,
    },
    createdAt: '2026-11-30T12:00:00.000Z',
    startedAt: null,
    finishedAt: null,
    activeMs: 0,
    error: null,
    pausedBecause: null,
    tags: [],
    note: '',
    ...overrides,
  };
}

/** A row of a planned episode. */
export function rowOf(planned: PlannedEpisode, overrides: Partial<EpisodeAttempt> = {}): EpisodeAttempt {
  return sampleRow({ ...planned, metrics: { success: planned.ordinal % 2, spl: 0.25 }, ...overrides });
}

export function storeOptions(folder: string): RunStoreOptions {
  return {
    fileSystem: nodeFileSystem,
    clock: systemClock,
    runsFolder: join(folder, 'eval_runs'),
    trashFolder: join(folder, '.trash'),
    indexPath: join(folder, '.cache', 'index.sqlite'),
  };
}

export function openSampleStore(folder: string, overrides: Partial<RunStoreOptions> = {}): Promise<RunStore> {
  return openRunStore({ ...storeOptions(folder), ...overrides });
}
