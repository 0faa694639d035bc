// What recording costs: the same episodes of minivln under each recording policy, in turns in one process, so that all
// see the same machine. The expert succeeds, so `failures` gathers everything and keeps nothing: its usual case.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { silentLogger } from '../../main/base/logger.ts';
import type { RequestInput, RequestName, RequestOutput } from '../../main/contract/api.ts';
import { createStudio, type Studio } from '../../main/studio.ts';
import { median, saveResult } from './harness.ts';

const policies = ['none', 'failures', 'all'] as const;
const rounds = Number(process.env['RECORDING_BENCH_ROUNDS'] ?? 7);
const episodes = Number(process.env['RECORDING_BENCH_EPISODES'] ?? 40);
const pollMs = 100;

const folder = mkdtempSync(path.join(os.tmpdir(), 'bench recording '));
writeFileSync(path.join(folder, 'agentcanvas.json'), '{}');
try {
  await using studio = await createStudio({ host: 'cli', workspace: folder, logger: silentLogger });
  await measure(studio);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Cost {
  /** Wall clock of an episode by its steps, median of the run's episodes. */
  readonly stepUs: number;
  /** Processor time of the engine with all its threads, by steps. */
  readonly engineUs: number;
  readonly steps: number;
}

async function measure(studio: Studio): Promise<void> {
  const costs = new Map<string, Cost[]>(policies.map((policy) => [policy, []]));
  await evaluate(studio, 'none');
  for (let round = 0; round < rounds; round += 1) {
    // Another one comes first every time: what warms up or tires favours none.
    for (let at = 0; at < policies.length; at += 1) {
      const policy = policies[(at + round) % policies.length] ?? 'none';
      costs.get(policy)?.push(await evaluate(studio, policy));
    }
  }
  const base = costs.get('none') ?? [];
  const table = policies.map((policy) => {
    const own = costs.get(policy) ?? [];
    const ratios = own.map((cost, round) => cost.stepUs / (base[round]?.stepUs ?? Number.NaN));
    return {
      policy,
      stepUs: median(own.map(({ stepUs }) => stepUs)),
      ratio: median(ratios),
      ratioLow: Math.min(...ratios),
      ratioHigh: Math.max(...ratios),
      engineUs: median(own.map(({ engineUs }) => engineUs)),
    };
  });
  console.log(
    `\nminivln_expert, ${episodes} episodes, ${base[0]?.steps ?? 0} steps, ${rounds} rounds in turns`,
  );
  console.log('policy      per step    ratio to none (lowest – highest)    engine CPU per step');
  for (const row of table)
    console.log(
      `${row.policy.padEnd(9)} ${row.stepUs.toFixed(0).padStart(7)} µs    ${row.ratio.toFixed(3)} (${row.ratioLow.toFixed(2)} – ${row.ratioHigh.toFixed(2)})${' '.repeat(21)}${row.engineUs.toFixed(0)} µs`,
    );
  saveResult('recording', { rounds, episodes, table });
}

async function evaluate(studio: Studio, recording: (typeof policies)[number]): Promise<Cost> {
  const config = { graph: 'minivln_expert', selectors: { split: 'val_seen' }, episodes, recording };
  // Rows come in bundles; from the first to the last one nothing but episodes goes on.
  const seen: { readonly cpuUs: number; readonly steps: number }[] = [];
  using _rows = studio.feed.subscribe(({ name, payload }) => {
    if (name !== 'run.episodes') return;
    const { user, system } = process.cpuUsage();
    const ended = payload.rows.filter(({ status }) => status === 'completed');
    seen.push({ cpuUs: user + system, steps: ended.reduce((sum, row) => sum + (row.steps ?? 0), 0) });
  });
  const { runId } = await ask(studio, 'runs.start', { config });
  for (;;) {
    const { record } = await ask(studio, 'runs.get', { runId });
    const { holder } = await ask(studio, 'guard.get', {});
    if (record.status === 'completed' && holder === null) break;
    if (!['preparing', 'running', 'completed'].includes(record.status)) throw new Error(record.status);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  const { rows } = await ask(studio, 'runs.episodes', { runId, limit: episodes });
  const done = rows.flatMap(({ steps, durationMs }) => (steps && durationMs ? [{ steps, durationMs }] : []));
  const later = seen.slice(1).reduce((sum, { steps }) => sum + steps, 0);
  return {
    stepUs: median(done.map((row) => (row.durationMs * 1000) / row.steps)),
    engineUs: ((seen.at(-1)?.cpuUs ?? Number.NaN) - (seen[0]?.cpuUs ?? Number.NaN)) / later,
    steps: done.reduce((sum, row) => sum + row.steps, 0),
  };
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
