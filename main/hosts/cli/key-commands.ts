// `agentcanvas keys …`: keys of model providers, as in Settings. A key goes in and is never shown again.
import type { Command } from 'commander';
import { StudioError } from '../../base/errors.ts';
import { knownProviders, type ChatProvider, type ChatStatus, type KeySource } from '../../contract/chat.ts';
import type { Client } from './client.ts';
import { runCommand, type CommandContext, type GlobalOptions } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { table, type Output } from './output.ts';
import { readSecret } from './read-secret.ts';

const words: Readonly<Record<KeySource, string>> = {
  system: 'set, in the key store',
  file: 'set, in the file',
  environment: 'from the variable',
  unneeded: 'none, and none is needed',
  locked: 'kept, but only the desktop app can read it',
  none: 'missing',
};

const keyAsArgument =
  'A key is not taken as an argument: those stand in the shell’s history. Type it when asked, pipe it in, or use --from-env.';

export function addKeyCommands(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('Keys of model providers; a key is never shown');
  const run = (body: (client: Client, output: Output) => Promise<number | void>): Promise<void> =>
    runCommand(context, program.opts<GlobalOptions>(), async (client, output) => {
      return (await body(client, output)) === undefined ? exitCodes.ok : exitCodes.someWithoutVerdict;
    });
  keys
    .command('list')
    .description('Which providers have a key, and where it comes from')
    .action(() =>
      run(async (client, output) => printStatus(await client.request('chat.status', {}), output)),
    );
  keys
    .command('set')
    .description('Keep a key: typed in without echo, piped in, or taken from a variable')
    .argument('<provider>', 'as `keys list` names it')
    .option('--from-env <variable>', 'take the key from this environment variable')
    // Commander would print what it was given too much: perhaps the key.
    .allowExcessArguments(true)
    .action((provider: string, { fromEnv }: { readonly fromEnv?: string }, command: Command) =>
      run((client, output) => {
        if (command.args.length > 1) throw new StudioError('invalid_input', keyAsArgument);
        return setKey(client, { output, context, provider, fromEnv });
      }),
    );
  keys
    .command('remove')
    .description('Forget a kept key; variables of the environment stay as they are')
    .argument('<provider>', 'as `keys list` names it')
    .action((provider: string) => run((client, output) => removeKey(client, output, provider)));
  keys
    .command('test')
    .description('Ask a model for one word; exit code 1 when it does not answer')
    .argument('<provider>', 'as `keys list` names it')
    .option('--model <name>', 'default: the first model set up for the provider')
    .action((provider: string, { model }: { readonly model?: string }) =>
      run((client, output) => testKey(client, { output, provider, model })),
    );
}

function printStatus(status: ChatStatus, output: Output): void {
  for (const provider of status.providers) output.emit(provider);
  const rows = status.providers.map(({ name, key, variable }) => [name, words[key], variable]);
  for (const line of table([['provider', 'key', 'variable'], ...rows])) output.print(line);
  output.note(status.keyStore.says);
}

interface KeyToSet {
  readonly output: Output;
  readonly context: CommandContext;
  readonly provider: string;
  readonly fromEnv: string | undefined;
}

async function setKey(client: Client, { output, context, provider, fromEnv }: KeyToSet): Promise<void> {
  const { keyStore } = await knownProvider(client, provider);
  output.note(keyStore.says);
  const key = fromEnv === undefined ? await asked(provider, context) : fromVariable(fromEnv);
  const after = await client.request('chat.setKey', { provider, key });
  const state = after.providers.find(({ name }) => name === provider);
  output.emit({ event: 'key.set', provider, key: state?.key ?? 'none' });
  output.print(`The key of ${provider} is set. \`agentcanvas keys test ${provider}\` tries it.`);
}

function asked(provider: string, { streams }: CommandContext): Promise<string> {
  return readSecret({
    input: process.stdin,
    ask: (text) => void streams.stderr.write(text),
    prompt: `Key of ${provider} (it is not shown): `,
  });
}

function fromVariable(name: string): string {
  const key = process.env[name]?.trim();
  if (key) return key;
  throw new StudioError('invalid_input', `The variable ${name} is not set, or empty. Nothing was changed.`);
}

async function removeKey(client: Client, output: Output, provider: string): Promise<void> {
  const { state } = await knownProvider(client, provider);
  if (state.key === 'none' || state.key === 'unneeded' || state.key === 'environment') {
    const why = state.key === 'environment' ? `; its key comes from ${state.variable}` : '';
    throw new StudioError('invalid_input', `No key of ${provider} is kept${why}.`);
  }
  const after = await client.request('chat.clearKey', { provider });
  const key = after.providers.find(({ name }) => name === provider)?.key ?? 'none';
  output.emit({ event: 'key.removed', provider, key });
  output.print(`The key of ${provider} is forgotten. Now: ${words[key]}.`);
}

interface KeyToTest {
  readonly output: Output;
  readonly provider: string;
  readonly model: string | undefined;
}

async function testKey(client: Client, { output, provider, model }: KeyToTest): Promise<number | void> {
  await knownProvider(client, provider);
  const { chat } = (await client.request('settings.get', {})).settings;
  const isNamed = ({ name }: ChatProvider): boolean => name === provider;
  const found = chat.providers.find(isNamed) ?? knownProviders.find(isNamed);
  if (!found)
    throw new StudioError('invalid_input', `${provider} has a key and no address. Set it up in Settings.`);
  const asks = model ?? chat.profiles.find((profile) => profile.provider === provider)?.model;
  if (asks === undefined)
    throw new StudioError(
      'invalid_input',
      `No model of ${provider} is set up. Name one: \`keys test ${provider} --model NAME\`.`,
    );
  const result = await client.request('chat.test', { provider: found, model: asks });
  output.emit({ event: 'key.tested', provider, ...result });
  const took = result.ok ? ` (${result.model}, ${Math.round(result.durationMs)} ms)` : '';
  output.print(`${provider}: ${result.message}${took}`);
  return result.ok ? undefined : exitCodes.someWithoutVerdict;
}

interface KnownProvider {
  readonly state: ChatStatus['providers'][number];
  readonly keyStore: ChatStatus['keyStore'];
}

async function knownProvider(client: Client, provider: string): Promise<KnownProvider> {
  const { providers, keyStore } = await client.request('chat.status', {});
  const state = providers.find(({ name }) => name === provider);
  if (state) return { state, keyStore };
  throw new StudioError(
    'invalid_input',
    `No provider is named "${provider}". Known are ${providers.map(({ name }) => name).join(', ')}; others are set up in Settings.`,
  );
}
