// The command line: reads arguments, hands each command to its file, returns its exit code. Everything it does is a
// request that a window could send too.
import { Command, CommanderError } from 'commander';
import { isMainThread } from 'node:worker_threads';
import { appVersion } from '../version.ts';
import { addCatalogCommands } from './cli/catalog-commands.ts';
import { collect } from './cli/collect.ts';
import { addCompareCommand } from './cli/compare-command.ts';
import type { CommandContext } from './cli/context.ts';
import { addEvalCommands } from './cli/eval-command.ts';
import { exitCodes } from './cli/exit-codes.ts';
import { exitCodeAfterInterrupts } from './cli/interrupts.ts';
import { outliveReaders } from './cli/lost-readers.ts';
import type { OutputStreams } from './cli/output.ts';
import { addKeyCommands } from './cli/key-commands.ts';
import { addParallelCheckCommand } from './cli/parallel-check-command.ts';
import { addReplayCommand } from './cli/replay-command.ts';
import { addRunCommands } from './cli/run-commands.ts';
import { addServeCommand } from './cli/serve-command.ts';

const closingHelp = `
Examples:
  agentcanvas graphs list
  agentcanvas eval minivln_expert --split val_unseen --episodes 100 --workers 2
  agentcanvas runs list
  agentcanvas compare RUN_A RUN_B

A first Ctrl-C lets the episodes in flight end, a second cancels, a third kills.
Exit codes: 0 every episode has a verdict, 1 some have none, 2 usage or invalid
input, 3 paused or interrupted (resume goes on), 70 internal, 130 cancelled.`;

export async function main(argv: readonly string[], streams: OutputStreams): Promise<number> {
  const context: CommandContext = { streams, exitCode: exitCodes.ok };
  using _readers = outliveReaders(streams, (error) => {
    streams.stderr.write(`Output is lost: ${error.message}\n`);
    context.exitCode = exitCodes.internal;
  });
  const program = createProgram(context);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    return thrown.exitCode === 0 ? exitCodes.ok : exitCodes.invalid;
  }
  return exitCodeAfterInterrupts(context.exitCode);
}

/** Every command with its help; what one returns stands in the context. */
export function createProgram(context: CommandContext): Command {
  const { streams } = context;
  const program = new Command('agentcanvas')
    .description('Evaluate agents over whole benchmark splits.')
    .version(appVersion)
    .option(
      '--workspace <dir>',
      'the workspace; else the nearest folder upwards with agentcanvas.json, else ~/AgentCanvas',
    )
    .option('--trust <path>', 'trust this folder for good before running', collect)
    .option(
      '--trust-content <path>',
      'trust a folder of nodesets, or the commands of a graph file, exactly as they are now; an edit asks again',
      collect,
    )
    .option('--json', 'one JSON object per line on standard output')
    .addHelpText('after', closingHelp)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: (text) => void streams.stderr.write(text),
    });
  addEvalCommands(program, context);
  addRunCommands(program, context);
  addCompareCommand(program, context);
  addParallelCheckCommand(program, context);
  addReplayCommand(program, context);
  addCatalogCommands(program, context);
  addKeyCommands(program, context);
  addServeCommand(program, context);
  allowGlobalOptionsAnywhere(program);
  return program;
}

/** `eval GRAPH --json` reads as well as `--json eval GRAPH`: each command takes the global options and hands them up. */
function allowGlobalOptionsAnywhere(program: Command): void {
  const visit = (command: Command): void => {
    command.exitOverride();
    for (const option of program.options) {
      if (option.long === '--version' || command.options.some((own) => own.long === option.long)) continue;
      command.addOption(option);
      const name = option.attributeName();
      command.on(`option:${option.name()}`, () => program.setOptionValue(name, command.getOptionValue(name)));
    }
    command.commands.forEach(visit);
  };
  program.commands.forEach(visit);
}

if (isMainThread && import.meta.main) {
  process.exitCode = await main(process.argv.slice(2), process);
}
