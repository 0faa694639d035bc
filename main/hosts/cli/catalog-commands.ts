// `agentcanvas graphs …` and `doctor`.
import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Introspection } from '../../contract/requests.ts';
import { diagnosticText, runCommand, type CommandContext, type GlobalOptions } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { number } from './format.ts';
import { addNodesetCommands } from './nodeset-commands.ts';
import { table, type Output } from './output.ts';
import { oneLine } from './text-width.ts';

export function addCatalogCommands(program: Command, context: CommandContext): void {
  const options = (): GlobalOptions => program.opts<GlobalOptions>();
  addGraphCommands(program, context, options);
  addNodesetCommands(program, context, options);
  program
    .command('doctor')
    .description('Check what this machine has, with what to do')
    .action(() =>
      runCommand(context, options(), async (client, output) => {
        const { ok, checks } = await client.request('doctor.run', {});
        output.emit({ event: 'doctor', ok, checks });
        for (const check of checks) {
          output.print(`${check.ok ? 'ok  ' : 'FAIL'}  ${check.name}: ${check.output}`);
          if (!check.ok && check.fix) output.print(`      ${check.fix}`);
        }
        return ok ? exitCodes.ok : exitCodes.someWithoutVerdict;
      }),
    );
}

/** A path as given on this command line becomes absolute; a name stays a name. */
export function graphReference(text: string): string {
  const file = path.resolve(process.env['INIT_CWD'] ?? process.cwd(), text);
  return /[/\\]|\.json$|\.acgraph$/.test(text) && existsSync(file) ? file : text;
}

function addGraphCommands(program: Command, context: CommandContext, options: () => GlobalOptions): void {
  const graphs = program.command('graphs').description('Graphs of the workspace and the library');
  graphs
    .command('list')
    .description('Every graph, with the nodesets it needs')
    .action(() =>
      runCommand(context, { ...options(), readOnly: true }, async (client, output) => {
        const { graphs: items } = await client.request('graphs.list', {});
        for (const item of items) output.emit(item);
        for (const line of table([
          ['graph', 'from', 'nodesets', 'description'],
          ...items.map((item) => [item.name, item.origin, item.nodesets.join(' '), item.description]),
        ]))
          output.print(line);
      }),
    );
  graphs
    .command('validate')
    .description('Check a graph without running it; exit code 2 when it has errors')
    .argument('<graph>', 'name or path')
    .action((graph: string) =>
      runCommand(context, { ...options(), readOnly: true }, async (client, output) => {
        const { diagnostics } = await client.request('graphs.validate', { ref: graphReference(graph) });
        for (const entry of diagnostics) output.emit(entry);
        for (const entry of diagnostics) output.print(diagnosticText(entry));
        const errors = diagnostics.filter((entry) => entry.severity === 'error').length;
        output.print(errors === 0 ? 'The graph is valid.' : `${errors} errors`);
        return errors === 0 ? exitCodes.ok : exitCodes.invalid;
      }),
    );
  graphs
    .command('introspect')
    .description('Load what the graph needs and show environments, splits, metrics and budgets')
    .argument('<graph>', 'name or path')
    .action((graph: string) =>
      runCommand(context, options(), async (client, output) => {
        const found = await client.request('graphs.introspect', { ref: graphReference(graph), load: true });
        output.emit(found);
        for (const environment of found.environments) printEnvironment(environment, output);
        output.print(
          `step budget: ${found.stepBudget ?? 'environment’s or 1000'}; suggested workers: ${found.suggestedWorkers}`,
        );
        for (const name of found.missing) output.print(`missing nodeset: ${name}`);
        for (const { name, error } of found.nodesets)
          if (found.unloaded.includes(name))
            output.print(`not loaded: ${name}${error === undefined ? '' : `: ${oneLine(error)}`}`);
        for (const entry of found.diagnostics) output.print(diagnosticText(entry));
        const failed =
          found.missing.length > 0 ||
          found.unloaded.length > 0 ||
          found.diagnostics.some((entry) => entry.severity === 'error') ||
          found.environments.some((entry) => entry.error !== null);
        return failed ? exitCodes.invalid : exitCodes.ok;
      }),
    );
}

function printEnvironment(environment: Introspection['environments'][number], output: Output): void {
  const { metadata, error } = environment;
  output.print(`environment ${environment.nodeset}${metadata ? `: ${metadata.envName}` : ''}`);
  if (error) output.print(`  ${oneLine(error.message)}`);
  for (const split of metadata?.splits ?? [])
    output.print(
      `  split ${split}: ${number(metadata?.episodeCounts?.[split] ?? null).replace('not measured', 'unbounded')} episodes`,
    );
  if (metadata) output.print(`  metrics: ${metadata.metrics.map((metric) => metric.name).join(', ')}`);
  output.print(`  ${environment.perStepBudgetSec} s per step`);
}
