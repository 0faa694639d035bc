// kill -9 of the engine at random points of runs: each engine resumes what its predecessor left, starts another run, and
// is killed in turn. At the end every run has each planned episode once, with the results of an undisturbed run.
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, type Random } from '../../main/base/random.ts';
import { createBenchWorkspace, outcomesOf, readJournal, type BenchWorkspace } from './bench-workspace.ts';
import { startEngine, type EngineProcess } from './engine-process.ts';
import { livingWith, untilNoneLives } from './living.ts';
import { atScale, Faults, largest, percentile, type RowOptions, type RowResult } from './row.ts';

const config = { graph: 'plain', selectors: { split: 'steady' }, episodes: 24, workerCount: 2, seed: 11 };
const goneWithinMs = 2000;

interface Undisturbed {
  readonly outcomes: readonly string[];
  /** From the start of the process to that of the run, and from there to its end. */
  readonly startMs: number;
  readonly runMs: number;
}

interface Ledger {
  readonly rows: Map<string, Set<number>>;
  readonly runIds: Set<string>;
  readonly goneMs: number[];
  readonly faults: Faults;
  kills: number;
  killsInResume: number;
  resumed: number;
}

export async function run({ seed, scale, signal, log }: RowOptions): Promise<RowResult> {
  const points = atScale(scale, 200, 4);
  const chains = atScale(scale, 2, 1);
  const each = await Promise.all(
    Array.from({ length: chains }, (_item, chain) =>
      oneChain(createRandom(seed + chain), { points: points / chains, signal, log }),
    ),
  );
  const goneMs = each.flatMap((ledger) => ledger.goneMs);
  const sum = (of: (ledger: Ledger) => number): number =>
    each.reduce((total, ledger) => total + of(ledger), 0);
  const failures = each.flatMap(({ faults }) => faults.stories);
  return {
    name: 'engine-kills',
    figures: {
      'kill points': sum(({ kills }) => kills),
      'of them while resuming': sum(({ killsInResume }) => killsInResume),
      runs: sum(({ runIds }) => runIds.size),
      'episodes told of before a kill': sum(({ rows }) =>
        [...rows.values()].reduce((n, { size }) => n + size, 0),
      ),
      'lost, doubled, different or left': sum(({ faults }) => faults.count),
      'last process gone p50 ms': Math.round(percentile(goneMs, 0.5)),
      'last process gone worst ms': Math.round(largest(goneMs)),
    },
    ok: failures.length === 0 && sum(({ kills }) => kills) === points,
    details: failures,
  };
}

async function oneChain(
  random: Random,
  { points, signal, log }: { points: number } & Pick<RowOptions, 'signal' | 'log'>,
): Promise<Ledger> {
  await using workspace = await createBenchWorkspace({ name: 'engine kills' });
  const ledger: Ledger = {
    rows: new Map(),
    runIds: new Set(),
    goneMs: [],
    faults: new Faults(),
    kills: 0,
    killsInResume: 0,
    resumed: 0,
  };
  const undisturbed = await runUndisturbed(workspace);
  while (ledger.kills < points) {
    signal.throwIfAborted();
    await killOnce(workspace, { random, ledger, undisturbed });
    if (ledger.kills % 20 === 0) log(`${ledger.kills} of ${points} kills`);
  }
  const last = startEngine(workspace, null);
  await last.exited;
  ledger.faults.check(last.child.exitCode === 0, () => `the last engine failed: ${last.stderr()}`);
  note(last, ledger);
  for (const runId of ledger.runIds) await judge(workspace, { runId, ledger, undisturbed });
  return ledger;
}

async function runUndisturbed(workspace: BenchWorkspace): Promise<Undisturbed> {
  // The first one also fills the caches.
  for (let warm = 0; ; warm++) {
    const spawnedMs = performance.now();
    let startedMs = 0;
    let finishedMs = 0;
    const engine = startEngine(workspace, config);
    engine.onTold(({ kind }) => {
      if (kind === 'started') startedMs = performance.now();
      if (kind === 'finished') finishedMs = performance.now();
    });
    await engine.exited;
    const runId = engine.told.find(({ kind }) => kind === 'started')?.runId;
    if (runId === undefined || finishedMs === 0) throw new Error(`no undisturbed run: ${engine.stderr()}`);
    if (warm === 0) continue;
    const outcomes = outcomesOf(await readJournal(workspace.folder, runId));
    if (outcomes.length !== config.episodes) throw new Error('the undisturbed run is not whole');
    return { outcomes, startMs: startedMs - spawnedMs, runMs: finishedMs - startedMs };
  }
}

interface KillContext {
  readonly random: Random;
  readonly ledger: Ledger;
  readonly undisturbed: Undisturbed;
}

/** Most points lie in the new run; some anywhere from the engine's first instruction on. */
async function killOnce(
  workspace: BenchWorkspace,
  { random, ledger, undisturbed }: KillContext,
): Promise<void> {
  const engine = startEngine(workspace, config);
  const isAnywhere = random.next() < 0.2;
  if (!isAnywhere) await untilStarted(engine);
  const spanMs = isAnywhere ? undisturbed.startMs + undisturbed.runMs : undisturbed.runMs;
  await Promise.race([delay(random.next() * spanMs), engine.exited]);
  if (engine.child.exitCode !== null) {
    note(engine, ledger);
    ledger.faults.check(engine.child.exitCode === 0, () => `an engine failed: ${engine.stderr()}`);
    return;
  }
  engine.child.kill('SIGKILL');
  await engine.exited;
  const goneMs = await untilNoneLives(
    async () => (await livingWith(workspace.mark)).length > 0,
    goneWithinMs,
  );
  if (goneMs === undefined)
    ledger.faults.add(
      `left after 2 s: ${(await livingWith(workspace.mark)).map(({ command }) => command).join('; ')}`,
    );
  else ledger.goneMs.push(goneMs);
  ledger.kills++;
  if (engine.told.at(-1)?.kind === 'resuming') ledger.killsInResume++;
  note(engine, ledger);
}

async function untilStarted(engine: EngineProcess): Promise<void> {
  const started = Promise.withResolvers<void>();
  engine.onTold(({ kind }) => {
    if (kind === 'started') started.resolve();
  });
  await Promise.race([started.promise, engine.exited]);
}

function note({ told }: EngineProcess, ledger: Ledger): void {
  for (const message of told) {
    if (message.kind === 'started') ledger.runIds.add(message.runId);
    if (message.kind === 'rows') {
      const known = ledger.rows.get(message.runId) ?? new Set();
      ledger.rows.set(message.runId, known);
      for (const ordinal of message.ordinals) known.add(ordinal);
    }
    if (message.kind !== 'resumed') continue;
    ledger.resumed++;
    ledger.faults.check(
      message.status === 'completed',
      () => `run ${message.runId} resumed to ${message.status}`,
    );
  }
}

async function judge(
  { folder }: BenchWorkspace,
  { runId, ledger, undisturbed }: { runId: string } & Pick<KillContext, 'ledger' | 'undisturbed'>,
): Promise<void> {
  const finals = (await readJournal(folder, runId)).filter((row) => row.final);
  const ordinals = new Set(finals.map(({ ordinal }) => ordinal));
  ledger.faults.check(ordinals.size === finals.length, () => `run ${runId} has an episode twice`);
  for (const ordinal of ledger.rows.get(runId) ?? [])
    ledger.faults.check(ordinals.has(ordinal), () => `run ${runId} lost episode ${ordinal}`);
  const outcomes = outcomesOf(finals);
  ledger.faults.check(
    JSON.stringify(outcomes) === JSON.stringify(undisturbed.outcomes),
    () => `run ${runId}: ${outcomes.length} outcomes are not those of the undisturbed run`,
  );
}
