// One run as a text file: rows in the forms of export-rows.ts, the numbers as a LaTeX table, or a report that opens
// offline. A filter that was in force is named in every one of them.
import type { EpisodeRow, RunRecord, RunSummary } from '../contract/run.ts';
import { headlineEstimate } from '../stats/aggregate.ts';
import { exportCsv, exportJson, exportJsonLines, exportTsv, type ExportContext } from './export-rows.ts';
import { htmlPage, htmlTable, intervalChart, paperTableHtml, paragraph, section } from './html-page.ts';
import { latexTable, tableOfRun } from './paper-table.ts';
import { provenanceRows } from './provenance-rows.ts';
import { headOf } from './run-head.ts';

export type RunTextFormat = 'csv' | 'tsv' | 'json' | 'jsonl' | 'latex' | 'html';

export const exportTypes: Readonly<
  Record<RunTextFormat | 'parquet' | 'zip', { mimeType: string; extension: string }>
> = {
  csv: { mimeType: 'text/csv', extension: 'csv' },
  tsv: { mimeType: 'text/tab-separated-values', extension: 'tsv' },
  json: { mimeType: 'application/json', extension: 'json' },
  jsonl: { mimeType: 'application/x-ndjson', extension: 'jsonl' },
  latex: { mimeType: 'application/x-tex', extension: 'tex' },
  html: { mimeType: 'text/html', extension: 'html' },
  parquet: { mimeType: 'application/vnd.apache.parquet', extension: 'parquet' },
  zip: { mimeType: 'application/zip', extension: 'zip' },
};

const pageRows = 500;

async function* pagesOf(rows: readonly EpisodeRow[]): AsyncGenerator<readonly EpisodeRow[]> {
  for (let at = 0; at < rows.length; at += pageRows) yield rows.slice(at, at + pageRows);
}

/** In parts, so that a hundred thousand rows are never one string. `summary` is that of the rows that are exported. */
export async function* runDocument(
  context: ExportContext,
  rows: readonly EpisodeRow[],
  format: RunTextFormat,
): AsyncGenerator<string> {
  switch (format) {
    case 'csv':
      return yield* exportCsv(context, pagesOf(rows));
    case 'tsv':
      return yield* exportTsv(context, pagesOf(rows));
    case 'json':
      return yield* exportJson(context, pagesOf(rows));
    case 'jsonl':
      return yield* exportJsonLines(context, pagesOf(rows));
    case 'latex':
      return yield latexOf(context);
    case 'html':
      return yield reportOf(context, rows);
  }
}

function latexOf({ record, summary, filter }: ExportContext): string {
  const { counts } = summary;
  const caption = `${record.envName ?? record.graphName}${record.split ? `, ${record.split}` : ''}.`;
  return latexTable(tableOfRun(record, summary.metrics), {
    caption,
    remarks: [
      `run ${record.runId}, graph ${record.graphName}`,
      `${counts.planned} planned, ${counts.completed} completed, ${counts.notRun} not run`,
      ...(filter === null ? [] : [`only episodes with: ${filter}`]),
      ...summary.flags.map(({ message }) => message),
    ],
  });
}

const shownRows = 2000;

function reportOf({ record, summary, filter }: ExportContext, rows: readonly EpisodeRow[]): string {
  const table = tableOfRun(record, summary.metrics);
  const charts = summary.metrics.map((metric) => {
    const { mean, low, high } = headlineEstimate(metric);
    if (mean === null || low === null || high === null) return '';
    return intervalChart(metric.definition, [{ label: metric.definition.name, mean, low, high }], null);
  });
  return htmlPage(record.name || record.graphName, [
    paragraph(countsText(record, summary)),
    filter === null ? '' : paragraph(`Only episodes with: ${filter}`, 'warning'),
    ...summary.flags.map(({ message }) => paragraph(message, 'warning')),
    section('Numbers', paperTableHtml(table), ...charts),
    section('Episodes', episodesHtml(record, rows)),
    section(
      'Provenance',
      htmlTable(
        ['', 'Fact', 'Value'],
        provenanceRows([headOf(record)]).map(({ section: name, field, values }) => [name, field, ...values]),
      ),
    ),
  ]);
}

function countsText(record: RunRecord, { counts }: RunSummary): string {
  const parts = [
    `${counts.completed} completed`,
    `${counts.error} error`,
    `${counts.timeout} timeout`,
    `${counts.died} died`,
    `${counts.noVerdict} no verdict`,
    `${counts.notRun} not run`,
  ];
  return `Run ${record.runId}, ${record.status}: ${counts.planned} planned = ${parts.join(' + ')}.`;
}

function episodesHtml(record: RunRecord, rows: readonly EpisodeRow[]): string {
  const metrics = record.metrics.map(({ name }) => name);
  const body = rows
    .slice(0, shownRows)
    .map((row) => [
      String(row.ordinal),
      row.episodeId ?? String(row.episodeIndex ?? ''),
      row.sceneId,
      row.status,
      row.steps === null ? null : String(row.steps),
      ...metrics.map((name) => shownValue(row.metrics[name] ?? null)),
      row.errorMessage,
    ]);
  const head = ['', 'Episode', 'Scene', 'Status', 'Steps', ...metrics, 'Error'];
  const numbers = new Set([0, 4, ...metrics.map((_name, place) => place + 5)]);
  const rest = rows.length - body.length;
  return (
    htmlTable(head, body, numbers) +
    (rest > 0 ? paragraph(`${rest} more episodes are not shown here.`, 'quiet') : '')
  );
}

function shownValue(value: EpisodeRow['metrics'][string]): string | null {
  if (typeof value !== 'number') return value;
  return Number.isInteger(value) ? String(value) : value.toPrecision(5);
}
