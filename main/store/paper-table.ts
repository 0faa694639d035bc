// Numbers as a paper prints them: a model of the table, and its LaTeX. Every number has its interval, n and method;
// the best of a column is bold, what does not differ significantly from the baseline is marked, partial runs say so.
import type { Comparison, MetricComparisonView } from '../contract/compare.ts';
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { Estimate, MetricSummary } from '../contract/run.ts';
import { headlineEstimate } from '../stats/aggregate.ts';

/** Holm-adjusted p-values from here on mean: not significantly different. */
export const significance = 0.05;

export interface PaperCell {
  readonly mean: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly n: number;
  readonly method: string;
  readonly isBest: boolean;
  /** Compared with the baseline, and p >= 0.05 after Holm. */
  readonly isSimilar: boolean;
  readonly isPartial: boolean;
  readonly isCompletedOnly: boolean;
  /** Against the baseline; null for the baseline itself. */
  readonly comparison: MetricComparisonView | null;
}

export interface PaperTable {
  readonly metrics: readonly MetricDefinition[];
  readonly rows: readonly {
    readonly runId: string;
    readonly label: string;
    readonly cells: readonly PaperCell[];
  }[];
}

export function tableOfComparison(comparison: Comparison): PaperTable {
  const wanted = new Set(comparison.metrics.map(({ metric }) => metric.name));
  const metrics = comparison.sharedMetrics.filter(({ name }) => wanted.has(name));
  const labels = distinctLabels(comparison.runs);
  const rows = comparison.runs.map((run, place) => ({
    runId: run.runId,
    label: labels[place] ?? run.runId,
    cells: metrics.map((metric) => {
      const own = comparison.metrics.filter((found) => found.metric.name === metric.name);
      const against =
        place === 0 ? (own[0] ?? null) : (own.find((found) => found.runId === run.runId) ?? null);
      const summary = run.metrics.find(({ definition }) => definition.name === metric.name);
      return cellOf({ summary, against, isBaseline: place === 0 });
    }),
  }));
  return markBest({ metrics, rows });
}

export function tableOfRun(
  run: { readonly runId: string; readonly name: string; readonly graphName: string },
  summaries: readonly MetricSummary[],
): PaperTable {
  return {
    metrics: summaries.map(({ definition }) => definition),
    rows: [
      {
        runId: run.runId,
        label: run.name || run.graphName,
        cells: summaries.map((summary) => cellOf({ summary, against: null, isBaseline: true })),
      },
    ],
  };
}

interface CellInput {
  readonly summary: MetricSummary | undefined;
  /** For the baseline any comparison of the metric: its pairs say which episodes count. */
  readonly against: MetricComparisonView | null;
  readonly isBaseline: boolean;
}

/** The run's own estimate, unless only some of its episodes were compared: then their mean, without an interval. */
function cellOf({ summary, against, isBaseline }: CellInput): PaperCell {
  const estimate = summary ? headlineEstimate(summary) : emptyEstimate;
  const isReduced = against !== null && against.pairs !== estimate.n;
  const mean = isBaseline ? against?.baselineMean : against?.otherMean;
  const adjusted = against?.adjustedPValue ?? null;
  return {
    ...(isReduced
      ? { mean: mean ?? null, low: null, high: null, n: against.pairs, method: 'none' }
      : {
          mean: estimate.mean,
          low: estimate.low,
          high: estimate.high,
          n: estimate.n,
          method: estimate.method,
        }),
    isBest: false,
    isSimilar: !isBaseline && adjusted !== null && adjusted >= significance,
    isPartial: summary?.partial ?? false,
    isCompletedOnly: summary?.headline === 'completed_only',
    comparison: isBaseline ? null : against,
  };
}

const emptyEstimate: Estimate = {
  n: 0,
  mean: null,
  low: null,
  high: null,
  method: 'none',
  median: null,
  sd: null,
  nonFinite: 0,
};

function markBest(table: PaperTable): PaperTable {
  const best = table.metrics.map((metric, column) => {
    const means = table.rows.flatMap(({ cells }) => cells[column]?.mean ?? []);
    if (metric.higherIsBetter === null || means.length < 2) return null;
    return metric.higherIsBetter ? Math.max(...means) : Math.min(...means);
  });
  const rows = table.rows.map((row) => ({
    ...row,
    cells: row.cells.map((cell, column) => ({
      ...cell,
      isBest: cell.mean !== null && cell.mean === best[column],
    })),
  }));
  return { ...table, rows };
}

function distinctLabels(runs: Comparison['runs']): string[] {
  const labels = runs.map(({ name, graphName }) => name || graphName);
  return labels.map((label, place) =>
    labels.indexOf(label) === labels.lastIndexOf(label) ? label : `${label} (${runs[place]?.runId ?? ''})`,
  );
}

/** Rates in per cent with one digit, other numbers with three significant digits more than needed. */
export function shownNumber(value: number | null, metric: MetricDefinition): string {
  if (value === null) return '—';
  if (metric.kind === 'rate') return (100 * value).toFixed(1);
  if (Math.abs(value) >= 1000) return value.toFixed(0);
  return Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(Math.abs(value) >= 10 ? 2 : 3);
}

export function unitOf({ kind, unit }: MetricDefinition): string {
  return kind === 'rate' ? '%' : unit;
}

export interface LatexOptions {
  readonly caption: string;
  /** Goes into comments at the head: what the numbers are of. */
  readonly remarks: readonly string[];
  /** Names of the tests behind the daggers, for the caption. */
  readonly tests?: readonly string[];
}

/** Needs booktabs. */
export function latexTable(table: PaperTable, { caption, remarks, tests = [] }: LatexOptions): string {
  const head = table.metrics.map((metric) => {
    const unit = unitOf(metric);
    const arrow =
      metric.higherIsBetter === null ? '' : metric.higherIsBetter ? ' $\\uparrow$' : ' $\\downarrow$';
    return `${escapeLatex(metric.name)}${unit === '' ? '' : ` (${escapeLatex(unit)})`}${arrow}`;
  });
  const lines = table.rows.map(
    ({ label, cells }) =>
      `    ${escapeLatex(label)} & ${cells.map((cell, column) => latexCell(cell, table.metrics[column])).join(' & ')} \\\\`,
  );
  return [
    ...remarks.map((remark) => `% ${remark.replaceAll(/[\r\n]+/g, ' ')}`),
    '\\begin{table}',
    '  \\centering',
    `  \\caption{${escapeLatex(caption)}${latexNotes(table, tests)}}`,
    `  \\begin{tabular}{l${'r'.repeat(table.metrics.length)}}`,
    '    \\toprule',
    `    Run & ${head.join(' & ')} \\\\`,
    '    \\midrule',
    ...lines,
    '    \\bottomrule',
    '  \\end{tabular}',
    '\\end{table}',
    '',
  ].join('\n');
}

function latexCell(cell: PaperCell, metric: MetricDefinition | undefined): string {
  if (!metric || cell.mean === null) return '--';
  const mean = shownNumber(cell.mean, metric);
  const signs = [
    cell.isSimilar ? '\\dagger' : '',
    cell.isPartial ? '\\ddagger' : '',
    cell.isCompletedOnly ? 'c' : '',
  ];
  const marks = signs.some((sign) => sign !== '')
    ? `^{${signs.filter((sign) => sign !== '').join(' ')}}`
    : '';
  const shown = cell.isBest ? `\\mathbf{${mean}}` : mean;
  const interval =
    cell.low === null ? '' : `\\;[${shownNumber(cell.low, metric)}, ${shownNumber(cell.high, metric)}]`;
  return `$${shown}${marks}${interval}_{\\,n=${cell.n}}$`;
}

function latexNotes({ rows }: PaperTable, tests: readonly string[]): string {
  const cells = rows.flatMap((row) => row.cells);
  const methods = new Set(
    cells.filter(({ low }) => low !== null).map(({ method }) => methodNames[method] ?? method),
  );
  return [
    methods.size > 0 ? ` Brackets: 95\\,\\% interval (${[...methods].join('; ')}).` : '',
    cells.some(({ isBest }) => isBest) ? ' Bold: best of the column.' : '',
    cells.some(({ isSimilar }) => isSimilar)
      ? ' $\\dagger$: not significantly different from the first row (Holm-adjusted $p \\ge 0.05$).'
      : '',
    tests.length > 0 ? ` Paired tests: ${escapeLatex(tests.join('; '))}.` : '',
    cells.some(({ isPartial }) => isPartial)
      ? ' $\\ddagger$: partial, not all planned episodes were run.'
      : '',
    cells.some(({ isCompletedOnly }) => isCompletedOnly) ? ' $c$: over completed episodes only.' : '',
  ].join('');
}

export const methodNames: Readonly<Record<string, string>> = {
  wilson: 'Wilson',
  bootstrap: 'percentile bootstrap, 10,000 draws',
  bootstrap_clustered: 'percentile bootstrap clustered by episode, 10,000 draws',
  t: "Student's t",
  newcombe: "Newcombe's hybrid score",
};

const latexSpecial: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '{': '\\{',
  '}': '\\}',
  $: '\\$',
  '&': '\\&',
  '#': '\\#',
  '%': '\\%',
  _: '\\_',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '—': '--',
};

export function escapeLatex(text: string): string {
  return text.replaceAll(/[\\{}$&#%_~^—]/g, (character) => latexSpecial[character] ?? character);
}
