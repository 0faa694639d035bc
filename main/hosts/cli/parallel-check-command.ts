// `agentcanvas parallel-check GRAPH`: the same episodes with several numbers of workers, and every difference.
import type { Command } from 'commander';
import { setTimeout as wait } from 'node:timers/promises';
import { StudioError } from '../../base/errors.ts';
import type { Client } from './client.ts';
import { runCommand, type CommandContext, type GlobalOptions } from './context.ts';
import { addEvalFlags, configOf } from './eval-command.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { table, type Output } from './output.ts';

const askEveryMs = 200;

export function addParallelCheckCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('parallel-check')
    .description('Run the same episodes with several numbers of workers and list every difference')
    .argument('<graph>', 'name of a graph, or a path')
    .option('--counts <list>', 'numbers of workers; default: 1 and --workers, or 1 and 4')
    .option('--check-episodes <n>', 'how many of the episodes the flags choose', '20');
  addEvalFlags(command);
  command.action(async (graph: string, options: Record<string, unknown>) =>
    runCommand(context, program.opts<GlobalOptions>(), async (client, output) => {
      const config = configOf(graph, options);
      const workerCounts = countsOf(options['counts'], config.workerCount);
      const episodes = Number(options['checkEpisodes']);
      if (!Number.isInteger(episodes) || episodes < 1)
        throw new StudioError('invalid_input', '--check-episodes takes a whole number from 1.');
      const { runIds } = await client.request('runs.parallelCheck', { config, episodes, workerCounts });
      output.emit({ event: 'parallel_check.started', run_ids: runIds, worker_counts: workerCounts });
      // All but the first wait in the queue, which this process would otherwise leave to the next owner.
      client.studio?.releaseQueue();
      for (const [place, runId] of runIds.entries()) {
        const count = workerCounts[place] ?? 1;
        output.print(`${runId}  ${count} ${count === 1 ? 'worker' : 'workers'}`);
        await untilEnded(client, runId);
      }
      const [baselineRun = '', ...others] = runIds;
      const compared: Compared[] = [];
      for (const otherRun of others)
        compared.push(await printDifferences(client, { baselineRun, otherRun }, output));
      if (compared.some(({ pairs }) => pairs === 0))
        output.note('Nothing was compared: no episode has a verdict in both runs. Look at why they failed.');
      return exitCodeOf(compared);
    }),
  );
}

export interface Compared {
  readonly pairs: number;
  /** Differences. */
  readonly total: number;
}

/** Runs without a pair in common show nothing, least of all that they agree. */
export function exitCodeOf(compared: readonly Compared[]): ExitCode {
  const agree = compared.every(({ pairs, total }) => pairs > 0 && total === 0);
  return agree ? exitCodes.ok : exitCodes.someWithoutVerdict;
}

function countsOf(given: unknown, workers: number): number[] {
  if (typeof given !== 'string') return [1, workers > 1 ? workers : 4];
  const counts = given.split(',').map(Number);
  if (counts.length >= 2 && counts.every((count) => Number.isInteger(count) && count > 0)) return counts;
  throw new StudioError('invalid_input', '--counts takes two or more whole numbers, for example 1,4.');
}

async function untilEnded(client: Client, runId: string): Promise<void> {
  const goingOn = new Set(['queued', 'preparing', 'running', 'stopping']);
  for (;;) {
    const { record } = await client.request('runs.get', { runId });
    if (record.status.startsWith('completed')) return;
    if (!goingOn.has(record.status))
      throw new StudioError('conflict', `Run ${runId} is ${record.status}: there is nothing to compare.`);
    await wait(askEveryMs);
  }
}

async function printDifferences(
  client: Client,
  pair: { readonly baselineRun: string; readonly otherRun: string },
  output: Output,
): Promise<Compared> {
  const found = await client.request('runs.parallelDifferences', { ...pair, limit: 1000 });
  output.emit({ event: 'parallel_check.compared', ...pair, ...found });
  const { baseline, other } = found.episodesPerSecond;
  const rates = [baseline, other].map((rate) => (rate === null ? '—' : rate.toFixed(2))).join(' and ');
  output.print(`${found.pairs} pairs, ${found.total} differences; ${rates} episodes a second`);
  const shown = (value: string | number | null): string => String(value ?? '—');
  const rows = found.rows
    .slice(0, 50)
    .map((row) => [
      row.episodeId ?? String(row.episodeIndex ?? ''),
      row.field,
      shown(row.baseline),
      shown(row.other),
    ]);
  if (rows.length > 0)
    for (const line of table([['episode', 'field', 'baseline', 'other'], ...rows])) output.print(line);
  return found;
}
