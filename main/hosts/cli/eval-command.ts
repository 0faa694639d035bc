// `agentcanvas eval` and `resume`. The flags of eval are those of the configuration's schema.
import { Option, type Command } from 'commander';
import {
  configFromFlags,
  evalFlags,
  flagName,
  type EvalFlag,
  type FlagValues,
} from '../../contract/command-line.ts';
import { evalConfig, type EvalConfig } from '../../contract/eval-config.ts';
import { StudioError } from '../../base/errors.ts';
import { graphReference } from './catalog-commands.ts';
import { runCommand, type CommandContext, type GlobalOptions } from './context.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import type { Client } from './client.ts';
import { withAdvice } from './format.ts';
import type { Output } from './output.ts';
import { watchRuns } from './watch-run.ts';

export function addEvalCommands(program: Command, context: CommandContext): void {
  const command = program
    .command('eval')
    .description('Evaluate a graph over the episodes of a split')
    .argument('<graph>', 'name of a graph, or a path');
  addEvalFlags(command);
  command
    .option('--queue', 'wait in the queue when another run or Play holds the engine')
    .option('--dry-run', 'check everything and start nothing')
    .option('--no-checks', 'start at once: saves one start of the environment')
    .action(async (graph: string, options: Record<string, unknown>) => {
      const { queue, dryRun, checks } = options as { queue?: boolean; dryRun?: boolean; checks: boolean };
      const readOptions = (): EvalConfig => configOf(graph, options);
      await runCommand(context, program.opts<GlobalOptions>(), async (client, output) => {
        const config = readOptions();
        if (dryRun) return preflight(client, output, config);
        if (checks) await checkBeforeStart(client, output, config);
        return start(client, output, { config, whenBusy: queue ? 'queue' : 'refuse' });
      });
    });
  program
    .command('resume')
    .description('Run exactly the episodes that a stopped or interrupted run is missing')
    .argument('<run>', 'run id')
    .action(async (runId: string) => {
      await runCommand(context, program.opts<GlobalOptions>(), async (client, output) => {
        const watch = watchRuns(client, output);
        const { missing } = await client.request('runs.resume', { runId });
        output.emit({ event: 'run.resumed', run_id: runId, missing });
        output.print(`${runId}: ${missing} episodes to go`);
        return watch.until(runId);
      });
    });
}

/** The flags of the configuration, for every command that starts runs. */
export function addEvalFlags(command: Command): void {
  for (const flag of evalFlags) command.addOption(optionOf(flag));
}

/** Throws `invalid_input` with the flag that is wrong. */
export function configOf(graph: string, options: Readonly<Record<string, unknown>>): EvalConfig {
  return parseConfig(graphReference(graph), flagValues(options));
}

/**
 * The owner of the workspace goes on until the queue is empty, because others wait for it; after a stop or a cancel it
 * leaves what is queued to the next owner.
 */
async function finishQueue(client: Client, output: Output): Promise<void> {
  client.studio?.releaseQueue();
  const quiet: Output = { ...output, print: () => {}, emit: () => {}, live: () => {} };
  while (client.studio) {
    const { holder } = await client.request('guard.get', {});
    const { runIds } = await client.request('runs.queue', {});
    if (holder === null && runIds.length === 0) return;
    const next = holder?.id ?? runIds[0] ?? '';
    output.note(`Going on with ${next}, which was queued.`);
    const code = await watchRuns(client, quiet).until(next, { mayHaveEnded: true });
    if (code === exitCodes.resumable || code === exitCodes.cancelled) return;
  }
}

async function start(
  client: Client,
  output: Output,
  request: { config: EvalConfig; whenBusy: 'queue' | 'refuse' },
): Promise<ExitCode> {
  const watch = watchRuns(client, output);
  if (request.whenBusy === 'queue') client.studio?.releaseQueue();
  const { runId, queued } = await client.request('runs.start', request);
  const announce = (): void => {
    output.emit({ event: queued ? 'run.queued' : 'run.started', run_id: runId });
    output.print(queued ? `${runId} is queued` : runId);
  };
  const code = await watch.until(runId, { announce });
  if (code !== exitCodes.resumable && code !== exitCodes.cancelled) await finishQueue(client, output);
  return code;
}

/** What the graph itself lacks is said by the start, in its own words and with its own code. */
const saidByTheStart = ['graph', 'nodesets'];

/** Throws what would keep the run from ever counting, before there is a run. */
async function checkBeforeStart(client: Client, output: Output, config: EvalConfig): Promise<void> {
  const { checks } = await client.request('runs.preflight', { config });
  const failed = checks.filter(({ ok }) => !ok);
  for (const { message, fix } of failed.filter(({ warning }) => warning))
    output.note(`warning: ${withAdvice(message, fix)}`);
  const [first] = failed.filter(({ warning }) => !warning);
  if (first && !saidByTheStart.includes(first.name))
    throw new StudioError('invalid_input', withAdvice(first.message, first.fix));
}

async function preflight(client: Client, output: Output, config: EvalConfig): Promise<ExitCode> {
  const { ok, checks, episodes } = await client.request('runs.preflight', { config });
  output.emit({ event: 'preflight', ok, episodes, checks });
  for (const check of checks) {
    const verdict = check.ok ? 'ok  ' : check.warning ? 'warn' : 'FAIL';
    output.print(
      `${verdict}  ${check.name}: ${check.ok ? check.message : withAdvice(check.message, check.fix)}`,
    );
  }
  if (episodes !== null) output.print(`${episodes} episodes would run.`);
  return ok ? exitCodes.ok : exitCodes.invalid;
}

export function parseConfig(graph: string, flags: FlagValues): EvalConfig {
  const parsed = evalConfig.safeParse(configFromFlags(graph, flags));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = String(issue?.path.join('.') ?? '');
  const flag = flagName(field.replace(/\.\d+$/, ''));
  throw new StudioError(
    'invalid_input',
    `--${flag}: ${issue?.message ?? 'is not valid'}. See: agentcanvas eval --help`,
  );
}

function optionOf(flag: EvalFlag): Option {
  const option = new Option(
    `--${flag.name}${flag.placeholder ? ` <${flag.placeholder}>` : ''}`,
    [
      flag.description,
      flag.repeatable ? '; may be given several times' : '',
      flag.defaultText === undefined ? '' : ` (default: ${flag.defaultText})`,
    ].join(''),
  );
  return flag.repeatable
    ? option.argParser((value: string, previous: string[] | undefined) => [...(previous ?? []), value])
    : option;
}

/** Commander names values in camelCase; the flags' own names are what configFromFlags reads. */
function flagValues(options: Readonly<Record<string, unknown>>): FlagValues {
  return Object.fromEntries(
    evalFlags.map(({ name }) => [
      name,
      options[
        name.replace(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase())
      ] as FlagValues[string],
    ]),
  );
}
