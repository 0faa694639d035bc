// How a column reads an episode row: one table for sorting, filtering, copying and drawing. Durations are seconds,
// what is not known or not measured is null. Pure.
import type { EpisodeRow, MetricValue } from '#contract/run.ts';

export type CellValue = number | string | null;
export type Accessor = (row: EpisodeRow) => CellValue;

const fields: Readonly<Record<string, Accessor>> = {
  ordinal: (row) => row.ordinal,
  index: (row) => row.episodeIndex,
  episode: (row) => row.episodeId ?? (row.episodeIndex === null ? null : String(row.episodeIndex)),
  scene: (row) => row.sceneId,
  instruction: (row) => row.instruction,
  repeat: (row) => row.repeat,
  status: (row) => row.status,
  attempts: (row) => row.attempts,
  steps: (row) => row.steps,
  duration: (row) => (row.durationMs === null ? null : row.durationMs / 1000),
  worker: (row) => row.worker,
  limit: (row) => row.limit,
  error: (row) => row.errorCode,
  message: (row) => row.errorMessage,
  retried: (row) => (row.retried ? 1 : 0),
  calls: (row) => row.usage?.calls ?? null,
  tokens: (row) => tokensOf(row.usage),
  cost: (row) => row.usage?.costUsd ?? null,
};

/** Asked and answered; null when one of them is unknown. */
export function tokensOf(usage: EpisodeRow['usage']): number | null {
  if (!usage || usage.inputTokens === null || usage.outputTokens === null) return null;
  return usage.inputTokens + usage.outputTokens;
}

/** A metric's value as a number; NaN and the infinities are numbers here, null is "not measured". */
export function metricNumber(value: MetricValue | undefined): number | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return value;
  return value === 'nan' ? Number.NaN : value === 'inf' ? Infinity : -Infinity;
}

/** `steps`, `metrics.spl`, or `spl`: a row's field, else the metric of that name. */
export function accessorOf(column: string): Accessor {
  const field = Object.hasOwn(fields, column) ? fields[column] : undefined;
  if (field) return field;
  const metric = column.startsWith('metrics.') ? column.slice('metrics.'.length) : column;
  return (row) => metricNumber(row.metrics[metric]);
}

/** Numbers before text, NaN after numbers, what is unknown last whatever the direction. */
export function compareCells(left: CellValue, right: CellValue, descending: boolean): number {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  const order = comparePresent(left, right);
  return descending ? -order : order;
}

function comparePresent(left: number | string, right: number | string): number {
  if (typeof left === 'number' && typeof right === 'number') {
    if (left < right) return -1;
    if (left > right) return 1;
    return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  }
  if (typeof left === 'number') return -1;
  if (typeof right === 'number') return 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Rows with the same kind of failure share a group: digits and hex of a message do not tell them apart. */
export function errorGroupOf(row: EpisodeRow): string {
  if (row.errorCode === null) return '';
  const line = (row.errorMessage ?? '').split('\n', 1)[0] ?? '';
  return `${row.errorCode}: ${line.replace(/0x[0-9a-f]+|\d+(\.\d+)?/gi, '#').slice(0, 160)}`;
}
