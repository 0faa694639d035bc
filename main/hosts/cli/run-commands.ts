// `agentcanvas runs …`: what is in the workspace, and how to get it out.
import type { Command } from 'commander';
import { copyFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { transferFormat } from '../../contract/replay.ts';
import { exportFormat } from '../../contract/requests.ts';
import { StudioError } from '../../base/errors.ts';
import { runCommand, type CommandContext, type GlobalOptions } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { duration, runRow, summaryLines } from './format.ts';
import { table } from './output.ts';

export function addRunCommands(program: Command, context: CommandContext): void {
  const runs = program.command('runs').description('Runs of the workspace');
  const options = (): GlobalOptions => program.opts<GlobalOptions>();
  addListing(runs, context, options);
  addChanges(runs, context, options);
  addExport(runs, context, options);
  addImport(runs, context, options);
  runs
    .command('delete')
    .description('Move runs to the trash of the workspace')
    .argument('<run...>', 'run ids')
    .action((runIds: string[]) =>
      runCommand(context, options(), async (client, output) => {
        const { deleted } = await client.request('runs.delete', { runIds });
        output.emit({ event: 'runs.deleted', run_ids: deleted });
        for (const runId of deleted) output.print(`${runId} is in the trash`);
      }),
    );
  runs
    .command('rebuild-index')
    .description('Make the index anew from the run folders')
    .action(() =>
      runCommand(context, options(), async (client, output) => {
        const { runs: count, problems } = await client.request('runs.rebuildIndex', {});
        output.emit({ event: 'index.rebuilt', runs: count, problems });
        output.print(`${count} runs indexed`);
        for (const problem of problems) output.note(problem);
        return problems.length === 0 ? exitCodes.ok : exitCodes.someWithoutVerdict;
      }),
    );
}

function addListing(runs: Command, context: CommandContext, options: () => GlobalOptions): void {
  runs
    .command('list')
    .description('Newest first')
    .option('--search <text>', 'in id, name, graph, environment, split, note and tags')
    .option('--limit <n>', 'how many', '50')
    .action((own: { search?: string; limit: string }) =>
      runCommand(context, { ...options(), readOnly: true }, async (client, output) => {
        const { rows, total } = await client.request('runs.list', {
          search: own.search ?? '',
          limit: limitOf(own.limit),
        });
        for (const row of rows) output.emit(row);
        const header = ['run', 'graph', 'split', 'status', 'done', 'headline', 'time', 'workers', 'tags'];
        for (const line of rows.length > 0
          ? table([header, ...rows.map(runRow)])
          : ['No runs yet. Start one: agentcanvas eval minivln_expert --split val_unseen --episodes 100'])
          output.print(line);
        if (total > rows.length) output.print(`${total - rows.length} more; see --limit`);
      }),
    );
  runs
    .command('show')
    .description('Numbers of one run')
    .argument('<run>', 'run id')
    .action((runId: string) =>
      runCommand(context, { ...options(), readOnly: true }, async (client, output) => {
        const shown = await client.request('runs.get', { runId });
        output.emit(shown);
        output.print(
          `${shown.record.runId}  ${shown.record.graphName}  ${shown.record.split ?? ''}  ${shown.record.status}  ${duration(shown.record.activeMs)}`,
        );
        for (const line of summaryLines(shown.summary)) output.print(line);
        output.print(shown.folder);
      }),
    );
}

function addChanges(runs: Command, context: CommandContext, options: () => GlobalOptions): void {
  runs
    .command('stop')
    .description('Stop a run that another window or terminal runs; it can be resumed')
    .argument('<run>', 'run id')
    .option('--now', 'cancel: end the episodes in flight too')
    .action((runId: string, { now }: { readonly now?: boolean }) =>
      runCommand(context, options(), async (client, output) => {
        await client.request(now ? 'runs.cancel' : 'runs.stop', { runId });
        output.emit({ event: now ? 'run.cancelling' : 'run.stopping', run_id: runId });
        output.print(`${runId} ${now ? 'is cancelled' : 'ends when its episodes in flight have'}`);
      }),
    );
  runs
    .command('edit')
    .description('Change name, tags or note of a run')
    .argument('<run>', 'run id')
    .option('--name <name>', 'another name')
    .option('--tag <tag>', 'tags instead of those it has, joined by commas; "" for none')
    .option('--note <text>', 'another note; "" for none')
    .action((runId: string, own: { readonly name?: string; readonly tag?: string; readonly note?: string }) =>
      runCommand(context, options(), async (client, output) => {
        const { name, tag, note } = own;
        if (name === undefined && tag === undefined && note === undefined)
          throw new StudioError('invalid_input', 'Give --name, --tag or --note.');
        const tags = tag
          ?.split(',')
          .map((each) => each.trim())
          .filter((each) => each !== '');
        const change = {
          ...(name !== undefined && { name }),
          ...(tags && { tags }),
          ...(note !== undefined && { note }),
        };
        await client.request('runs.update', { runId, ...change });
        output.emit({ event: 'run.edited', run_id: runId, ...change });
        output.print(`${runId} is changed`);
      }),
    );
}

function addExport(runs: Command, context: CommandContext, options: () => GlobalOptions): void {
  runs
    .command('export')
    .description('A run as a file: its episodes, its numbers as a table or report, or all of it (zip)')
    .argument('<run>', 'run id')
    .option(`--format <${transferFormat.options.join('|')}>`, 'form of the file', 'csv')
    .option('--filter <expression>', 'only these episodes, for example "success == 0 && steps > 400"')
    .option('--output <file>', 'write here instead of standard output')
    .action((runId: string, own: { format: string; filter?: string; output?: string }) =>
      runCommand(context, { ...options(), json: false, readOnly: true }, async (client, output) => {
        const format = transferFormat.safeParse(own.format);
        if (!format.success)
          throw new StudioError(
            'invalid_input',
            `--format takes ${transferFormat.options.join(', ')}, not "${own.format}".`,
          );
        const text = exportFormat.safeParse(own.format);
        if (own.output === undefined && text.success) {
          const input = { runId, format: text.data, filter: own.filter ?? '' };
          context.streams.stdout.write((await client.request('runs.export', input)).content);
          return;
        }
        if (own.output === undefined)
          throw new StudioError('invalid_input', `A ${own.format} file needs --output FILE.`);
        const made = await client.request('runs.exportFile', {
          runId,
          format: format.data,
          filter: own.filter ?? '',
        });
        await copyFile(made.path, resolveStart(own.output));
        await rm(made.path, { force: true });
        output.note(`Written to ${own.output}, ${fileSize(made.bytes)}`);
      }),
    );
}

interface ImportOptions {
  readonly name?: string;
  readonly env?: string;
  readonly split?: string;
  readonly stepBudget?: string;
}

function addImport(runs: Command, context: CommandContext, options: () => GlobalOptions): void {
  runs
    .command('import')
    .description('A run bundle (zip), a run folder of AgentCanvas, or JSON of metrics by episode id')
    .argument('<file>', 'zip, folder or JSON')
    .option('--name <name>', 'name of the run')
    .option('--env <name>', 'environment the results are of')
    .option('--split <name>', 'split the results are of')
    .option('--step-budget <n>', 'steps per episode; without it comparisons say that it is not known')
    .action((file: string, own: ImportOptions) =>
      runCommand(context, options(), async (client, output) => {
        const budget = own.stepBudget === undefined ? {} : { stepBudget: Number(own.stepBudget) };
        const { name = '', env: environment = '', split = '' } = own;
        const input = { path: resolveStart(file), name, environment, split, ...budget };
        const made = await client.request('runs.import', input);
        output.emit({ event: 'run.imported', run_id: made.runId, ...made });
        output.print(`${made.runId}  ${made.episodes} episodes`);
        for (const warning of made.warnings) output.note(`! ${warning}`);
      }),
    );
}

const fileSize = (bytes: number): string =>
  bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 2 ** 20).toFixed(1)} MB`;

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new StudioError('invalid_input', `--limit takes a whole number from 1 to 1000, not "${text}".`);
}

function resolveStart(file: string): string {
  return path.resolve(process.env['INIT_CWD'] ?? process.cwd(), file);
}
