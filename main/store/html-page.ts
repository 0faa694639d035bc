// Pieces of a self-contained report: one HTML file without scripts, addresses or fonts, so that it opens anywhere and
// offline. Everything that comes from outside is escaped.
import type { MetricDefinition } from '../contract/nodeset.ts';
import type { Comparison, GraphDifference } from '../contract/compare.ts';
import { methodNames, shownNumber, unitOf, type PaperTable } from './paper-table.ts';

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const style = `
:root{color-scheme:light dark}
body{font:14px/1.5 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.5rem 0 1.5rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:3px 12px 3px 0;border-bottom:1px solid color-mix(in srgb,currentColor 18%,transparent);vertical-align:top}
td.number,th.number{text-align:right}
.best{font-weight:700}.quiet{opacity:.7}.warning{border-left:3px solid #b26a00;padding-left:.7rem}
code{font-family:ui-monospace,monospace;font-size:12px;overflow-wrap:anywhere}
svg{max-width:100%;height:auto}`;

export function htmlPage(title: string, sections: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${sections.filter((section) => section !== '').join('\n')}
</body>
</html>
`;
}

export function section(title: string, ...parts: readonly string[]): string {
  return `<h2>${escapeHtml(title)}</h2>\n${parts.join('\n')}`;
}

export function paragraph(text: string, className = ''): string {
  return `<p${className === '' ? '' : ` class="${className}"`}>${escapeHtml(text)}</p>`;
}

/** Cells are text; a column is aligned to the right when it is named in `numbers`. */
export function htmlTable(
  head: readonly string[],
  rows: readonly (readonly (string | null)[])[],
  numbers: ReadonlySet<number> = new Set(),
): string {
  const attribute = (column: number): string => (numbers.has(column) ? ' class="number"' : '');
  const cells = (row: readonly (string | null)[], tag: string): string =>
    row.map((cell, column) => `<${tag}${attribute(column)}>${escapeHtml(cell ?? '—')}</${tag}>`).join('');
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
  return `<table>\n<thead><tr>${cells(head, 'th')}</tr></thead>\n<tbody>\n${body}\n</tbody>\n</table>`;
}

export function paperTableHtml(table: PaperTable): string {
  const head = [
    'Run',
    ...table.metrics.map((metric) => `${metric.name}${unitOf(metric) ? `, ${unitOf(metric)}` : ''}`),
  ];
  const rows = table.rows.map(({ label, cells }) => {
    const shown = cells.map((cell, column) => {
      const metric = table.metrics[column];
      if (!metric) return '<td></td>';
      const interval =
        cell.low === null ? '' : ` [${shownNumber(cell.low, metric)}, ${shownNumber(cell.high, metric)}]`;
      const notes = [
        `n = ${cell.n}`,
        methodNames[cell.method] ?? '',
        cell.isSimilar ? 'not significantly different from the baseline' : '',
        cell.isPartial ? 'partial' : '',
        cell.isCompletedOnly ? 'completed only' : '',
      ].filter((note) => note !== '');
      const mean = escapeHtml(shownNumber(cell.mean, metric) + interval);
      return `<td class="number${cell.isBest ? ' best' : ''}">${mean}<br><span class="quiet">${escapeHtml(notes.join(', '))}</span></td>`;
    });
    return `<tr><td>${escapeHtml(label)}</td>${shown.join('')}</tr>`;
  });
  return `<table>\n<thead><tr>${head.map((name, column) => `<th${column > 0 ? ' class="number"' : ''}>${escapeHtml(name)}</th>`).join('')}</tr></thead>\n<tbody>\n${rows.join('\n')}\n</tbody>\n</table>`;
}

interface IntervalLine {
  readonly label: string;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Means with their intervals on one axis, `reference` as a dashed line. */
export function intervalChart(
  metric: MetricDefinition,
  lines: readonly IntervalLine[],
  reference: number | null,
): string {
  if (lines.length === 0) return '';
  const values = lines.flatMap(({ low, high }) => [low, high]).concat(reference ?? []);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const span = high - low || 1;
  const x = (value: number): number => Math.round(260 + ((value - low) / span) * 400);
  const height = 30 + lines.length * 24;
  const marks = lines.map(({ label, mean, low: from, high: to }, place) => {
    const y = 16 + place * 24;
    return `<text x="0" y="${y + 4}" font-size="12" fill="currentColor">${escapeHtml(label.slice(0, 40))}</text><line x1="${x(from)}" x2="${x(to)}" y1="${y}" y2="${y}" stroke="currentColor" stroke-width="2"/><circle cx="${x(mean)}" cy="${y}" r="4" fill="currentColor"/>`;
  });
  const line =
    reference === null
      ? ''
      : `<line x1="${x(reference)}" x2="${x(reference)}" y1="0" y2="${height - 22}" stroke="currentColor" stroke-dasharray="3 3" opacity=".6"/>`;
  const axis = [low, high]
    .map(
      (value, place) =>
        `<text x="${x(value)}" y="${height - 6}" font-size="11" text-anchor="${place === 0 ? 'start' : 'end'}" fill="currentColor">${escapeHtml(shownNumber(value, metric))} ${escapeHtml(unitOf(metric))}</text>`,
    )
    .join('');
  return `<svg viewBox="0 0 700 ${height}" width="700" role="img" aria-label="${escapeHtml(metric.name)} with 95 % intervals">${line}${marks.join('')}${axis}</svg>`;
}

export function graphDifferenceHtml(difference: GraphDifference): string {
  if (difference.equal) return paragraph('Both runs used the same graph.');
  const nodes = difference.nodes.map(({ path, change, baselineType, otherType, fields }) => [
    path,
    change,
    baselineType === otherType ? (baselineType ?? '') : `${baselineType ?? '—'} → ${otherType ?? '—'}`,
    fields.map(({ field, baseline, other }) => `${field}: ${baseline ?? '—'} → ${other ?? '—'}`).join('; '),
  ]);
  const edges = difference.edges.map(({ change, source, target }) => [`${source} → ${target}`, change]);
  const settings = difference.settings.map(({ field, baseline, other }) => [field, baseline, other]);
  return [
    nodes.length > 0 ? htmlTable(['Node', 'Change', 'Type', 'Configuration'], nodes) : '',
    edges.length > 0 ? htmlTable(['Wire', 'Change'], edges) : '',
    settings.length > 0 ? htmlTable(['Setting', 'Baseline', 'Other'], settings) : '',
  ].join('\n');
}

export function reasonsHtml({ reasons }: Pick<Comparison, 'reasons'>): string {
  if (reasons.length === 0) return '';
  const items = reasons.map(({ message }) => `<li>${escapeHtml(message)}</li>`).join('');
  return `<div class="warning"><p>These runs differ in more than what was compared; only the episodes in common count:</p><ul>${items}</ul></div>`;
}
