// The figures the numbers pages stand on, through the engine as a host runs it: comparing two runs, exporting a large
// one, opening a recording of a gigabyte. Beside each: the longest the event loop was held, and the same while idle.
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { finished } from 'node:stream/promises';
import { createRandom } from '../../main/base/random.ts';
import { silentLogger } from '../../main/base/logger.ts';
import type { RequestInput, RequestName, RequestOutput } from '../../main/contract/api.ts';
import { createStudio, type Studio } from '../../main/studio.ts';
import { median, saveResult } from './harness.ts';

const compared = Number(process.env['NUMBERS_BENCH_COMPARED'] ?? 10_000);
const exported = Number(process.env['NUMBERS_BENCH_EXPORTED'] ?? 100_000);
const logLines = Number(process.env['NUMBERS_BENCH_LOG_LINES'] ?? 500_000);
const logLineBytes = 2000;
const rounds = 5;
const idleMs = 2000;

interface Figure {
  readonly what: string;
  readonly ms: number;
  /** The target, in the unit of `ms`; null where there is none. */
  readonly limitMs: number | null;
  /** Longest the event loop was held meanwhile. */
  readonly heldMs: number;
  readonly remark?: string;
}

const figures: Figure[] = [];
const folder = await mkdtemp(path.join(os.tmpdir(), 'bench numbers '));
await writeFile(path.join(folder, 'agentcanvas.json'), '{}');
try {
  await using studio = await createStudio({ host: 'cli', workspace: folder, logger: silentLogger });
  await idle('idle, before');
  await compareRuns(studio);
  await exportRun(studio);
  await openLargeLog(studio);
  await idle('idle, after');
} finally {
  await rm(folder, { recursive: true, force: true });
}
print();
saveResult('numbers', { compared, exported, logLines, figures });

async function compareRuns(studio: Studio): Promise<void> {
  const runIds = [
    await importRun(studio, 'baseline', compared, 0.5),
    await importRun(studio, 'other', compared, 0.53),
  ];
  let metrics = 0;
  const compare = () => ask(studio, 'runs.compare', { runIds, commonOnly: true });
  const first = await timed(async () => {
    metrics = (await compare()).metrics.length;
  });
  const again: Timed[] = [];
  for (let round = 0; round < rounds; round += 1) again.push(await timed(compare));
  const name = `compare 2 x ${compared.toLocaleString('en')} episodes, 10,000 draws`;
  const each = (ms: number): number => ms / metrics;
  const add = (what: string, { ms, heldMs }: Timed): void =>
    void figures.push({
      what: `${name}, per metric, ${what}`,
      ms: each(ms),
      limitMs: 2000,
      heldMs,
      remark: `${metrics} metrics`,
    });
  add('files read first', first);
  add('median', middle(again));
}

async function exportRun(studio: Studio): Promise<void> {
  const runId = await importRun(studio, 'large', exported, 0.5);
  for (const format of ['parquet', 'csv'] as const) {
    const taken: Timed[] = [];
    let bytes = 0;
    for (let round = 0; round < 3; round += 1)
      taken.push(
        await timed(async () => {
          ({ bytes } = await ask(studio, 'runs.exportFile', { runId, format }));
        }),
      );
    const { ms, heldMs } = taken[0] ?? middle(taken);
    const remark = `${(bytes / 1e6).toFixed(1)} MB; again ${middle(taken).ms.toFixed(0)} ms`;
    figures.push({
      what: `${format} of ${exported.toLocaleString('en')} episodes`,
      ms,
      limitMs: 5000,
      heldMs,
      remark,
    });
  }
}

async function openLargeLog(studio: Studio): Promise<void> {
  const runId = await importRun(studio, 'recorded', 1, 0.5);
  const key = await firstKey(studio, runId);
  const bytes = await writeLog(path.join(folder, 'outputs', 'eval_runs', runId, 'episodes', key));
  const at = { runId, ordinal: 0 };
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
  const what = `log of ${(bytes / 1e9).toFixed(2)} GB, ${logLines.toLocaleString('en')} lines`;
  const first = await timed(async () => {
    await ask(studio, 'replay.open', at);
    await ask(studio, 'replay.steps', { ...at, limit: 50 });
    await ask(studio, 'replay.firings', { ...at, step: 0 });
  });
  figures.push({ what: `${what}: first screen`, ms: first.ms, limitMs: 500, heldMs: first.heldMs });
  const whole = await timed(async () => {
    while (!(await ask(studio, 'replay.open', at)).isIndexed) await pause(50);
  });
  const { steps } = await ask(studio, 'replay.open', at);
  const jump = await timed(async () => {
    await ask(studio, 'replay.steps', { ...at, fromStep: steps - 50, limit: 50 });
    await ask(studio, 'replay.firings', { ...at, step: steps - 1 });
  });
  clearInterval(watch);
  const remark = `memory of the process +${((most - before) / 2 ** 20).toFixed(0)} MB at most`;
  figures.push({
    what: `${what}: indexed to its end`,
    ms: whole.ms,
    limitMs: null,
    heldMs: whole.heldMs,
    remark,
  });
  figures.push({ what: `${what}: jump to its end`, ms: jump.ms, limitMs: 500, heldMs: jump.heldMs });
}

/** Lines as an environment with long observations leaves them: eight firings a step. */
async function writeLog(target: string): Promise<number> {
  await mkdir(target, { recursive: true });
  const file = createWriteStream(path.join(target, 'log.jsonl'));
  const filler = 'x'.repeat(logLineBytes - 150);
  let bytes = 0;
  for (let line = 0; line < logLines;) {
    let block = '';
    for (let end = Math.min(logLines, line + 1000); line < end; line += 1)
      block += `${JSON.stringify({ step: Math.floor(line / 8), node: `node_${line % 8}`, type: 'toy__node', phase: 'loop', at: line, ms: 0.5, in: {}, out: { action: line % 4, text: filler } })}\n`;
    bytes += block.length;
    if (!file.write(block)) await new Promise<void>((resolve) => file.once('drain', () => resolve()));
  }
  file.end();
  await finished(file);
  // What is measured is a log at rest, not the disk that is still taking it in.
  const written = await open(path.join(target, 'log.jsonl'), 'r+');
  await written.sync();
  await written.close();
  return bytes;
}

async function firstKey(studio: Studio, runId: string): Promise<string> {
  const { rows } = await ask(studio, 'runs.episodes', { runId, limit: 1 });
  return rows[0]?.key ?? '';
}

/** Metrics by episode id, as an evaluation elsewhere would have left them. */
async function importRun(studio: Studio, name: string, episodes: number, rate: number): Promise<string> {
  const random = createRandom(episodes + Math.round(rate * 1000));
  const rows: Record<string, object> = {};
  for (let episode = 0; episode < episodes; episode += 1) {
    const success = random.next() < rate ? 1 : 0;
    rows[`episode ${episode}`] = {
      success,
      spl: success * random.next(),
      ndtw: random.next(),
      sdtw: success * random.next(),
      distance_to_goal: random.next() * 10,
      path_length: random.next() * 20,
      steps_taken: Math.floor(random.next() * 500),
      collisions: random.next(),
      scene_id: `scene ${episode % 90}`,
      instruction: `Walk to the kitchen and stop beside chair ${episode % 300}.`,
    };
  }
  const file = path.join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(rows));
  const { runId } = await ask(studio, 'runs.import', {
    path: file,
    name,
    environment: 'toy',
    split: 'test',
    stepBudget: 500,
  });
  return runId;
}

interface Timed {
  readonly ms: number;
  readonly heldMs: number;
}

async function timed(work: () => Promise<unknown>): Promise<Timed> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const started = performance.now();
  await work();
  const ms = performance.now() - started;
  delay.disable();
  // Beyond the millisecond it looks every.
  return { ms, heldMs: Math.max(0, delay.max / 1e6 - 1) };
}

async function idle(what: string): Promise<void> {
  const { ms, heldMs } = await timed(() => pause(idleMs));
  figures.push({ what, ms, limitMs: null, heldMs });
}

function middle(taken: readonly Timed[]): Timed {
  return {
    ms: median(taken.map(({ ms }) => ms)),
    heldMs: Math.max(...taken.map(({ heldMs }) => heldMs)),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function print(): void {
  const width = Math.max(...figures.map(({ what }) => what.length));
  console.log(`\n${'what'.padEnd(width)}      time    target   loop held at most`);
  for (const { what, ms, limitMs, heldMs, remark = '' } of figures) {
    const target = limitMs === null ? '' : `${limitMs} ms ${ms < limitMs ? 'met' : 'NOT met'}`;
    console.log(
      `${what.padEnd(width)} ${ms.toFixed(0).padStart(6)} ms  ${target.padEnd(14)} ${heldMs.toFixed(1).padStart(6)} ms   ${remark}`,
    );
  }
}

async function ask<Name extends RequestName>(
  studio: Studio,
  name: Name,
  input: RequestInput<Name>,
): Promise<RequestOutput<Name>> {
  const reply = await studio.dispatcher.dispatch(name, input);
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.value as RequestOutput<Name>;
}
