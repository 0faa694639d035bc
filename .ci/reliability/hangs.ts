// Environments that hang in every phase and every way: the verdict comes at its deadline, the process is gone soon after,
// and the run completes with the rest.
import { createBenchWorkspace, type BenchWorkspace } from './bench-workspace.ts';
import {
  callDeadlineMs,
  hangConfig,
  hangEnvironment,
  hangPhases,
  hangSettings,
  hangStates,
  pythonInterpreter,
  startDeadlineMs,
  whenHanging,
  type HangCase,
} from './hang-cases.ts';
import { isAlive, livingWith, untilNoneLives } from './living.ts';
import { openStudio, withEnvironment, type OpenedStudio } from './open-studio.ts';
import { atScale, Faults, largest, type RowOptions, type RowResult } from './row.ts';

interface Timing {
  /** Beyond the deadline. */
  readonly verdictMs: number;
  /** After the verdict. */
  readonly goneMs: number;
}

export async function run({ scale, signal, log }: RowOptions): Promise<RowResult> {
  if (process.platform !== 'linux' || pythonInterpreter() === '')
    return { name: 'hangs', figures: { skipped: 'needs Linux and Python' }, ok: true };
  const all = hangPhases.flatMap((phase) => hangStates.map((state): HangCase => ({ phase, state })));
  const cases = atScale(
    scale,
    all,
    all.filter(({ phase, state }) => ['step-native', 'close-stopped'].includes(`${phase}-${state}`)),
  );
  await using workspace = await createBenchWorkspace({
    name: 'hangs',
    nodesets: ['hanging.py'],
    settings: hangSettings(),
  });
  await using bench = await openStudio(workspace);
  const faults = new Faults();
  const timings: Timing[] = [];
  for (const each of cases) {
    signal.throwIfAborted();
    const timing = await oneCase(each, { bench, workspace, faults });
    if (!timing) continue;
    timings.push(timing);
    log(
      `${each.phase} x ${each.state}: verdict +${Math.round(timing.verdictMs)} ms, gone +${Math.round(timing.goneMs)} ms`,
    );
  }
  const left = (await livingWith(workspace.mark)).filter(({ command }) => command.includes('hanging'));
  faults.check(left.length === 0, () => `${left.length} environments are left`);
  return {
    name: 'hangs',
    figures: {
      cases: timings.length,
      'verdict after its deadline, worst ms': Math.round(largest(timings.map(({ verdictMs }) => verdictMs))),
      'process gone after the verdict, worst ms': Math.round(largest(timings.map(({ goneMs }) => goneMs))),
      'runs that did not complete, late or left': faults.count,
    },
    ok: faults.count === 0 && timings.length === cases.length,
    details: faults.stories,
  };
}

interface CaseContext {
  readonly bench: OpenedStudio;
  readonly workspace: BenchWorkspace;
  readonly faults: Faults;
}

async function oneCase(
  each: HangCase,
  { bench, workspace, faults }: CaseContext,
): Promise<Timing | undefined> {
  const title = `${each.phase} x ${each.state}`;
  const { flag, environment } = hangEnvironment(workspace, each);
  using _environment = withEnvironment(environment);
  const { runId } = await bench.ask('runs.start', { config: hangConfig });
  const hanging = await whenHanging(flag, 30_000);
  const [pid] = hanging?.pids ?? [];
  if (!hanging || pid === undefined) {
    faults.add(`${title}: it never hung; the run ended ${await bench.whenEnded(runId)}`);
    return undefined;
  }
  const deadlineMs = each.phase === 'start' || each.phase === 'restart' ? startDeadlineMs : callDeadlineMs;
  const wentAway = untilNoneLives(() => isAlive(pid), deadlineMs + 10_000).then(() => Date.now());
  const status = await bench.whenEnded(runId);
  const endedMs = Date.now();
  const goneAtMs = await wentAway;
  const verdictAtMs = await verdictTime(each, { bench, runId, endedMs, dueMs: hanging.atMs + deadlineMs });
  if (each.phase === 'start') {
    // A run whose first replicas do not start has no episodes to save; it says so, and the next one is whole.
    faults.check(status === 'failed', () => `${title}: the run ended ${status}`);
    const next = await bench.evaluate(hangConfig);
    faults.check(next.status === 'completed', () => `${title}: the next run ended ${next.status}`);
  } else faults.check(status === 'completed', () => `${title}: the run ended ${status}`);
  const verdictMs = verdictAtMs - hanging.atMs - deadlineMs;
  const goneMs = Math.max(0, goneAtMs - verdictAtMs);
  faults.check(verdictMs <= 1000, () => `${title}: verdict ${Math.round(verdictMs)} ms after the deadline`);
  faults.check(goneMs <= 2000, () => `${title}: gone ${Math.round(goneMs)} ms after the verdict`);
  return { verdictMs: Math.max(0, verdictMs), goneMs };
}

/** Where no row tells of it, the deadline itself: then all of the delay shows in when the process is gone. */
async function verdictTime(
  { phase }: HangCase,
  { bench, runId, endedMs, dueMs }: { bench: OpenedStudio; runId: string; endedMs: number; dueMs: number },
): Promise<number> {
  if (phase === 'start') return endedMs;
  if (phase === 'restart' || phase === 'close') return dueMs;
  const row = (await bench.attempts(runId, 1)).find(({ status }) => status === 'timeout');
  if (!row) throw new Error(`${phase}: no attempt timed out`);
  return Date.parse(row.startedAt) + row.durationMs;
}
