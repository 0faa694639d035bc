// Episode rows as Parquet: one column per field and metric. Not measured is null; NaN and infinities are themselves.
import { parquetWriteBuffer } from 'hyparquet-writer';
import { toSnake } from '../contract/casing.ts';
import type { EpisodeRow, MetricValue } from '../contract/run.ts';
import type { ExportContext } from './export-rows.ts';

type Column = NonNullable<Parameters<typeof parquetWriteBuffer>[0]>['columnData'][number];

const texts = [
  'key',
  'episodeId',
  'sceneId',
  'instruction',
  'status',
  'limit',
  'errorCode',
  'errorMessage',
  'startedAt',
] as const;
const integers = ['ordinal', 'episodeIndex', 'repeat', 'attempts', 'steps', 'worker'] as const;

export function exportParquet({ record, filter }: ExportContext, rows: readonly EpisodeRow[]): Uint8Array {
  const columnData: Column[] = [
    ...integers.map((field) =>
      column(
        field,
        'INT32',
        rows.map((row) => row[field] ?? null),
      ),
    ),
    ...texts.map((field) =>
      column(
        field,
        'STRING',
        rows.map((row) => row[field] ?? null),
      ),
    ),
    column(
      'durationMs',
      'DOUBLE',
      rows.map((row) => row.durationMs),
    ),
    column(
      'retried',
      'BOOLEAN',
      rows.map((row) => row.retried),
    ),
    ...record.metrics.map(({ name }) => ({
      ...column(
        name,
        'DOUBLE',
        rows.map((row) => numberOf(row.metrics[name] ?? null)),
      ),
      name: isField(name) ? `metrics.${name}` : name,
    })),
    ...usageColumns(rows),
  ];
  const kvMetadata = [
    { key: 'run_id', value: record.runId },
    { key: 'graph_name', value: record.graphName },
    ...(filter === null ? [] : [{ key: 'filter', value: filter }]),
  ];
  return new Uint8Array(parquetWriteBuffer({ columnData, kvMetadata }));
}

/** Of runs that asked language models. */
function usageColumns(rows: readonly EpisodeRow[]): Column[] {
  if (!rows.some(({ usage }) => usage)) return [];
  return (['calls', 'inputTokens', 'outputTokens', 'costUsd'] as const).map((field) => ({
    ...column(
      field,
      'DOUBLE',
      rows.map(({ usage }) => usage?.[field] ?? null),
    ),
    name: field === 'calls' ? 'chat_calls' : toSnake(field),
  }));
}

function column(
  field: string,
  type: 'INT32' | 'STRING' | 'DOUBLE' | 'BOOLEAN',
  data: readonly unknown[],
): Column {
  return { name: toSnake(field), data: [...data], type, nullable: true };
}

const fieldNames = new Set([...texts, ...integers, 'durationMs', 'retried'].map(toSnake));

/** A metric named like a field (`steps`) must not make two columns of one name. */
function isField(name: string): boolean {
  return fieldNames.has(name);
}

function numberOf(value: MetricValue): number | null {
  if (value === 'nan') return Number.NaN;
  if (value === 'inf') return Infinity;
  return value === '-inf' ? -Infinity : value;
}
