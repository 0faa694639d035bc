// Makes a finished run of imported episodes. Its seed and, unless told, its budget are not known, and comparisons say so.
import type { Clock } from './base/clock.ts';
import { evalConfig } from './contract/eval-config.ts';
import type { MetricDefinition } from './contract/nodeset.ts';
import type { EpisodeAttempt, PlannedEpisode, RunRecord } from './contract/run.ts';
import { metricOf } from './nodeset/metric-table.ts';
import type { ImportedEpisode, ImportedRun } from './store/import-episodes.ts';
import type { RunStore } from './store/ports.ts';
import { collectProvenance } from './store/provenance.ts';
import { createRunId, episodeKey } from './store/run-id.ts';
import { appVersion } from './version.ts';

export interface ImportRequest {
  readonly store: RunStore;
  readonly clock: Clock;
  readonly workspaceFolder: string;
  readonly imported: ImportedRun;
  /** The graph as it was run, where it is known and can be read. */
  readonly graphText: string | null;
  /** Where it came from, for people. */
  readonly source: string;
  readonly name: string;
  readonly environment: string;
  readonly split: string;
  readonly stepBudget?: number | undefined;
}

/** Rows written at a time: they share their commits. */
const chunkRows = 500;

export async function importEpisodes(request: ImportRequest): Promise<RunRecord> {
  const { store, imported } = request;
  const plan = planOf(imported);
  const record = await recordOf(request, plan);
  const handle = await store.create({ record, graphText: request.graphText ?? emptyGraph(record.graphName) });
  await using _closed = handle;
  const budget = record.stepBudget ?? Math.max(1, ...imported.episodes.map(({ steps }) => steps));
  const rows = imported.episodes.map((episode, ordinal) =>
    rowOf(episode, { planned: plan[ordinal], budget, record }),
  );
  for (let at = 0; at < rows.length; at += chunkRows)
    await Promise.all(rows.slice(at, at + chunkRows).map((row) => handle.append(row)));
  const isComplete = imported.notRun === 0;
  const isClean = imported.episodes.every(({ status }) => status === 'completed');
  const status = isComplete ? (isClean ? 'completed' : 'completed_with_errors') : 'cancelled';
  await handle.finish(status, imported.finishedAt ? { finishedAt: imported.finishedAt } : {});
  return handle.record;
}

function planOf({ episodes, notRun, selectors }: ImportedRun): PlannedEpisode[] {
  const known = episodes.map(({ episodeId, episodeIndex, repeat }) => ({ episodeId, episodeIndex, repeat }));
  const unknown = Array.from({ length: notRun }, () => ({ episodeId: null, episodeIndex: null, repeat: 0 }));
  return [...known, ...unknown].map((identity, ordinal) => ({
    ordinal,
    key: episodeKey({ ordinal, ...identity, selectors }),
    ...identity,
    seed: 0,
  }));
}

async function recordOf(request: ImportRequest, plan: readonly PlannedEpisode[]): Promise<RunRecord> {
  const { clock, imported, source, workspaceFolder } = request;
  const graphName = imported.graphName ?? 'imported';
  const now = new Date(clock.now()).toISOString();
  const split = request.split || imported.split;
  return {
    formatVersion: 1,
    runId: createRunId(clock),
    name: request.name || source,
    parentRun: null,
    status: 'preparing',
    config: evalConfig.parse({ graph: graphName, selectors: imported.selectors, recording: 'none' }),
    graphName,
    graphPath: '',
    envNodeset: imported.envNodeset,
    envName: request.environment || imported.envNodeset,
    split,
    metrics: imported.metrics.map(definitionOf),
    stepBudget: request.stepBudget ?? imported.stepBudget,
    perStepBudgetSec: 30,
    plan: [...plan],
    provenance: await collectProvenance({ appVersion, graphHash: '', workspaceFolder }),
    createdAt: now,
    startedAt: imported.startedAt,
    finishedAt: null,
    activeMs: imported.activeMs,
    error: null,
    pausedBecause: null,
    tags: ['imported'],
    note: imported.warnings.join('\n'),
    importedFrom: source,
  };
}

/** A known name says what it is. Values of only 0 and 1 are a rate, whose direction nobody told. */
function definitionOf({ name, isBinary }: ImportedRun['metrics'][number]): MetricDefinition {
  const known = metricOf(name);
  return known.kind === 'mean' && known.higherIsBetter === null && isBinary
    ? { ...known, kind: 'rate' }
    : known;
}

interface RowContext {
  readonly planned: PlannedEpisode | undefined;
  readonly budget: number;
  readonly record: RunRecord;
}

function rowOf(episode: ImportedEpisode, { planned, budget, record }: RowContext): EpisodeAttempt {
  const { errorMessage, status, ...facts } = episode;
  const isFailed = status !== 'completed';
  return {
    ...facts,
    metrics: { ...facts.metrics },
    ordinal: planned?.ordinal ?? 0,
    key: planned?.key ?? '',
    seed: 0,
    attempt: 1,
    epoch: 0,
    final: true,
    status,
    stepBudget: budget,
    limit: null,
    startedAt: record.startedAt ?? record.createdAt,
    replica: null,
    error: isFailed
      ? {
          code: status === 'timeout' ? 'timeout' : status === 'no_verdict' ? 'no_verdict' : 'remote_error',
          message: errorMessage ?? 'no reason was recorded',
          scope: {},
          details: {},
        }
      : null,
    nodeErrors: [],
    recording: 'none',
  };
}

function emptyGraph(name: string): string {
  return `${JSON.stringify({ name, description: 'The graph of an imported run is not known.', nodes: [], edges: [] }, null, 1)}\n`;
}
