// Episode rows as CSV, TSV, JSON or JSON lines. Values read back as they were: numbers in shortest exact form, `nan`,
// `inf`, `-inf` for the others, an empty cell (null) for "not measured". Text that a spreadsheet would take for a
// formula gets a leading apostrophe in CSV. A filter that was in force is named in the file.
import { chatUsage, type ChatUsage } from '../contract/chat.ts';
import type { EpisodeRow, MetricValue, RunRecord, RunSummary } from '../contract/run.ts';
import { runSummary } from '../contract/run.ts';
import { toFileCase, toSnake } from '../contract/casing.ts';

export interface ExportContext {
  readonly record: RunRecord;
  readonly summary: RunSummary;
  /** Null when every row is exported. */
  readonly filter: string | null;
}

const fields = [
  'ordinal',
  'key',
  'episodeIndex',
  'episodeId',
  'sceneId',
  'instruction',
  'repeat',
  'status',
  'attempts',
  'steps',
  'durationMs',
  'worker',
  'limit',
  'errorCode',
  'errorMessage',
  'retried',
] as const satisfies readonly (keyof EpisodeRow)[];

/** Of runs that asked language models. */
const usageFields = {
  chat_calls: (usage) => usage.calls,
  input_tokens: (usage) => usage.inputTokens,
  output_tokens: (usage) => usage.outputTokens,
  cost_usd: (usage) => usage.costUsd,
} as const satisfies Readonly<Record<string, (usage: ChatUsage) => number | null>>;

export type RowPages = AsyncIterable<readonly EpisodeRow[]>;

/** RFC 4180 with LF; a filter is one `#` line before the header. */
export function exportCsv(context: ExportContext, pages: RowPages): AsyncGenerator<string> {
  return exportTable(context, pages, { cell: csvCell, separator: ',' });
}

/** For the clipboard of a spreadsheet: tabs, and no line breaks inside cells. */
export function exportTsv(context: ExportContext, pages: RowPages): AsyncGenerator<string> {
  return exportTable(context, pages, { cell: tsvCell, separator: '\t' });
}

interface TableForm {
  readonly cell: (value: string | number | boolean | null) => string;
  readonly separator: string;
}

async function* exportTable(
  context: ExportContext,
  pages: RowPages,
  { cell, separator }: TableForm,
): AsyncGenerator<string> {
  const metrics = context.record.metrics.map(({ name }) => name);
  if (context.filter !== null) yield `# filter: ${context.filter.replaceAll(/[\r\n]+/g, ' ')}\n`;
  const used = context.summary.usage ? Object.entries(usageFields) : [];
  const names = [...fields.map(toSnake), ...metrics, ...used.map(([name]) => name)];
  yield `${names.map(cell).join(separator)}\n`;
  for await (const rows of pages) {
    const lines = rows.map((row) => {
      const own = fields.map((field) => cell(row[field]));
      const measured = metrics.map((name) => metricCell(row.metrics[name] ?? null));
      const spent = used.map(([, of]) => cell(row.usage ? of(row.usage) : null));
      return `${own.concat(measured, spent).join(separator)}\n`;
    });
    yield lines.join('');
  }
}

function metricCell(value: MetricValue): string {
  return typeof value === 'string' ? value : csvCell(value);
}

/** What a spreadsheet takes for a formula. */
const formulaStart = /^[=+\-@\t\r]/;

/** A cell that no spreadsheet runs and every reader reads back. */
export function csvCell(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'boolean') return value ? '1' : '0';
  const safe = formulaStart.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** For the clipboard: a spreadsheet pastes it, and a tab or newline would break the row. */
export function tsvCell(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return csvCell(value);
  const safe = formulaStart.test(value) ? `'${value}` : value;
  return safe.replaceAll(/[\t\r\n]+/g, ' ');
}

const fileFields = fields.map((field) => [field, toSnake(field)] as const);

function fileRow(row: EpisodeRow): Record<string, unknown> {
  const named = Object.fromEntries(fileFields.map(([field, name]) => [name, row[field]]));
  const usage = row.usage ? { usage: toFileCase(chatUsage, row.usage) } : {};
  return { ...named, metrics: row.metrics, ...usage };
}

/** The first line names run and filter when one is in force; then one row a line. */
export async function* exportJsonLines(context: ExportContext, pages: RowPages): AsyncGenerator<string> {
  if (context.filter !== null) {
    yield `${JSON.stringify({ run_id: context.record.runId, filter: context.filter })}\n`;
  }
  for await (const rows of pages) {
    yield rows.map((row) => `${JSON.stringify(fileRow(row))}\n`).join('');
  }
}

/** One object: run, filter, summary (n, interval, method of every metric), episodes. */
export async function* exportJson(context: ExportContext, pages: RowPages): AsyncGenerator<string> {
  const { record, summary, filter } = context;
  const head = {
    run_id: record.runId,
    name: record.name,
    graph_name: record.graphName,
    env_name: record.envName,
    split: record.split,
    status: record.status,
    filter,
    summary: toFileCase(runSummary, summary),
  };
  yield `${JSON.stringify(head, null, 1).slice(0, -2)},\n "episodes": [`;
  let separator = '\n';
  for await (const rows of pages) {
    for (const row of rows) {
      yield `${separator}  ${JSON.stringify(fileRow(row))}`;
      separator = ',\n';
    }
  }
  yield '\n ]\n}\n';
}
