// A comparison as a file: LaTeX, TSV and CSV tables, JSON, or a report that opens offline.
import type { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import { toFileCase } from '../contract/casing.ts';
import {
  comparison as comparisonSchema,
  type Comparison,
  type comparisonFormat,
  type GraphDifference,
  type MetricComparisonView,
  type provenanceRow,
} from '../contract/compare.ts';
import { csvCell, tsvCell } from './export-rows.ts';
import {
  graphDifferenceHtml,
  htmlPage,
  htmlTable,
  intervalChart,
  paperTableHtml,
  reasonsHtml,
  section,
} from './html-page.ts';
import { latexTable, shownNumber, tableOfComparison, unitOf, type PaperTable } from './paper-table.ts';

export interface TextDocument {
  readonly fileName: string;
  readonly mimeType: string;
  readonly content: string;
}

/** What a report shows beside the numbers. */
export interface ComparisonExtras {
  readonly graphs?: readonly { readonly title: string; readonly difference: GraphDifference }[];
  readonly provenance?: readonly z.infer<typeof provenanceRow>[];
}

type Format = z.infer<typeof comparisonFormat>;

const mimeTypes: Readonly<Record<Format, string>> = {
  latex: 'application/x-tex',
  tsv: 'text/tab-separated-values',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
};

/** Throws `conflict` with the reasons when the comparison was refused. */
export function comparisonDocument(
  comparison: Comparison,
  format: Format,
  extras: ComparisonExtras = {},
): TextDocument {
  if (comparison.refused) {
    const why = comparison.reasons.map(({ message }) => message).join('; ');
    throw new StudioError(
      'conflict',
      `These runs are not comparable as they are: ${why}. Compare the common episodes if that is what you want.`,
      {
        details: { reasons: comparison.reasons },
      },
    );
  }
  const [baseline, ...others] = comparison.runs.map(({ runId }) => runId);
  const extension = format === 'latex' ? 'tex' : format;
  const fileName = `comparison_${baseline ?? ''}${others.length > 1 ? `_and_${others.length}` : `_${others[0] ?? ''}`}.${extension}`;
  return { fileName, mimeType: mimeTypes[format], content: contentOf(comparison, format, extras) };
}

function contentOf(comparison: Comparison, format: Format, extras: ComparisonExtras): string {
  const table = tableOfComparison(comparison);
  switch (format) {
    case 'latex':
      return latexTable(table, {
        caption: captionOf(comparison),
        remarks: remarksOf(comparison),
        tests: testsOf(comparison),
      });
    case 'tsv':
      return flatRows(table)
        .map((row) => `${row.map(tsvCell).join('\t')}\n`)
        .join('');
    case 'csv':
      return flatRows(table)
        .map((row) => `${row.map(csvCell).join(',')}\n`)
        .join('');
    case 'json':
      return `${JSON.stringify(toFileCase(comparisonSchema, comparison), null, 1)}\n`;
    case 'html':
      return reportOf(comparison, table, extras);
  }
}

function captionOf({ runs }: Comparison): string {
  const [baseline] = runs;
  return `${baseline?.envName ?? 'Evaluation'}${baseline?.split ? `, ${baseline.split}` : ''}.`;
}

function testsOf({ metrics }: Comparison): string[] {
  const used = new Set(metrics.filter(({ pValue }) => pValue !== null).map(({ test }) => testNames[test]));
  return used.size === 0 ? [] : [...used, 'adjusted after Holm'];
}

function remarksOf({ runs, reasons }: Comparison): string[] {
  return [
    ...runs.map(
      ({ runId, graphName }, place) => `${place === 0 ? 'baseline' : 'compared'}: ${runId} (${graphName})`,
    ),
    ...reasons.map(({ message }) => `differs: ${message}`),
  ];
}

type Cell = string | number | boolean | null;

/** One row per run and metric. */
function flatRows({ metrics, rows }: PaperTable): Cell[][] {
  const head = ['run_id', 'label', 'metric', 'n', 'mean', 'low', 'high', 'method']
    .concat(['difference', 'difference_low', 'difference_high', 'test', 'p_value', 'p_holm'])
    .concat(['won', 'lost', 'same', 'best', 'partial']);
  const body = rows.flatMap(({ runId, label, cells }) =>
    cells.map((cell, column): Cell[] => {
      const against = cell.comparison;
      const own: Cell[] = [
        runId,
        label,
        metrics[column]?.name ?? '',
        cell.n,
        cell.mean,
        cell.low,
        cell.high,
        cell.method,
      ];
      const tested = [against?.difference, against?.low, against?.high, against?.test, against?.pValue];
      const counted = [against?.adjustedPValue, against?.won, against?.lost, against?.same];
      return own.concat(
        [...tested, ...counted].map((value) => value ?? null),
        [cell.isBest, cell.isPartial],
      );
    }),
  );
  return [head, ...body];
}

function reportOf(comparison: Comparison, table: PaperTable, extras: ComparisonExtras): string {
  const [baseline] = comparison.runs;
  const labelOf = new Map(table.rows.map(({ runId, label }) => [runId, label]));
  const differing = (extras.provenance ?? []).filter(({ differs }) => differs);
  return htmlPage(`Comparison with ${baseline?.name || baseline?.runId || ''}`, [
    reasonsHtml(comparison),
    section('Numbers', paperTableHtml(table)),
    section('Differences to the baseline', differencesHtml(comparison, labelOf)),
    ...table.metrics.map((metric) => chartOf(comparison, metric, labelOf)),
    ...(extras.graphs ?? []).map(({ title, difference }) =>
      section(`Graph: ${title}`, graphDifferenceHtml(difference)),
    ),
    differing.length === 0
      ? ''
      : section(
          'What differs in provenance',
          htmlTable(
            ['', 'Fact', ...table.rows.map(({ label }) => label)],
            differing.map(({ section: name, field, values }) => [name, field, ...values]),
          ),
        ),
  ]);
}

const testNames: Readonly<Record<MetricComparisonView['test'], string>> = {
  mcnemar_exact: 'exact McNemar',
  sign_flip_exact: 'sign-flip permutation, exact',
  sign_flip_monte_carlo: 'sign-flip permutation, 40,000 draws',
  none: 'none',
};

function differencesHtml({ metrics }: Comparison, labelOf: ReadonlyMap<string, string>): string {
  const head = [
    'Run',
    'Metric',
    'Pairs',
    'Difference',
    '95 % interval',
    'Test',
    'p',
    'p (Holm)',
    'Won',
    'Lost',
    'Same',
    'Episodes needed',
  ];
  const rows = metrics.map((row) => [
    labelOf.get(row.runId) ?? row.runId,
    row.metric.name,
    String(row.pairs),
    `${shownNumber(row.difference, row.metric)} ${unitOf(row.metric)}`,
    row.low === null ? '—' : `${shownNumber(row.low, row.metric)} to ${shownNumber(row.high, row.metric)}`,
    testNames[row.test],
    shownP(row.pValue),
    shownP(row.adjustedPValue),
    String(row.won),
    String(row.lost),
    String(row.same),
    row.need === null ? '—' : String(row.need.needed),
  ]);
  return htmlTable(head, rows, new Set([2, 3, 6, 7, 8, 9, 10, 11]));
}

function chartOf(
  comparison: Comparison,
  metric: PaperTable['metrics'][number],
  labelOf: ReadonlyMap<string, string>,
): string {
  const lines = comparison.metrics
    .filter((row) => row.metric.name === metric.name)
    .flatMap(({ runId, difference, low, high }) =>
      difference === null || low === null || high === null
        ? []
        : [{ label: labelOf.get(runId) ?? runId, mean: difference, low, high }],
    );
  return lines.length === 0
    ? ''
    : `<h3>${metric.name.replaceAll(/[^\w .-]/g, '')}: difference to the baseline</h3>${intervalChart(metric, lines, 0)}`;
}

export function shownP(value: number | null): string {
  if (value === null) return '—';
  return value < 0.0001 ? value.toExponential(1) : value.toFixed(4);
}
