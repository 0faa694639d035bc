// kill -9 of replicas and of the model's process again and again in one run: every episode still has its one verdict, the
// slot is back soon, and the episodes of the other workers take as long as before.
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, type Random } from '../../main/base/random.ts';
import { createBenchWorkspace, outcomesOf, readJournal, type JournalRow } from './bench-workspace.ts';
import { livingWith } from './living.ts';
import { openStudio, type OpenedStudio } from './open-studio.ts';
import { atScale, Faults, largest, percentile, type RowOptions, type RowResult } from './row.ts';

const workerCount = 4;
const config = {
  graph: 'policy',
  selectors: { split: 'steady' },
  workerCount,
  seed: 5,
  retry: { attempts: 10, on: ['died', 'timeout'] as ('died' | 'timeout')[] },
};
const backWithinMs = 10_000;

interface Kill {
  readonly what: 'replica' | 'model';
  readonly worker: number | null;
  /** Wall clock. */
  readonly atMs: number;
  readonly backMs: number;
}

interface Hunt {
  readonly bench: OpenedStudio;
  readonly runId: string;
  readonly mark: string;
  readonly random: Random;
}

export async function run({ seed, scale, signal, log }: RowOptions): Promise<RowResult> {
  const kills = atScale(scale, 200, 6);
  // Chance may kill one worker three times in a row, which is no reason to give it up here.
  const settings = { process_limits: { crash_budget: 100 } };
  await using workspace = await createBenchWorkspace({ name: 'replica kills', settings });
  const environment = { ...workspace.environment, AC_WANDERER_PAUSE_MS: '15' };
  await using bench = await openStudio({ ...workspace, environment });
  const faults = new Faults();
  const calm = await bench.evaluate({ ...config, episodes: atScale(scale, 400, 60) });
  const calmRows = await readJournal(workspace.folder, calm.runId);
  // As many as 200 kills take; what is over when they are done is the end of the run.
  const episodes = atScale(scale, 5000, 200);
  const { runId } = await bench.ask('runs.start', { config: { ...config, episodes } });
  const hunt: Hunt = { bench, runId, mark: workspace.mark, random: createRandom(seed) };
  const done: Kill[] = [];
  while (done.length < kills) {
    signal.throwIfAborted();
    const kill = await killOne(hunt);
    if (!kill) break;
    done.push(kill);
    faults.check(kill.backMs < backWithinMs, () => `${kill.what} ${kill.worker} did not come back`);
    if (done.length % 25 === 0) log(`${done.length} of ${kills} kills`);
    await delay(200);
  }
  const status = await bench.whenEnded(runId);
  faults.check(status === 'completed', () => `the run ended ${status}`);
  const rows = await readJournal(workspace.folder, runId);
  judge(rows, { calmRows, episodes, faults });
  return report(done, { kills, rows, calmRows, faults, isTimed: scale === 'full' });
}

/** Null when the run is over. */
async function killOne({ bench, runId, mark, random }: Hunt): Promise<Kill | null> {
  const isModel = random.integer(8) === 0;
  if (isModel) {
    const model = (await livingWith(mark)).find(({ command }) => command.includes('model-host'));
    const before = await finishedOf(bench, runId);
    if (model && before !== null) {
      const atMs = Date.now();
      process.kill(model.pid, 'SIGKILL');
      // Episodes end again only once there is a model again.
      const workers = workerCount;
      const backMs = await until(async () => {
        const now = await finishedOf(bench, runId);
        return now === null || now >= before + workers;
      });
      return { what: 'model', worker: null, atMs, backMs };
    }
  }
  const worker = random.integer(workerCount);
  const pid = (await viewOf(bench, runId, worker))?.pids[0];
  if (pid === undefined) return (await finishedOf(bench, runId)) === null ? null : await again();
  const atMs = Date.now();
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return again();
  }
  const backMs = await until(async () => {
    const view = await viewOf(bench, runId, worker);
    return !view || (view.pids.length > 0 && !view.pids.includes(pid) && view.phase !== 'replacing');
  });
  return { what: 'replica', worker, atMs, backMs };

  async function again(): Promise<Kill | null> {
    await delay(50);
    return killOne({ bench, runId, mark, random });
  }
}

async function until(isSo: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < backWithinMs && !(await isSo())) await delay(10);
  return performance.now() - startMs;
}

async function viewOf(
  bench: OpenedStudio,
  runId: string,
  worker: number,
): Promise<{ readonly pids: readonly number[]; readonly phase: string } | undefined> {
  return (await bench.ask('runs.live', { runId }))?.workers[worker];
}

async function finishedOf(bench: OpenedStudio, runId: string): Promise<number | null> {
  const live = await bench.ask('runs.live', { runId });
  return live ? live.summary.counts.planned - live.summary.counts.notRun : null;
}

function judge(
  rows: readonly JournalRow[],
  { calmRows, episodes, faults }: { calmRows: readonly JournalRow[]; episodes: number; faults: Faults },
): void {
  const finals = rows.filter((row) => row.final);
  const ordinals = new Set(finals.map(({ ordinal }) => ordinal));
  faults.check(
    ordinals.size === finals.length,
    () => `${finals.length - ordinals.size} episodes are there twice`,
  );
  faults.check(ordinals.size === episodes, () => `${episodes - ordinals.size} episodes are lost`);
  const calm = outcomesOf(calmRows);
  const disturbed = outcomesOf(rows).slice(0, calm.length);
  const different = calm.filter((outcome, index) => outcome !== disturbed[index]);
  faults.check(different.length === 0, () => `${different.length} results differ: ${different[0]}`);
}

function report(
  done: readonly Kill[],
  {
    kills,
    rows,
    calmRows,
    faults,
    isTimed,
  }: {
    kills: number;
    rows: readonly JournalRow[];
    calmRows: readonly JournalRow[];
    faults: Faults;
    /** A test among others does not judge times. */
    isTimed: boolean;
  },
): RowResult {
  const replicaKills = done.filter(({ what }) => what === 'replica');
  const backMs = replicaKills.map((kill) => kill.backMs);
  const modelMs = done.filter(({ what }) => what === 'model').map((kill) => kill.backMs);
  const calmMs = percentile(
    calmRows.map((row) => row.durationMs),
    0.5,
  );
  const othersMs = percentile(othersDuring(rows, replicaKills), 0.5);
  const p95 = percentile(backMs, 0.95);
  faults.check(!isTimed || p95 <= 1000, () => `slot back p95 ${Math.round(p95)} ms`);
  faults.check(
    !isTimed || othersMs <= 1.3 * calmMs,
    () => `others ${Math.round(othersMs)} ms, calm ${Math.round(calmMs)} ms`,
  );
  return {
    name: 'replica-kills',
    figures: {
      'replicas killed': replicaKills.length,
      'model processes killed': modelMs.length,
      episodes: rows.filter((row) => row.final).length,
      'attempts that died': rows.filter((row) => row.status === 'died').length,
      'lost, doubled or different': faults.count,
      'slot back p50 ms': Math.round(percentile(backMs, 0.5)),
      'slot back p95 ms': Math.round(p95),
      'slot back worst ms': Math.round(largest(backMs)),
      'model back, with an episode of every worker, worst ms': Math.round(largest(modelMs)),
      'median episode of the others ms': Math.round(othersMs),
      'median episode undisturbed ms': Math.round(calmMs),
    },
    ok: faults.count === 0 && done.length === kills,
    details: faults.stories,
  };
}

/** Durations of other workers' episodes that were going on while a replica was away. */
function othersDuring(rows: readonly JournalRow[], kills: readonly Kill[]): readonly number[] {
  return rows.flatMap((row) => {
    const fromMs = Date.parse(row.startedAt);
    const isMet = kills.some(
      ({ worker, atMs, backMs }) =>
        worker !== row.worker && fromMs < atMs + backMs && fromMs + row.durationMs > atMs,
    );
    return isMet && row.status === 'completed' ? [row.durationMs] : [];
  });
}
