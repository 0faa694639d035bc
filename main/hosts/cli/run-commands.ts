// `agentcanvas runs …`: what is in the workspace, and how to get it out.
import type { Command } from 'commander';
import { writeFile } from 'node:fs/promises';
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
  addExport(runs, context, options);
  runs
    .command('delete')
    .description('Move runs to the trash of the workspace')
    .argument('<run...>')
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
    .option('--search <text>', 'in id, name, graph, environment, split, note and tags', '')
    .option('--limit <n>', 'how many', '50')
    .action((own: { search: string; limit: string }) =>
      runCommand(context, { ...options(), readOnly: true }, async (client, output) => {
        const { rows, total } = await client.request('runs.list', {
          search: own.search,
          limit: Number(own.limit),
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
    .argument('<run>')
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

function addExport(runs: Command, context: CommandContext, options: () => GlobalOptions): void {
  runs
    .command('export')
    .description('Episodes of a run as a file, or on standard output')
    .argument('<run>')
    .option('--format <csv|json|jsonl>', 'form of the file', 'csv')
    .option('--filter <expression>', 'only these episodes, for example "success == 0 && steps > 400"', '')
    .option('--output <file>', 'write here instead of standard output')
    .action((runId: string, own: { format: string; filter: string; output?: string }) =>
      runCommand(context, { ...options(), json: false, readOnly: true }, async (client, output) => {
        const format = exportFormat.safeParse(own.format);
        if (!format.success)
          throw new StudioError(
            'invalid_input',
            `--format takes ${exportFormat.options.join(', ')}, not "${own.format}".`,
          );
        const { content } = await client.request('runs.export', {
          runId,
          format: format.data,
          filter: own.filter,
        });
        if (own.output === undefined) context.streams.stdout.write(content);
        else {
          await writeFile(own.output, content);
          output.note(`Written to ${own.output}`);
        }
      }),
    );
}
