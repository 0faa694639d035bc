// Rows and definitions for tests; every field can be overridden.
import { evalConfig } from '../../contract/eval-config.ts';
import type { MetricDefinition } from '../../contract/nodeset.ts';
import type { EpisodeAttempt, PlannedEpisode } from '../../contract/run.ts';
import type { ComparedRun } from '../comparability.ts';

export const success: MetricDefinition = {
  name: 'success',
  unit: '',
  kind: 'rate',
  higherIsBetter: true,
  worst: 0,
};

export const spl: MetricDefinition = { name: 'spl', unit: '', kind: 'mean', higherIsBetter: true, worst: 0 };

export const pathLength: MetricDefinition = {
  name: 'path_length',
  unit: 'm',
  kind: 'mean',
  higherIsBetter: null,
  worst: null,
};

export function sampleRow(overrides: Partial<EpisodeAttempt> & { readonly ordinal: number }): EpisodeAttempt {
  const { ordinal } = overrides;
  return {
    key: `${String(ordinal).padStart(5, '0')}-00000000`,
    episodeIndex: ordinal,
    episodeId: `episode-${ordinal}`,
    sceneId: `scene-${ordinal % 3}`,
    instruction: null,
    repeat: 0,
    seed: 1,
    attempt: 1,
    epoch: 0,
    final: true,
    status: 'completed',
    metrics: {},
    steps: 10,
    stepBudget: 100,
    limit: null,
    startedAt: '2026-11-30T12:00:00.000Z',
    durationMs: 50,
    worker: 0,
    replica: null,
    error: null,
    nodeErrors: [],
    recording: 'none',
    ...overrides,
  };
}

export function planOf(rows: readonly EpisodeAttempt[]): PlannedEpisode[] {
  return rows.map(({ ordinal, key, episodeIndex, episodeId, repeat, seed }) => ({
    ordinal,
    key,
    episodeIndex,
    episodeId,
    repeat,
    seed,
  }));
}

export function sampleRun(
  runId: string,
  finals: readonly EpisodeAttempt[],
  overrides: Partial<ComparedRun['record']> = {},
): ComparedRun {
  return {
    finals,
    record: {
      runId,
      name: runId,
      envName: 'minivln',
      split: 'val_unseen',
      config: evalConfig.parse({ graph: 'some_graph' }),
      stepBudget: 100,
      perStepBudgetSec: 30,
      plan: planOf(finals),
      metrics: [success, spl, pathLength],
      ...overrides,
    },
  };
}
