// Reads of the index: pages of runs and of episodes, sorted and filtered. Column names come from fixed lists and
// values are bound, so nothing a user types becomes SQL.
import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import { toSnake } from '../contract/casing.ts';
import {
  episodeRow,
  metricSummary,
  metricValue,
  runCounts,
  runListItem,
  type EpisodeRow,
  type RunListItem,
} from '../contract/run.ts';
import { likePattern, parseFilter, type FilterColumns, type SqlValue } from './filter-expression.ts';
import { metricColumns } from './index-database.ts';
import type { ColumnFilter, EpisodeQuery, Page, RunListQuery, SortKey } from './ports.ts';

type SqlRow = Readonly<Record<string, unknown>>;

const largestPage = 10_000;
const defaultPage = 100;

const runSortColumns: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['run_id', 'name', 'graph_name', 'env_name', 'split', 'status', 'created_at', 'finished_at', 'active_ms']
      .concat(['worker_count', 'note', 'tags', 'planned', 'finished', 'headline_mean'])
      .map((column) => [column, column]),
  ),
  headline: 'headline_mean',
  counts: 'finished',
};

export function listRuns(database: DatabaseSync, query: RunListQuery = {}): Page<RunListItem> {
  const conditions: string[] = ['1'];
  const parameters: SqlValue[] = [];
  if (query.search) {
    const searched = [
      'run_id',
      'name',
      'graph_name',
      "coalesce(env_name, '')",
      "coalesce(split, '')",
      'note',
      'tags',
    ];
    conditions.push(`(${searched.map((column) => `${column} LIKE ? ESCAPE '\\'`).join(' OR ')})`);
    parameters.push(...searched.map(() => likePattern(query.search ?? '')));
  }
  if (query.statuses && query.statuses.length > 0) {
    conditions.push(`status IN (${query.statuses.map(() => '?').join(', ')})`);
    parameters.push(...query.statuses);
  }
  if (query.tag !== undefined) {
    conditions.push('EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)');
    parameters.push(query.tag);
  }
  if (query.graphName !== undefined) {
    conditions.push('graph_name = ?');
    parameters.push(query.graphName);
  }
  const where = conditions.join(' AND ');
  const order = orderBy(query.sort ?? [{ column: 'createdAt', descending: true }], 'run_id DESC', (name) => {
    const column = runSortColumns[toSnake(name)];
    if (column === undefined) throw unknownColumn(name, Object.keys(runSortColumns));
    return column;
  });
  const rows = database
    .prepare(`SELECT * FROM runs WHERE ${where} ${order} LIMIT ? OFFSET ?`)
    .all(...parameters, pageSize(query.limit), query.offset ?? 0);
  return { items: rows.map(toRunListItem), total: countOf(database, 'runs', where, parameters) };
}

function toRunListItem(row: SqlRow): RunListItem {
  return runListItem.parse({
    runId: row['run_id'],
    name: row['name'],
    graphName: row['graph_name'],
    envName: row['env_name'],
    split: row['split'],
    status: row['status'],
    counts: runCounts.parse(JSON.parse(String(row['counts']))),
    headline: metricSummary.nullable().parse(JSON.parse(String(row['headline']))),
    workerCount: row['worker_count'],
    createdAt: row['created_at'],
    finishedAt: row['finished_at'],
    activeMs: row['active_ms'],
    tags: JSON.parse(String(row['tags'])),
    note: row['note'],
    parentRun: row['parent_run'],
  });
}

const instructionColumn =
  '(SELECT instruction FROM episode_details d WHERE d.run = e.run AND d.ordinal = e.ordinal)';

/** Field of an EpisodeRow -> SQL. */
const episodeColumns: Readonly<Record<string, string>> = {
  ordinal: 'e.ordinal',
  key: 'e.key',
  episode_index: 'e.episode_index',
  episode_id: 'e.episode_id',
  scene_id: 'e.scene_id',
  instruction: instructionColumn,
  repeat: 'e.repeat',
  status: 'e.status',
  attempts: 'e.attempts',
  steps: 'e.steps',
  steps_taken: 'e.steps',
  duration_ms: 'e.duration_ms',
  started_at: 'e.started_at',
  worker: 'e.worker',
  limit: 'e.limit_hit',
  error_code: 'e.error_code',
  error_message: 'e.error_message',
  retried: 'e.retried',
  chat_calls: 'e.chat_calls',
  tokens: 'e.tokens',
  cost_usd: 'e.cost_usd',
};

/** Columns by name: metrics (`spl`, `metrics.spl`) first, then fields in camelCase or snake_case. */
export function episodeFilterColumns(metricNames: readonly string[]): FilterColumns {
  return {
    names: [...metricNames, ...Object.keys(episodeColumns)],
    resolve: (name) => {
      const metric = metricNames.indexOf(name.startsWith('metrics.') ? name.slice('metrics.'.length) : name);
      const isField = Object.hasOwn(episodeColumns, toSnake(name));
      if (metric >= 0) return metricSql(metricNames, metric);
      return isField ? episodeColumns[toSnake(name)] : undefined;
    },
  };
}

function metricSql(metricNames: readonly string[], index: number): string {
  if (index < metricColumns) return `e.m${index}`;
  const path = `$."${metricNames[index] ?? ''}"`.replaceAll("'", "''");
  const value = `json_extract(d.metrics, '${path}')`;
  return `(SELECT CASE ${value} WHEN 'inf' THEN 9e999 WHEN '-inf' THEN -9e999 WHEN 'nan' THEN NULL ELSE ${value} END
    FROM episode_details d WHERE d.run = e.run AND d.ordinal = e.ordinal)`;
}

interface EpisodeSelection {
  readonly where: string;
  readonly order: string;
  readonly parameters: readonly SqlValue[];
}

/** `not_found` when the run is not indexed. */
function selectEpisodes(database: DatabaseSync, runId: string, query: EpisodeQuery): EpisodeSelection {
  const run = findRun(database, runId);
  const columns = episodeFilterColumns(z.array(z.string()).parse(JSON.parse(String(run['metric_names']))));
  const resolve = (name: string): string => {
    const column = columns.resolve(name);
    if (column === undefined) throw unknownColumn(name, columns.names);
    return column;
  };
  const expression = parseFilter(query.expression ?? '', columns);
  const typed = (query.filters ?? []).map((filter) => columnCondition(filter, resolve(filter.column)));
  const conditions = [...typed, expression];
  return {
    where: ['e.run = ?', ...conditions.map(({ sql }) => sql)].join(' AND '),
    order: orderBy(query.sort ?? [], 'e.ordinal', resolve),
    parameters: [Number(run['id']), ...conditions.flatMap((condition) => condition.parameters)],
  };
}

function findRun(database: DatabaseSync, runId: string): SqlRow {
  const run = database.prepare('SELECT id, metric_names FROM runs WHERE run_id = ?').get(runId);
  if (!run) throw new StudioError('not_found', `There is no run ${runId}; see \`runs list\``);
  return run;
}

/** A page is chosen among the narrow rows first; details are joined to it alone. */
export function listEpisodes(
  database: DatabaseSync,
  runId: string,
  query: EpisodeQuery = {},
): Page<EpisodeRow> {
  const { where, order, parameters } = selectEpisodes(database, runId, query);
  const rows = database
    .prepare(
      `SELECT ${rowColumns('page')}, d.metrics, d.instruction, d.usage
       FROM (SELECT e.*, row_number() OVER () AS place FROM
              (SELECT * FROM episodes e WHERE ${where} ${order} LIMIT ? OFFSET ?) e) page
       LEFT JOIN episode_details d ON d.run = page.run AND d.ordinal = page.ordinal
       ORDER BY page.place`,
    )
    .all(...parameters, pageSize(query.limit), query.offset ?? 0);
  return { items: rows.map(toEpisodeRow), total: countOf(database, 'episodes e', where, parameters) };
}

/** For exports: the order once, the rows slice by slice. */
export function matchingOrdinals(
  database: DatabaseSync,
  runId: string,
  query: EpisodeQuery = {},
): Uint32Array {
  const { where, order, parameters } = selectEpisodes(database, runId, query);
  const statement = database.prepare(`SELECT e.ordinal FROM episodes e WHERE ${where} ${order}`);
  statement.setReturnArrays(true);
  return Uint32Array.from(statement.all(...parameters), (row) => Number(row['0']));
}

/** In the order of the ordinals; those that are not indexed are left out. */
export function episodesByOrdinal(
  database: DatabaseSync,
  runId: string,
  ordinals: Uint32Array,
): EpisodeRow[] {
  const id = Number(findRun(database, runId)['id']);
  const rows = database
    .prepare(
      `SELECT ${rowColumns('e')}, d.metrics, d.instruction, d.usage
       FROM json_each(?) wanted
       CROSS JOIN episodes e ON e.run = ? AND e.ordinal = CAST(wanted.value AS INTEGER)
       LEFT JOIN episode_details d ON d.run = e.run AND d.ordinal = e.ordinal`,
    )
    .all(JSON.stringify(Array.from(ordinals)), id);
  const byOrdinal = new Map(rows.map((row) => [Number(row['ordinal']), row]));
  return Array.from(ordinals).flatMap((ordinal) => {
    const row = byOrdinal.get(ordinal);
    return row ? [toEpisodeRow(row)] : [];
  });
}

/** What a row shows; the dense metric columns are only for choosing and would cost most of the time to read. */
function rowColumns(table: string): string {
  return [
    'ordinal',
    'key',
    'episode_index',
    'episode_id',
    'scene_id',
    'repeat',
    'status',
    'attempts',
    'steps',
  ]
    .concat(['duration_ms', 'started_at', 'worker', 'limit_hit', 'error_code', 'error_message', 'retried'])
    .map((column) => `${table}.${column}`)
    .join(', ');
}

const metricsText = z.record(z.string(), metricValue);

function toEpisodeRow(row: SqlRow): EpisodeRow {
  const { metrics, usage } = row;
  return episodeRow.parse({
    ordinal: row['ordinal'],
    key: row['key'],
    episodeIndex: row['episode_index'],
    episodeId: row['episode_id'],
    sceneId: row['scene_id'],
    instruction: row['instruction'] ?? null,
    repeat: row['repeat'],
    status: row['status'],
    attempts: row['attempts'],
    metrics: typeof metrics === 'string' ? metricsText.parse(JSON.parse(metrics)) : {},
    steps: row['steps'],
    durationMs: row['duration_ms'],
    startedAt: row['started_at'],
    worker: row['worker'],
    limit: row['limit_hit'],
    errorCode: row['error_code'],
    errorMessage: row['error_message'],
    retried: row['retried'] === 1,
    ...(typeof usage === 'string' ? { usage: JSON.parse(usage) } : {}),
  });
}

function columnCondition(filter: ColumnFilter, column: string): { sql: string; parameters: SqlValue[] } {
  if ('in' in filter) {
    if (filter.in.length === 0) return { sql: '0', parameters: [] };
    return { sql: `${column} IN (${filter.in.map(() => '?').join(', ')})`, parameters: [...filter.in] };
  }
  if ('contains' in filter) {
    return { sql: `${column} LIKE ? ESCAPE '\\'`, parameters: [likePattern(filter.contains)] };
  }
  if ('isNull' in filter) return { sql: `${column} IS ${filter.isNull ? '' : 'NOT '}NULL`, parameters: [] };
  const bounds: { sql: string; value: number }[] = [];
  if (filter.min !== undefined) bounds.push({ sql: `${column} >= ?`, value: filter.min });
  if (filter.max !== undefined) bounds.push({ sql: `${column} <= ?`, value: filter.max });
  const sql = ['1', ...bounds.map((bound) => bound.sql)].join(' AND ');
  return { sql: `(${sql})`, parameters: bounds.map(({ value }) => value) };
}

function orderBy(sort: readonly SortKey[], tieBreak: string, columnOf: (name: string) => string): string {
  const keys = sort.map(
    ({ column, descending }) => `${columnOf(column)} ${descending ? 'DESC' : 'ASC'} NULLS LAST`,
  );
  return `ORDER BY ${[...keys, tieBreak].join(', ')}`;
}

function countOf(
  database: DatabaseSync,
  table: string,
  where: string,
  parameters: readonly SqlValue[],
): number {
  const row = database.prepare(`SELECT count(*) AS total FROM ${table} WHERE ${where}`).get(...parameters);
  return Number(row?.['total'] ?? 0);
}

function pageSize(limit: number | undefined): number {
  return Math.max(1, Math.min(limit ?? defaultPage, largestPage));
}

function unknownColumn(name: string, known: readonly string[]): StudioError {
  return new StudioError('invalid_input', `There is no column "${name}". Known: ${known.join(', ')}`);
}
