// Names a filter may use: metrics first, then the row's fields under the engine's names and under those of the table.
import { toSnake } from '#contract/casing.ts';
import type { EpisodeRow } from '#contract/run.ts';
import { accessorOf, tokensOf, type Accessor, type CellValue } from './row-columns.ts';

export interface FilterField {
  readonly read: Accessor;
  /** As the engine calls it, and by what a number is multiplied for it. */
  readonly engineName: string;
  readonly engineFactor: number;
}

const field = (read: (row: EpisodeRow) => CellValue, engineName: string, engineFactor = 1): FilterField => ({
  read,
  engineName,
  engineFactor,
});

/** Fields under the engine's own names. */
const engineFields: Readonly<Record<string, FilterField>> = {
  ordinal: field((row) => row.ordinal, 'ordinal'),
  key: field((row) => row.key, 'key'),
  episode_index: field((row) => row.episodeIndex, 'episode_index'),
  episode_id: field((row) => row.episodeId, 'episode_id'),
  scene_id: field((row) => row.sceneId, 'scene_id'),
  instruction: field((row) => row.instruction, 'instruction'),
  repeat: field((row) => row.repeat, 'repeat'),
  status: field((row) => row.status, 'status'),
  attempts: field((row) => row.attempts, 'attempts'),
  steps: field((row) => row.steps, 'steps'),
  steps_taken: field((row) => row.steps, 'steps_taken'),
  duration_ms: field((row) => row.durationMs, 'duration_ms'),
  worker: field((row) => row.worker, 'worker'),
  limit: field((row) => row.limit, 'limit'),
  error_code: field((row) => row.errorCode, 'error_code'),
  error_message: field((row) => row.errorMessage, 'error_message'),
  retried: field((row) => (row.retried ? 1 : 0), 'retried'),
  chat_calls: field((row) => row.usage?.calls ?? null, 'chat_calls'),
  tokens: field((row) => tokensOf(row.usage), 'tokens'),
  cost_usd: field((row) => row.usage?.costUsd ?? null, 'cost_usd'),
};

/** Shorter names, those of the table's columns. */
const tableFields: Readonly<Record<string, FilterField>> = {
  index: field((row) => row.episodeIndex, 'episode_index'),
  episode: field((row) => row.episodeId, 'episode_id'),
  scene: field((row) => row.sceneId, 'scene_id'),
  duration: field((row) => (row.durationMs === null ? null : row.durationMs / 1000), 'duration_ms', 1000),
  error: field((row) => row.errorCode, 'error_code'),
  message: field((row) => row.errorMessage, 'error_message'),
  calls: field((row) => row.usage?.calls ?? null, 'chat_calls'),
  cost: field((row) => row.usage?.costUsd ?? null, 'cost_usd'),
};

export function filterField(name: string, metrics: readonly string[]): FilterField | undefined {
  const metric = name.startsWith('metrics.') ? name.slice('metrics.'.length) : name;
  if (metrics.includes(metric)) return field(accessorOf(`metrics.${metric}`), `metrics.${metric}`);
  const snake = toSnake(name);
  if (Object.hasOwn(engineFields, snake)) return engineFields[snake];
  return Object.hasOwn(tableFields, name) ? tableFields[name] : undefined;
}

/** Names worth offering: metrics, and each field once by its shortest name. */
export function filterNames(metrics: readonly string[]): string[] {
  const renamed = new Set(Object.values(tableFields).map(({ engineName }) => engineName));
  const fields = Object.keys(engineFields).filter(
    (name) => !renamed.has(name) && name !== 'steps_taken' && name !== 'key',
  );
  return [...metrics, ...fields, ...Object.keys(tableFields)];
}
