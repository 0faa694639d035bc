// `agentcanvas compare RUN RUN…`: the first run is the baseline.
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import {
  comparisonFormat,
  comparisonGroup,
  type Comparison,
  type MetricComparisonView,
} from '../../contract/compare.ts';
import { StudioError } from '../../base/errors.ts';
import type { Client } from './client.ts';
import { collect } from './collect.ts';
import { runCommand, type CommandContext, type GlobalOptions } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { number } from './format.ts';
import { table, type Output } from './output.ts';

interface CompareOptions {
  readonly metric?: readonly string[];
  readonly common?: boolean;
  readonly flips?: string;
  readonly groupBy?: string;
  readonly format?: string;
  readonly output?: string;
}

export function addCompareCommand(program: Command, context: CommandContext): void {
  program
    .command('compare')
    .description('Compare runs over the same episodes; the first one is the baseline')
    .argument('<run...>', 'run ids, baseline first')
    .option('--metric <name>', 'only this metric; may be given several times', collect)
    .option('--common', 'compare the episodes in common although the runs differ otherwise')
    .option('--flips <n>', 'also list this many episodes that came out differently')
    .option(`--group-by <${comparisonGroup.options.join('|')}>`, 'also say where the difference comes from')
    .option('--format <latex|tsv|csv|json|html>', 'a file instead of a table')
    .option('--output <file>', 'where the file goes; else standard output')
    .action((runIds: string[], own: CompareOptions) =>
      runCommand(context, { ...program.opts<GlobalOptions>(), readOnly: true }, async (client, output) => {
        if (runIds.length < 2)
          throw new StudioError('invalid_input', 'Give two runs or more, baseline first.');
        const input = {
          runIds,
          commonOnly: own.common === true,
          ...(own.metric ? { metrics: [...own.metric] } : {}),
        };
        if (own.format !== undefined) {
          const format = comparisonFormat.safeParse(own.format);
          if (!format.success)
            throw new StudioError('invalid_input', `--format takes ${comparisonFormat.options.join(', ')}.`);
          const file = await client.request('runs.exportComparison', { ...input, format: format.data });
          if (own.output === undefined) context.streams.stdout.write(file.content);
          else await writeFile(own.output, file.content);
          return exitCodes.ok;
        }
        const found = await client.request('runs.compare', input);
        output.emit({ event: 'comparison', ...found });
        if (!printComparison(found, output)) return exitCodes.invalid;
        const [baselineRun = '', otherRun = ''] = runIds;
        const shown = own.metric?.[0] ?? found.metrics[0]?.metric.name;
        const metric = found.metrics.find((row) => row.metric.name === shown)?.metric;
        if (!metric) return exitCodes.ok;
        const pair = { baselineRun, otherRun, metric: metric.name };
        if (own.groupBy !== undefined) await printGroups(client, { ...pair, by: own.groupBy }, output);
        if (own.flips === undefined) return exitCodes.ok;
        const limit = Math.max(1, Math.min(1000, Number(own.flips) || 20));
        const flips = await client.request('runs.compareFlips', { ...pair, limit });
        printFlips(flips.rows, { metric: metric.name, total: flips.total }, output);
        return exitCodes.ok;
      }),
    );
}

/** False when the runs were not compared. */
function printComparison({ runs, refused, reasons, metrics }: Comparison, output: Output): boolean {
  runs.forEach(({ runId, name }, place) =>
    output.print(`${place === 0 ? 'baseline' : 'against '}  ${runId}  ${name}`),
  );
  for (const { message } of reasons) output.note(`! ${message}`);
  if (refused) {
    output.note('Not compared. --common compares the episodes both have.');
    return false;
  }
  const head = [
    'run',
    'metric',
    'pairs',
    'baseline',
    'other',
    'difference',
    '95 % interval',
    'p',
    'p (Holm)',
  ];
  const rows = metrics.map((row) => comparisonRow(row, runs.length > 2));
  for (const line of table([[...head, 'won', 'lost', 'same', 'needed'], ...rows])) output.print(line);
  return true;
}

function comparisonRow(row: MetricComparisonView, isNamed: boolean): string[] {
  const show = (value: number | null): string =>
    value !== null && row.metric.kind === 'rate' ? `${(100 * value).toFixed(2)} %` : number(value);
  const signed = (value: number | null): string =>
    value !== null && value > 0 ? `+${show(value)}` : show(value);
  return [
    isNamed ? row.runId : 'other',
    row.metric.name,
    String(row.pairs),
    show(row.baselineMean),
    show(row.otherMean),
    signed(row.difference),
    row.low === null ? '—' : `${signed(row.low)} to ${signed(row.high)}`,
    shownP(row.pValue),
    shownP(row.adjustedPValue),
    String(row.won),
    String(row.lost),
    String(row.same),
    row.need === null ? '—' : String(row.need.needed),
  ];
}

interface WantedGroups {
  readonly baselineRun: string;
  readonly otherRun: string;
  readonly metric: string;
  readonly by: string;
}

async function printGroups(client: Client, wanted: WantedGroups, output: Output): Promise<void> {
  const by = comparisonGroup.safeParse(wanted.by);
  if (!by.success)
    throw new StudioError('invalid_input', `--group-by takes ${comparisonGroup.options.join(', ')}.`);
  const { rows, total } = await client.request('runs.compareGroups', { ...wanted, by: by.data });
  for (const row of rows) output.emit({ event: 'group', by: by.data, metric: wanted.metric, ...row });
  const cells = rows.map((row) => [
    row.group,
    String(row.pairs),
    number(row.baselineMean),
    number(row.otherMean),
    row.difference > 0 ? `+${number(row.difference)}` : number(row.difference),
    String(row.won),
    String(row.lost),
  ]);
  output.print('');
  for (const line of table([
    [by.data, 'pairs', 'baseline', 'other', `${wanted.metric} difference`, 'won', 'lost'],
    ...cells,
  ]))
    output.print(line);
  if (total > rows.length) output.note(`${total - rows.length} more groups`);
  if (total === 0) output.note(`No pair can be grouped by ${by.data}.`);
}

function shownP(value: number | null): string {
  if (value === null) return '—';
  return value < 0.0001 ? value.toExponential(1) : value.toFixed(4);
}

function printFlips(
  rows: readonly {
    readonly outcome: string;
    readonly episodeId: string | null;
    readonly sceneId: string | null;
    readonly baselineOrdinal: number;
    readonly baselineValue: number;
    readonly otherValue: number;
  }[],
  about: { readonly metric: string; readonly total: number },
  output: Output,
): void {
  for (const row of rows) output.emit({ event: 'flip', ...row });
  output.print('');
  output.print(`${about.total} of ${about.metric} came out differently:`);
  const lines = rows.map((row) => [
    row.outcome,
    row.episodeId ?? String(row.baselineOrdinal),
    row.sceneId ?? '',
    number(row.baselineValue),
    number(row.otherValue),
  ]);
  for (const line of table([['', 'episode', 'scene', 'baseline', 'other'], ...lines])) output.print(line);
}
