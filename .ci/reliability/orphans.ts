// An engine killed with SIGKILL while its environments hang in every way, each with a grandchild in its own group or in a
// session of its own: nothing of it is alive 2 s later.
import { setTimeout as delay } from 'node:timers/promises';
import { createBenchWorkspace, type BenchWorkspace } from './bench-workspace.ts';
import { startEngine } from './engine-process.ts';
import {
  hangConfig,
  hangEnvironment,
  hangSettings,
  hangStates,
  pythonInterpreter,
  whenHanging,
  type HangCase,
} from './hang-cases.ts';
import { isAlive, livingWith, untilNoneLives } from './living.ts';
import { atScale, Faults, largest, percentile, type RowOptions, type RowResult } from './row.ts';

const phases = ['start', 'reset', 'step', 'close'] as const;
const goneWithinMs = 2000;

export async function run({ scale, signal, log }: RowOptions): Promise<RowResult> {
  if (process.platform !== 'linux' || pythonInterpreter() === '')
    return { name: 'orphans', figures: { skipped: 'needs Linux and Python' }, ok: true };
  const all = phases.flatMap((phase) =>
    hangStates.flatMap((state) =>
      (['group', 'setsid'] as const).map((grandchild): HangCase => ({ phase, state, grandchild })),
    ),
  );
  const reduced = ['step-native-setsid', 'reset-stopped-group'];
  const cases = atScale(
    scale,
    all,
    all.filter(({ phase, state, grandchild }) => reduced.includes(`${phase}-${state}-${grandchild}`)),
  );
  await using workspace = await createBenchWorkspace({
    name: 'orphans',
    nodesets: ['hanging.py'],
    settings: hangSettings(),
  });
  const faults = new Faults();
  const goneMs: number[] = [];
  for (const each of cases) {
    signal.throwIfAborted();
    const ms = await oneCase(each, { workspace, faults });
    if (ms !== undefined) goneMs.push(ms);
    log(`${each.phase} x ${each.state} x ${each.grandchild}: gone after ${Math.round(ms ?? Number.NaN)} ms`);
  }
  return {
    name: 'orphans',
    figures: {
      cases: goneMs.length,
      'alive after 2 s': faults.count,
      'last one gone p50 ms': Math.round(percentile(goneMs, 0.5)),
      'last one gone worst ms': Math.round(largest(goneMs)),
    },
    ok: faults.count === 0 && goneMs.length === cases.length,
    details: faults.stories,
  };
}

async function oneCase(
  each: HangCase,
  { workspace, faults }: { workspace: BenchWorkspace; faults: Faults },
): Promise<number | undefined> {
  const title = `${each.phase} x ${each.state} x ${each.grandchild}`;
  const { flag, environment } = hangEnvironment(workspace, each);
  const engine = startEngine(workspace, hangConfig, environment);
  try {
    const hanging = await whenHanging(flag, 30_000);
    await delay(100);
    const alive = await Promise.all((hanging?.pids ?? []).map(isAlive));
    if (alive.length !== 2 || alive.includes(false)) {
      faults.add(`${title}: it did not hang with its grandchild; ${engine.stderr()}`);
      return undefined;
    }
  } finally {
    engine.child.kill('SIGKILL');
    await engine.exited;
  }
  const ms = await untilNoneLives(async () => (await livingWith(workspace.mark)).length > 0, goneWithinMs);
  if (ms === undefined) {
    const left = await livingWith(workspace.mark);
    faults.add(`${title}: ${left.map(({ command }) => command).join('; ')}`);
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
  }
  return ms;
}
