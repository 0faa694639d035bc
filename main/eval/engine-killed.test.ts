// kill -9 of a whole engine in the middle of a run: nothing outlives it, and resuming runs exactly what is missing.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { EvalConfigInput } from '../contract/eval-config.ts';
import { workerView } from '../contract/run.ts';
import { makeWorkspace, openLiveBench, removeWorkspace } from './testing/live-bench.ts';

const message = z.discriminatedUnion('name', [
  z.object({ name: z.literal('started'), payload: z.object({ runId: z.string() }) }),
  z.object({
    name: z.literal('run.live'),
    payload: z.object({
      runId: z.string(),
      live: z.object({
        workers: z.array(workerView),
        summary: z.object({ counts: z.object({ completed: z.number() }) }),
      }),
    }),
  }),
]);

const program = fileURLToPath(new URL('./testing/doomed-engine.ts', import.meta.url));
const config: EvalConfigInput = {
  graph: 'fragile',
  selectors: { split: 'slow' },
  episodes: 30,
  workerCount: 2,
};

let folder: string;
let cacheFolder: string;

beforeAll(async () => {
  [folder, cacheFolder] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});

afterAll(async () => {
  await Promise.all([removeWorkspace(folder), removeWorkspace(cacheFolder)]);
});

/** Runs an engine until it has some verdicts, kills it, and gives the run and the processes it had. */
function runAndKill(): Promise<{ readonly runId: string; readonly pids: readonly number[] }> {
  const engine = fork(program, [folder, cacheFolder, JSON.stringify(config)], {
    execArgv: [],
    stdio: 'ignore',
  });
  return new Promise((resolve, reject) => {
    let fate: { runId: string; pids: number[] } | undefined;
    engine.on('message', (raw) => {
      const seen = message.parse(raw);
      if (fate || seen.name !== 'run.live' || seen.payload.live.summary.counts.completed < 3) return;
      const { runId, live } = seen.payload;
      fate = { runId, pids: live.workers.flatMap((worker) => worker.pids) };
      engine.kill('SIGKILL');
    });
    engine.on('error', reject);
    engine.on('exit', () => (fate ? resolve(fate) : reject(new Error('the engine ended by itself'))));
  });
}

/** A zombie is not alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

describe('an engine that is killed', () => {
  it(
    'leaves no process, and its run resumes to the totals of an undisturbed one',
    { timeout: 90_000 },
    async () => {
      const { runId, pids } = await runAndKill();
      expect(pids.length).toBeGreaterThan(0);
      await delay(2000);
      expect(pids.filter(isAlive)).toEqual([]);
      await using bench = await openLiveBench(folder, { cacheFolder, withLibrary: false });
      const { interrupted } = await bench.service.recover();
      const committed = (await bench.attempts(runId)).filter((row) => row.final);
      expect(committed.length).toBeGreaterThanOrEqual(3);
      expect(interrupted).toMatchObject([{ runId, was: 'running', missing: 30 - committed.length }]);
      await bench.service.resume(runId, { acceptDifferences: false });
      await bench.service.whenEnded(runId);
      const finals = (await bench.attempts(runId)).filter((row) => row.final);
      expect(finals.slice(0, committed.length)).toEqual(committed);
      expect(new Set(finals.map((row) => row.ordinal)).size).toBe(30);
      expect(finals).toHaveLength(30);
      const undisturbed = await bench.evaluate(config);
      expect(await bench.results(runId)).toEqual(await bench.results(undisturbed.runId));
    },
  );
});
