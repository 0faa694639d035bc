// How long the engine's thread is busy without a pause: CPU time of each turn of its event loop while eight workers run at
// full speed, and while eight callers keep a large model busy. Beside an empty control; the goal is 8 ms.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { evalConfig, type EvalConfigInput } from '../../main/contract/eval-config.ts';
import { createStudio, type Studio } from '../../main/studio.ts';
import { saveResult } from './harness.ts';

interface Held {
  readonly what: string;
  /** CPU milliseconds of the longest turn of the event loop while episodes run. */
  readonly longestMs: number;
  /** Turns beyond the goal. */
  readonly above8Ms: number;
  readonly turns: number;
  /** The longest while replicas start and stop: starting a process copies the engine's page tables. */
  readonly longestAtEndsMs: number;
  /** Wall clock: includes what the system gave to others. */
  readonly longestDelayMs: number;
}

/** Looks at the thread's CPU clock once per turn; that costs a microsecond and keeps the loop from sleeping. */
let isAtWork = true;

async function watch(what: string, work: () => Promise<unknown>): Promise<Held> {
  // Counted by hundredths of a millisecond: a list of millions of turns would be the longest turn itself.
  const counts = new Float64Array(100_001);
  let longestUs = 0;
  let longestAtEndsUs = 0;
  const delays = monitorEventLoopDelay({ resolution: 1 });
  let isOver = false;
  let lastUs = threadCpuUs();
  const turn = (): void => {
    const nowUs = threadCpuUs();
    const turnUs = nowUs - lastUs;
    lastUs = nowUs;
    if (isAtWork) {
      const bucket = Math.min(100_000, Math.floor(turnUs / 10));
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      longestUs = Math.max(longestUs, turnUs);
    } else longestAtEndsUs = Math.max(longestAtEndsUs, turnUs);
    if (!isOver) setImmediate(turn);
  };
  delays.enable();
  setImmediate(turn);
  await work();
  isOver = true;
  delays.disable();
  return {
    what,
    longestMs: round(longestUs / 1000),
    above8Ms: counts.subarray(800).reduce((sum, count) => sum + count, 0),
    turns: counts.reduce((sum, count) => sum + count, 0),
    longestAtEndsMs: round(longestAtEndsUs / 1000),
    longestDelayMs: round(delays.max / 1e6),
  };
}

function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

async function evaluate({ dispatcher, feed }: Studio, config: EvalConfigInput): Promise<void> {
  const finished = Promise.withResolvers<void>();
  using _subscription = feed.subscribe((message) => {
    if (message.name === 'run.finished') finished.resolve();
    if (message.name !== 'run.live') return;
    const { planned, notRun } = message.payload.live.summary.counts;
    isAtWork = notRun < planned && notRun > 0;
  });
  isAtWork = false;
  const reply = await dispatcher.dispatch('runs.start', {
    config: evalConfig.parse({ workerCount: 8, ...config }),
  });
  if (!reply.ok) throw new Error(reply.error.message);
  await finished.promise;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

const workspace = await mkdtemp(path.join(os.tmpdir(), 'bench thread '));
process.env['AGENTCANVAS_HOME'] = path.join(workspace, 'home');
const rows: Held[] = [];
{
  await using studio = await createStudio({ host: 'cli', workspace });
  // The first run compiles and loads; those of the figures meet a warm engine, as all but the first do.
  await evaluate(studio, { graph: 'minivln_expert', episodes: 16 });
  await evaluate(studio, { graph: 'minivln_cma', episodes: 16 });
  isAtWork = true;
  rows.push(await watch('empty control', () => delay(5_000)));
  rows.push(
    await watch('expert, 8 workers, recording none', () =>
      evaluate(studio, { graph: 'minivln_expert', episodes: 400, recording: 'none' }),
    ),
  );
  rows.push(
    await watch('trained policy, 8 workers, recording failures', () =>
      evaluate(studio, { graph: 'minivln_cma', episodes: 200 }),
    ),
  );
}
await rm(workspace, { recursive: true, force: true });
console.table(rows);
saveResult('thread', { goalMs: 8, rows });
