// Real processes, graphs and run folders.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evalConfig, type EvalConfigInput } from '../contract/eval-config.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import { makeWorkspace, openLiveBench, removeWorkspace, type LiveBench } from './testing/live-bench.ts';

let folder: string;
let bench: LiveBench;

beforeAll(async () => {
  folder = await makeWorkspace();
  bench = await openLiveBench(folder);
}, 60_000);

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  await removeWorkspace(folder);
});

const fragile = (split: string, more: Partial<EvalConfigInput> = {}): EvalConfigInput => ({
  graph: 'fragile',
  selectors: { split },
  episodes: 8,
  workerCount: 2,
  ...more,
});
const byPlan = (rows: readonly EpisodeAttempt[]): EpisodeAttempt[] =>
  [...rows].sort((a, b) => a.ordinal - b.ordinal || a.attempt - b.attempt);
const start = async (config: EvalConfigInput, whenBusy: 'refuse' | 'queue' = 'refuse'): Promise<string> =>
  (await bench.service.start({ config: evalConfig.parse(config), whenBusy })).runId;
const ownProcesses = (): string[] =>
  bench.processes
    .list()
    .map((child) => child.label)
    .filter((label) => label.includes('#'));

describe('a run over real replicas', () => {
  it('gives every planned episode its verdict, and leaves no process', async () => {
    const record = await bench.evaluate(fragile('calm', { episodes: 12 }));
    expect(record).toMatchObject({
      status: 'completed',
      envName: 'fragile',
      split: 'calm',
      error: null,
      perStepBudgetSec: 0.1,
    });
    const rows = byPlan(await bench.attempts(record.runId));
    expect(rows.map((row) => [row.ordinal, row.status, row.metrics['success'], row.steps])).toEqual(
      Array.from({ length: 12 }, (_item, index) => [index, 'completed', 1 - (index % 2), 5 + (index % 4)]),
    );
    expect(rows[0]).toMatchObject({ attempt: 1, final: true, stepBudget: 20, limit: null, error: null });
    expect(new Set(rows.map((row) => row.worker))).toEqual(new Set([0, 1]));
    expect([ownProcesses(), bench.guard.holder]).toEqual([[], null]);
  });

  it('tells the story in events: stages, lanes, rows and the end', async () => {
    const before = bench.events.length;
    const { runId } = await bench.evaluate(fragile('calm'));
    const events = bench.events
      .slice(before)
      .filter((event) => 'runId' in event.payload && event.payload.runId === runId);
    const names = events.map((event) => event.name);
    expect(names[0]).toBe('run.changed');
    expect(names.at(-1)).toBe('run.finished');
    for (const name of ['run.stage', 'run.live', 'run.episodes']) expect(names).toContain(name);
    const rows = events.flatMap((event) => (event.name === 'run.episodes' ? event.payload.rows : []));
    expect(rows.filter((row) => row.status === 'running')).toHaveLength(8);
    expect(rows.filter((row) => row.status === 'completed')).toHaveLength(8);
    const end = await bench.seen('run.finished', (payload) => payload.runId === runId);
    expect(end.item).toMatchObject({
      status: 'completed',
      counts: { planned: 8, completed: 8, notRun: 0 },
      graphName: 'fragile',
    });
  });

  it('gives the same results per episode with 1, 2 and 4 workers', async () => {
    const results: unknown[] = [];
    for (const workerCount of [1, 2, 4]) {
      const { runId } = await bench.evaluate({
        graph: 'minivln_random',
        selectors: { split: 'val_unseen' },
        episodes: 4,
        repeats: 2,
        seed: 5,
        stepBudget: 30,
        workerCount,
      });
      results.push(await bench.results(runId));
    }
    expect(results[0]).toHaveLength(8);
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  it('the expert solves minivln', async () => {
    const record = await bench.evaluate({
      graph: 'minivln_expert',
      selectors: { split: 'val_unseen' },
      episodes: 5,
      workerCount: 2,
    });
    const summary = await bench.store.readSummary(record.runId);
    const success = summary.metrics.find((metric) => metric.definition.name === 'success');
    expect([record.status, success?.started?.mean, success?.measured]).toEqual(['completed', 1, 5]);
  });
});

describe('what goes wrong in an episode', () => {
  it('a busy loop is judged at its deadline, tried again on a new process, and the others go on', async () => {
    const record = await bench.evaluate(fragile('busy_loop'));
    const rows = byPlan(await bench.attempts(record.runId));
    expect(record.status).toBe('completed_with_errors');
    const stuck = rows.filter((row) => row.ordinal === 3);
    expect(stuck.map((row) => [row.attempt, row.final, row.status])).toEqual([
      [1, false, 'timeout'],
      [2, true, 'timeout'],
    ]);
    for (const row of stuck) expect(row.durationMs).toBeLessThan(2000 + 1000);
    expect(rows.filter((row) => row.status === 'completed')).toHaveLength(7);
    expect(ownProcesses()).toEqual([]);
  });

  it('a process that exits is reported with its code and step', async () => {
    const record = await bench.evaluate(fragile('exits', { retry: { attempts: 1 } }));
    const rows = await bench.attempts(record.runId);
    expect(rows.find((row) => row.ordinal === 3)).toMatchObject({
      status: 'died',
      episodeId: 'exits-3',
      sceneId: 'scene-0',
      error: { exitCode: 7, message: expect.stringMatching(/ended with exit code 7 in step 1/) },
    });
    expect(rows.filter((row) => row.status === 'completed')).toHaveLength(7);
  });

  it('a node that throws costs its episode, with the node and step, and is not tried again', async () => {
    const record = await bench.evaluate(fragile('throws'));
    const rows = (await bench.attempts(record.runId)).filter((row) => row.ordinal === 3);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      status: 'error',
      final: true,
      metrics: {},
      error: { code: 'node_failed', scope: { nodePath: 'step', step: 1 } },
    });
    expect(rows[0]?.error?.message).toContain('the wheel came off');
  });

  it('an episode without a metric has no verdict', async () => {
    const record = await bench.evaluate(fragile('silent', { episodes: 2 }));
    expect(record.status).toBe('completed_with_errors');
    expect((await bench.attempts(record.runId)).map((row) => [row.status, row.error?.code])).toEqual([
      ['no_verdict', 'no_verdict'],
      ['no_verdict', 'no_verdict'],
    ]);
  });

  it('the step budget is a limit, not an error: request before env panel', async () => {
    const record = await bench.evaluate(fragile('calm', { episodes: 2, stepBudget: 3 }));
    const rows = await bench.attempts(record.runId);
    expect(rows.map((row) => [row.status, row.limit, row.steps, row.stepBudget])).toEqual(
      Array(2).fill(['completed', 'step_budget', 3, 3]),
    );
  });
});

describe('replicas struck from outside', () => {
  const laneWithEpisode = async (runId: string): Promise<{ pid: number; ordinal: number }> => {
    const { live } = await bench.seen(
      'run.live',
      (payload) =>
        payload.runId === runId && payload.live.workers.some((lane) => lane.step > 0 && lane.pids.length > 0),
    );
    const lane = live.workers.find((worker) => worker.step > 0);
    return { pid: lane?.pids[0] ?? 0, ordinal: lane?.ordinal ?? -1 };
  };

  it('kill -9 costs at most a retry', async () => {
    const runId = await start(fragile('slow', { episodes: 24 }));
    const { pid } = await laneWithEpisode(runId);
    process.kill(pid, 'SIGKILL');
    await bench.service.whenEnded(runId);
    const rows = await bench.attempts(runId);
    const finals = rows.filter((row) => row.final);
    expect(finals.map((row) => row.status)).toEqual(Array(24).fill('completed'));
    expect(new Set(finals.map((row) => row.ordinal)).size).toBe(24);
    expect(rows.length - finals.length).toBeLessThanOrEqual(1);
    for (const row of rows.filter((attempt) => !attempt.final))
      expect(row).toMatchObject({ status: 'died', error: { signal: 'SIGKILL' } });
    expect((await bench.store.readRecord(runId)).status).toBe('completed');
  });

  it('a stopped process is judged within its deadline and replaced', async () => {
    const runId = await start(fragile('slow', { episodes: 24 }));
    const { pid } = await laneWithEpisode(runId);
    process.kill(pid, 'SIGSTOP');
    await bench.service.whenEnded(runId);
    const rows = await bench.attempts(runId);
    const timedOut = rows.filter((row) => row.status === 'timeout');
    expect(timedOut).toHaveLength(1);
    expect(timedOut[0]?.durationMs).toBeLessThan(5000 + 1000);
    expect(rows.filter((row) => row.final && row.status === 'completed')).toHaveLength(24);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('stop, cancel and resume', () => {
  const whole = fragile('slow', { episodes: 16 });

  it('stop drains; resume runs exactly what is missing, and the results are those of an undisturbed run', async () => {
    const undisturbed = await bench.evaluate(whole);
    const runId = await start(whole);
    await bench.seen(
      'run.episodes',
      (payload) => payload.runId === runId && payload.rows.some((row) => row.status === 'completed'),
    );
    await bench.service.stop(runId);
    await bench.service.whenEnded(runId);
    const paused = await bench.store.readRecord(runId);
    expect(paused).toMatchObject({ status: 'paused', pausedBecause: 'stopped by the user' });
    const done = await bench.attempts(runId);
    expect(done.length).toBeGreaterThan(0);
    expect(done.length).toBeLessThan(16);
    const { missing } = await bench.service.resume(runId, { acceptDifferences: false });
    expect(missing).toBe(16 - done.length);
    await bench.service.whenEnded(runId);
    expect((await bench.store.readRecord(runId)).status).toBe('completed');
    const rows = await bench.attempts(runId);
    expect(rows).toHaveLength(16);
    expect(rows.slice(0, done.length)).toEqual(done);
    expect(await bench.results(runId)).toEqual(await bench.results(undisturbed.runId));
  });

  it('cancel ends what is in flight at once, and can be resumed', async () => {
    const runId = await start(whole);
    await bench.seen(
      'run.live',
      (payload) => payload.runId === runId && payload.live.workers.some((lane) => lane.step > 0),
    );
    await bench.service.cancel(runId);
    await bench.service.whenEnded(runId);
    expect((await bench.store.readRecord(runId)).status).toBe('cancelled');
    expect(ownProcesses()).toEqual([]);
    await bench.service.resume(runId, { acceptDifferences: false });
    await bench.service.whenEnded(runId);
    expect((await bench.store.readRecord(runId)).status).toBe('completed');
  });

  it('cancel while the nodesets load leaves a run without a plan that can be resumed', async () => {
    const runId = await start(fragile('calm', { episodes: 2 }));
    await bench.service.cancel(runId);
    await bench.service.whenEnded(runId);
    expect(await bench.store.readRecord(runId)).toMatchObject({ status: 'cancelled', plan: [] });
    expect(ownProcesses()).toEqual([]);
    await bench.service.resume(runId, { acceptDifferences: false });
    await bench.service.whenEnded(runId);
    expect((await bench.attempts(runId)).map((row) => row.status)).toEqual(['completed', 'completed']);
  });

  it('refuses to resume a run that is complete', async () => {
    const { runId } = await bench.evaluate(fragile('calm', { episodes: 1 }));
    await expect(bench.service.resume(runId, { acceptDifferences: false })).rejects.toMatchObject({
      code: 'conflict',
    });
  });
});

describe('bad input', () => {
  it('is refused before anything is made', async () => {
    const runs = (await bench.store.list()).total;
    await expect(start({ graph: 'no_such_graph' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(start(fragile('calm', { envNodeset: 'minivln' }))).rejects.toMatchObject({
      code: 'nodeset_unknown',
    });
    expect((await bench.store.list()).total).toBe(runs);
    expect(bench.guard.holder).toBeNull();
  });

  it.each([
    ['an unknown split', fragile('nowhere'), 'not_found', 'Choose one of: calm'],
    [
      'an unknown selector',
      { ...fragile('calm'), selectors: { task: 'x' } },
      'not_found',
      'has no selector "task"',
    ],
    [
      'more episodes than there are',
      fragile('throws', { episodes: 21 }),
      'episode_unknown',
      'throws of fragile has 20 episodes',
    ],
    [
      'all of an unbounded split',
      fragile('unbounded', { episodes: 'all' }),
      'episodes_unbounded',
      'no fixed number',
    ],
  ] as const)(
    '%s fails the run with what to do, and releases everything',
    async (_name, config, code, message) => {
      const record = await bench.evaluate(config);
      expect(record).toMatchObject({ status: 'failed', plan: [], error: { code } });
      expect(record.error?.message).toContain(message);
      expect([ownProcesses(), bench.guard.holder]).toEqual([[], null]);
    },
  );
});

describe('guard and queue', () => {
  it('a second start is refused with who holds the guard, or queued and run afterwards', async () => {
    const first = await start(fragile('slow', { episodes: 4 }));
    await expect(start(fragile('calm'))).rejects.toMatchObject({
      code: 'guard_busy',
      details: { holder: { kind: 'eval', id: first } },
    });
    const second = await start(fragile('calm', { episodes: 2 }), 'queue');
    const third = await start(fragile('calm', { episodes: 3 }), 'queue');
    const dropped = await start(fragile('calm', { episodes: 1 }), 'queue');
    expect(bench.service.queue()).toEqual([second, third, dropped]);
    expect((await bench.store.readRecord(second)).status).toBe('queued');
    await bench.service.cancel(dropped);
    await bench.service.reorderQueue([third, second]);
    await bench.seen('run.finished', (payload) => payload.runId === second);
    const finished = bench.events.flatMap((event) =>
      event.name === 'run.finished' ? [event.payload.runId] : [],
    );
    expect(finished.indexOf(first)).toBeLessThan(finished.indexOf(third));
    expect(finished.indexOf(third)).toBeLessThan(finished.indexOf(second));
    expect(finished).toContain(dropped);
    expect((await bench.store.readRecord(dropped)).status).toBe('cancelled');
    expect(bench.service.queue()).toEqual([]);
  });

  it('is refused while the canvas plays', async () => {
    using _play = bench.guard.acquire({ kind: 'canvas', id: 'fragile', label: 'fragile' });
    await expect(start(fragile('calm'))).rejects.toMatchObject({
      code: 'guard_busy',
      details: { holder: { kind: 'canvas' } },
    });
  });
});

describe('before a start', () => {
  it('introspection shows environments, splits with counts and metrics', async () => {
    const seen = await bench.service.introspect('fragile', { load: true });
    expect(seen.environments).toHaveLength(1);
    expect(seen.environments[0]).toMatchObject({
      nodeset: 'fragile',
      perStepBudgetSec: 0.1,
      error: null,
      metadata: { envName: 'fragile', episodeCounts: { calm: 1000, unbounded: null } },
    });
    expect(seen.diagnostics).toEqual([]);
    expect([seen.missing, seen.unloaded]).toEqual([[], []]);
    expect(seen.suggestedWorkers).toBeGreaterThanOrEqual(1);
  });

  it('introspection without loading starts nothing', async () => {
    const started = bench.processes.list().length;
    const seen = await bench.service.introspect('minivln_expert', { load: false });
    expect(seen.environments).toMatchObject([{ nodeset: 'minivln', metadata: null, error: null }]);
    expect(seen.missing).toEqual([]);
    expect(seen.unloaded).toContain('minivln');
    expect(bench.processes.list()).toHaveLength(started);
  });

  it('preflight is green and counts the episodes, or says what to fix', async () => {
    const good = await bench.service.preflight(
      evalConfig.parse(fragile('calm', { episodes: 'all', repeats: 2 })),
    );
    expect([good.ok, good.episodes]).toEqual([true, 2000]);
    expect(good.checks.map((check) => check.name)).toEqual([
      'graph',
      'nodesets',
      'environment',
      'episodes',
      'disk',
      'memory',
    ]);
    const bad = await bench.service.preflight(evalConfig.parse(fragile('throws', { episodes: 50 })));
    expect(bad.ok).toBe(false);
    expect(bad.checks.find((check) => !check.ok)).toMatchObject({
      name: 'episodes',
      message: expect.stringContaining('20 episodes'),
    });
    const missing = await bench.service.preflight(evalConfig.parse({ graph: 'no_such_graph' }));
    expect(missing.checks).toMatchObject([{ name: 'graph', ok: false }]);
  });
});
