// `agentcanvas replay RUN EPISODE`: what was kept of an episode, as text, or as files with --export.
import type { Command } from 'commander';
import path from 'node:path';
import { StudioError } from '../../base/errors.ts';
import type { Client } from './client.ts';
import { runCommand, type CommandContext, type GlobalOptions } from './context.ts';
import { duration, number } from './format.ts';
import { table, type Output } from './output.ts';

interface ReplayOptions {
  readonly attempt?: string;
  readonly export?: string;
  readonly step?: string;
}

export function addReplayCommand(program: Command, context: CommandContext): void {
  program
    .command('replay')
    .description('A recorded episode: its steps, one step in detail, or its frames as files')
    .argument('<run>', 'run id')
    .argument('[episode]', 'ordinal or episode id; without it, what was recorded')
    .option('--attempt <n>', 'an earlier attempt')
    .option('--step <n>', 'firings of this step with inputs and outputs')
    .option('--export <dir>', 'frames, log and a table of steps into a new folder')
    .action((runId: string, episode: string | undefined, own: ReplayOptions) =>
      runCommand(context, { ...program.opts<GlobalOptions>(), readOnly: true }, async (client, output) => {
        if (episode === undefined) return listRecorded(client, runId, output);
        const ordinal = await ordinalOf(client, runId, episode);
        const attempt = own.attempt === undefined ? {} : { attempt: wholeNumber(own.attempt, '--attempt') };
        const address = { runId, ordinal, ...attempt };
        if (own.export !== undefined) {
          const start = process.env['INIT_CWD'] ?? process.cwd();
          const folder = path.resolve(start, own.export);
          const written = await client.request('replay.exportFolder', { ...address, folder });
          output.emit({ event: 'replay.exported', ...written });
          output.print(
            `${written.frames} frames, ${(written.bytes / 2 ** 20).toFixed(1)} MB in ${written.folder}`,
          );
        } else if (own.step !== undefined) {
          await printStep(client, { ...address, step: wholeNumber(own.step, '--step') }, output);
        } else await printSteps(client, address, output);
      }),
    );
}

async function listRecorded(client: Client, runId: string, output: Output): Promise<void> {
  const { rows, total } = await client.request('replay.episodes', { runId, limit: 1000 });
  for (const row of rows) output.emit(row);
  if (rows.length === 0)
    output.print('Nothing of this run was recorded. Choose --record all, sample:<count> or failures.');
  const lines = rows.map((row) => [
    String(row.ordinal),
    row.episodeId ?? '',
    row.status,
    String(row.steps ?? ''),
    row.attempts.join(','),
  ]);
  if (rows.length > 0)
    for (const line of table([['ordinal', 'episode', 'status', 'steps', 'attempts'], ...lines]))
      output.print(line);
  if (total > rows.length) output.print(`${total - rows.length} more`);
}

/** A number is an ordinal unless an episode has it as its id. */
async function ordinalOf(client: Client, runId: string, episode: string): Promise<number> {
  const quoted = JSON.stringify(episode);
  const { rows } = await client.request('runs.episodes', {
    runId,
    filter: `episode_id == ${quoted}`,
    limit: 1,
  });
  const found = rows[0]?.ordinal;
  if (found !== undefined) return found;
  if (/^\d+$/.test(episode)) return Number(episode);
  throw new StudioError('not_found', `Run ${runId} has no episode "${episode}".`);
}

function wholeNumber(text: string, flag: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new StudioError('invalid_input', `${flag} takes a whole number, not "${text}".`);
}

type Address = { readonly runId: string; readonly ordinal: number; readonly attempt?: number };

async function printSteps(client: Client, address: Address, output: Output): Promise<void> {
  const opened = await client.request('replay.open', address);
  output.emit({ event: 'replay.opened', ...opened });
  output.print(
    `episode ${opened.episodeId ?? opened.ordinal}, attempt ${opened.attempt}: ${opened.status ?? 'unknown'}, ${opened.steps} steps`,
  );
  if (opened.instruction) output.print(opened.instruction);
  const head = ['step', 'time', 'firings', 'errors', 'action', 'position'];
  const rows: string[][] = [];
  for (let fromStep = 0; fromStep < opened.steps;) {
    const { steps } = await client.request('replay.steps', { ...address, fromStep, limit: 500 });
    if (steps.length === 0) break;
    for (const step of steps) {
      output.emit({ event: 'step', ...step });
      const position = (step.position ?? []).map((value) => number(value)).join(' ');
      rows.push([
        String(step.step),
        duration(step.atMs),
        String(step.firings),
        String(step.errors),
        step.action ?? '',
        position,
      ]);
    }
    fromStep = (steps.at(-1)?.step ?? fromStep) + 1;
  }
  for (const line of table([head, ...rows])) output.print(line);
}

async function printStep(
  client: Client,
  address: Address & { readonly step: number },
  output: Output,
): Promise<void> {
  const { firings, total } = await client.request('replay.firings', { ...address, limit: 200 });
  for (const firing of firings) {
    output.emit({ event: 'firing', ...firing });
    output.print(
      `${firing.path}  ${firing.nodeType}  ${firing.durationMs.toFixed(2)} ms${firing.error ? `  ERROR ${firing.error}` : ''}`,
    );
    for (const { port, value } of firing.inputs) output.print(`    in   ${port}: ${shown(value)}`);
    for (const { port, value } of firing.outputs) output.print(`    out  ${port}: ${shown(value)}`);
    for (const { key, value } of firing.log) output.print(`    log  ${key}: ${shown(value)}`);
  }
  if (total > firings.length) output.print(`${total - firings.length} more firings`);
}

function shown(value: { readonly kind: string } & Readonly<Record<string, unknown>>): string {
  if ('text' in value)
    return String(value['text'])
      .replaceAll(/\s*\n\s*/g, ' ')
      .slice(0, 500);
  if ('value' in value) return String(value['value']);
  if (value.kind === 'image')
    return `picture of ${String(value['width'])} x ${String(value['height'])}; --export writes it as a file`;
  return JSON.stringify(value).slice(0, 200);
}
