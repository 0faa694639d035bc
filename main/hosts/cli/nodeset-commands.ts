// `agentcanvas nodesets …`: what is there, whether it comes up, its interpreter and environment, servers at URLs.
import type { Command } from 'commander';
import type { NodesetSummary } from '../../contract/nodeset.ts';
import type { Client } from './client.ts';
import { runCommand, type CommandContext, type GlobalOptions } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { table, type Output } from './output.ts';

type Options = () => GlobalOptions;

export function addNodesetCommands(program: Command, context: CommandContext, options: Options): void {
  const nodesets = program.command('nodesets').description('Environments, policies and tools');
  addListing(nodesets, context, options);
  addLoad(nodesets, context, options);
  addInterpreterCommands(nodesets, context, options);
  addAttachments(nodesets, context, options);
}

function addListing(nodesets: Command, context: CommandContext, options: Options): void {
  nodesets
    .command('list')
    .description('Every nodeset, its state and why it failed')
    .action(() =>
      runCommand(context, options(), async (client, output) => {
        const { nodesets: items } = await client.request('nodesets.list', {});
        for (const item of items) output.emit(item);
        const rows = items.map((item) => [
          item.name,
          item.origin,
          item.language,
          item.parallelism ?? 'unknown',
          item.state,
          String(item.nodeTypes.length),
          item.error ?? item.description,
        ]);
        for (const line of table([
          ['nodeset', 'from', 'language', 'parallelism', 'state', 'nodes', 'description or error'],
          ...rows,
        ]))
          output.print(line);
      }),
    );
  nodesets
    .command('show')
    .description('Where a nodeset comes from, its interpreter and environment, why it failed')
    .argument('<name>', 'as `nodesets list` names it')
    .action((name: string) =>
      runCommand(context, options(), async (client, output) => {
        const { nodesets: items } = await client.request('nodesets.list', {});
        const found = items.find((item) => item.name === name);
        if (!found)
          throw new Error(`No nodeset is named "${name}"; \`agentcanvas nodesets list\` shows all.`);
        output.emit(found);
        for (const line of factsOf(found)) output.print(line);
        const { lines } = await client.request('nodesets.log', { name });
        for (const line of lines.slice(-20)) output.print(`  ${line}`);
        return found.state === 'failed' ? exitCodes.invalid : exitCodes.ok;
      }),
    );
}

function factsOf(nodeset: NodesetSummary): readonly string[] {
  const { environment } = nodeset;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['nodeset', nodeset.name],
    ['state', nodeset.stage === undefined ? nodeset.state : `${nodeset.state}: ${nodeset.stage}`],
    ['source', nodeset.source],
    ['runs', nodeset.mode],
    ['interpreter', nodeset.interpreterPath ?? nodeset.interpreter],
    ['environment', environment && `${environment.state}: ${environment.requirements.join(', ')}`],
    ['error', nodeset.error],
  ];
  return table(facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function addLoad(nodesets: Command, context: CommandContext, options: Options): void {
  nodesets
    .command('load')
    .description('Start a nodeset once and show whether it comes up')
    .argument('<name>', 'as `nodesets list` names it')
    .action((name: string) =>
      runCommand(context, options(), async (client, output) => {
        const stop = noteChanges(client, output, name);
        try {
          const summary = await client.request('nodesets.load', { name });
          output.emit(summary);
          output.print(`${summary.name}: ${summary.state}, ${summary.nodeTypes.length} node types`);
        } finally {
          stop();
        }
      }),
    );
}

function addInterpreterCommands(nodesets: Command, context: CommandContext, options: Options): void {
  nodesets
    .command('build-env')
    .description('Build the Python environment a nodeset asks for (uv where installed, else venv and pip)')
    .argument('<name>', 'as `nodesets list` names it')
    .action((name: string) =>
      runCommand(context, options(), async (client, output) => buildEnvironment(client, output, name)),
    );
  nodesets
    .command('set-interpreter')
    .description('Use this interpreter for one nodeset, whatever it names itself; without one, what it names')
    .argument('<name>', 'as `nodesets list` names it')
    .argument('[interpreter]', 'a path, a name on PATH, conda:NAME, venv:PATH or uv:PACKAGES', '')
    .action((name: string, interpreter: string) =>
      runCommand(context, options(), async (client, output) => {
        const summary = await client.request('nodesets.setInterpreter', { name, interpreter });
        output.emit(summary);
        for (const line of factsOf(summary)) output.print(line);
        return summary.state === 'failed' ? exitCodes.invalid : exitCodes.ok;
      }),
    );
}

/** Ctrl-C ends the build wherever it runs. */
async function buildEnvironment(client: Client, output: Output, name: string): Promise<void> {
  const stop = noteChanges(client, output, name);
  const cancel = (): void => void client.request('nodesets.cancelBuild', { name }).catch(() => undefined);
  process.once('SIGINT', cancel);
  try {
    const summary = await client.request('nodesets.buildEnvironment', { name });
    output.emit(summary);
    output.print(`${name}: environment ready at ${summary.environment?.folder ?? ''}`);
  } catch (thrown) {
    const { lines } = await client.request('nodesets.log', { name });
    for (const line of lines.slice(-20)) output.note(`  ${line}`);
    throw thrown;
  } finally {
    process.removeListener('SIGINT', cancel);
    stop();
  }
}

function addAttachments(nodesets: Command, context: CommandContext, options: Options): void {
  nodesets
    .command('attach')
    .description('Use a nodeset server at a URL that this app does not own')
    .argument('<url>', 'for example http://127.0.0.1:9200')
    .option('--token-env <name>', 'environment variable that holds the bearer token')
    .option('--name <name>', 'name of the nodeset here; default: the server’s own')
    .action((url: string, { tokenEnv = '', name }: { readonly tokenEnv?: string; readonly name?: string }) =>
      runCommand(context, options(), async (client, output) => {
        const summary = await client.request('nodesets.attach', {
          url,
          tokenEnv,
          ...(name !== undefined && { name }),
        });
        output.emit(summary);
        for (const line of factsOf(summary)) output.print(line);
        return summary.state === 'failed' ? exitCodes.invalid : exitCodes.ok;
      }),
    );
  nodesets
    .command('detach')
    .description('Forget a server; it goes on running')
    .argument('<name>', 'as `nodesets list` names it')
    .action((name: string) =>
      runCommand(context, options(), async (client, output) => {
        await client.request('nodesets.detach', { name });
        output.emit({ event: 'nodeset.detached', name });
        output.print(`${name} is no longer attached`);
      }),
    );
}

/** Stages as they come, beside the result. */
function noteChanges(client: Client, output: Output, name: string): () => void {
  let last = '';
  return client.transport.subscribe(
    (message) => {
      if (message.name !== 'nodeset.changed' || message.payload.nodeset.name !== name) return;
      const { stage, environment } = message.payload.nodeset;
      const now = environment?.state === 'building' ? `building: ${environment.stage ?? ''}` : (stage ?? '');
      if (now !== '' && now !== last) output.note(`${name}: ${now}`);
      last = now;
    },
    () => undefined,
  );
}
