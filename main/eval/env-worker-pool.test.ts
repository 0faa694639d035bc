import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../base/fake-clock.ts';
import { StudioError } from '../base/errors.ts';
import type { EpisodeRequest } from './ports.ts';
import { createSleepyClock } from './testing/sleepy-clock.ts';
import { planOf, type FakeJournal } from './testing/fake-journal.ts';
import { createFakeReplicas } from './testing/fake-replicas.ts';
import { bench, type BenchOptions } from './testing/pool-bench.ts';

const statuses = (journal: FakeJournal): string[] => journal.finals().map((row) => row.status);

describe('env worker pool', () => {
  it('runs every episode once and leaves no replica and no timer behind', async () => {
    const { finish, journal, replicas, clock } = bench({ episodeCount: 25, workerCount: 3 });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(journal.rows).toHaveLength(25);
    expect(journal.finals().map((row) => row.ordinal)).toEqual(planOf(25).map((episode) => episode.ordinal));
    expect([replicas.starts, replicas.alive, clock.pendingTimers]).toEqual([3, 0, 0]);
    expect(replicas.violations).toEqual([]);
  });

  it('starts replicas in parallel and ends all of them when one cannot start', async () => {
    const { finish, replicas, journal, clock } = bench({
      workerCount: 3,
      fake: {
        startMs: (slot) => 10 * (slot + 1),
        startFault: (slot) => (slot === 1 ? new StudioError('spawn_failed', 'no such file') : undefined),
      },
    });
    await expect(finish()).rejects.toMatchObject({ code: 'spawn_failed' });
    await clock.advance(1000);
    expect([replicas.alive, journal.rows.length]).toEqual([0, 0]);
  });

  it('hands out episodes in plan order', async () => {
    const { finish, replicas } = bench({ workerCount: 1, episodeCount: 6 });
    await finish();
    expect(replicas.leases.map((lease) => lease.ordinal)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('judges a hanging episode at its deadline, keeps both attempts and replaces the replica each time', async () => {
    const { finish, journal, replicas, pool } = bench({
      episodeCount: 3,
      workerCount: 1,
      fake: { behaviour: ({ episode }) => ({ kind: episode.ordinal === 1 ? 'hang' : 'complete' }) },
    });
    await finish();
    const hanging = journal.rows.filter((row) => row.ordinal === 1);
    expect(hanging.map((row) => [row.attempt, row.final, row.status])).toEqual([
      [1, false, 'timeout'],
      [2, true, 'timeout'],
    ]);
    // 25 ms of reset, then the limit of 100 steps x 100 ms
    expect(hanging.map((row) => row.durationMs)).toEqual([10_025, 10_025]);
    expect(hanging[1]).toMatchObject({
      episodeId: 'e1',
      steps: 3,
      error: { code: 'timeout', scope: { phase: 'step', step: 3 } },
    });
    expect([replicas.starts, pool.counters.replacements]).toEqual([3, 2]);
    expect(replicas.violations).toEqual([]);
  });

  it('lets the others go on while one episode hangs', async () => {
    const { finish, replicas } = bench({
      episodeCount: 40,
      fake: { behaviour: ({ episode }) => ({ kind: episode.ordinal === 0 ? 'hang' : 'complete' }) },
      retry: { attempts: 1, on: [] },
    });
    await finish();
    const others = replicas.leases.filter((lease) => lease.worker === 1);
    expect(others.length).toBe(39);
    expect(Math.max(...others.map((lease) => lease.atMs))).toBeLessThan(4000);
  });

  it('times out an episode whose reset never ends', async () => {
    const { finish, journal } = bench({
      episodeCount: 1,
      workerCount: 1,
      fake: { episodeMs: () => 100_000 },
      retry: { attempts: 1, on: [] },
    });
    await finish();
    expect(journal.rows[0]).toMatchObject({
      status: 'timeout',
      durationMs: 2000,
      error: { scope: { phase: 'reset' } },
    });
  });

  it('says what became of the recording of an episode it ended, also when the runner never comes back', async () => {
    const hung = new Set<number>();
    const { finish, journal } = bench({
      episodeCount: 2,
      workerCount: 1,
      retry: { attempts: 1, on: [] },
      runner: {
        run: (request) => {
          request.onRecording?.(() => Promise.resolve(request.episode.ordinal === 0 ? 'kept' : 'failed'));
          hung.add(request.episode.ordinal);
          return new Promise(() => undefined);
        },
      },
    });
    await finish();
    expect([...hung]).toEqual([0, 1]);
    expect(journal.rows.map((row) => [row.status, row.recording])).toEqual([
      ['timeout', 'kept'],
      ['timeout', 'failed'],
    ]);
  });

  it('drops and counts a verdict that comes after the deadline', async () => {
    const { finish, journal, pool } = bench({
      episodeCount: 2,
      workerCount: 1,
      fake: {
        behaviour: ({ episode, attempt }) => ({
          kind: episode.ordinal === 0 && attempt === 1 ? 'lateAnswer' : 'complete',
        }),
        startMs: () => 100,
      },
    });
    await finish();
    expect(journal.rows.map((row) => [row.ordinal, row.attempt, row.status])).toEqual([
      [0, 1, 'timeout'],
      [0, 2, 'completed'],
      [1, 1, 'completed'],
    ]);
    expect([pool.counters.lateAnswers, journal.refused.length]).toEqual([1, 0]);
  });

  it('reports a death with its signal, step and last words, and tries again', async () => {
    const { finish, journal } = bench({
      episodeCount: 1,
      fake: { behaviour: ({ attempt }) => ({ kind: attempt === 1 ? 'die' : 'complete' }) },
    });
    await finish();
    expect(journal.rows.map((row) => [row.status, row.final])).toEqual([
      ['died', false],
      ['completed', true],
    ]);
    expect(journal.rows[0]?.error).toMatchObject({
      code: 'process_died',
      message: 'fake#0 was ended by SIGSEGV in step 3',
      signal: 'SIGSEGV',
      stderrTail: ['last words'],
    });
  });

  it('does not try typed errors again', async () => {
    const { finish, journal } = bench({ episodeCount: 2, fake: { behaviour: () => ({ kind: 'error' }) } });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(journal.rows.map((row) => [row.status, row.attempt, row.final])).toEqual([
      ['error', 1, true],
      ['error', 1, true],
    ]);
  });

  it('replaces a replica that says it cannot go on', async () => {
    const { finish, replicas, journal } = bench({
      episodeCount: 4,
      workerCount: 1,
      fake: {
        behaviour: ({ episode, attempt }) => ({
          kind: episode.ordinal === 1 && attempt === 1 ? 'fatal' : 'complete',
        }),
      },
    });
    await finish();
    expect(replicas.starts).toBe(2);
    expect(statuses(journal)).toEqual(Array(4).fill('completed'));
  });

  it('records a failure of the runner itself as an error of the episode', async () => {
    const { finish, journal } = bench({ episodeCount: 1, fake: { behaviour: () => ({ kind: 'throw' }) } });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(journal.rows[0]).toMatchObject({
      status: 'error',
      error: { code: 'internal', message: 'the runner itself failed' },
    });
  });

  it('replaces a replica that dies between two episodes without costing an attempt', async () => {
    const clock = createFakeClock();
    const { finish, replicas, journal } = bench({
      clock,
      episodeCount: 3,
      workerCount: 1,
      journalOptions: {
        beforeAppend: async (row) => {
          if (row.ordinal === 0) replicas.strike(0);
          await Promise.resolve();
        },
      },
    });
    await finish();
    expect(journal.rows.map((row) => row.status)).toEqual(['completed', 'completed', 'completed']);
    expect([replicas.starts, replicas.violations.length]).toEqual([2, 0]);
  });
});

describe('what a pool never does', () => {
  it('start a replica that no episode needs', async () => {
    const { finish, replicas } = bench({
      episodeCount: 1,
      workerCount: 1,
      fake: { behaviour: () => ({ kind: 'die' }) },
    });
    await finish();
    expect(replicas.starts).toBe(2);
  });

  it('keep a timer for an episode that has ended', async () => {
    const { finish, clock } = bench({ episodeCount: 300, workerCount: 2 });
    let mostTimers = 0;
    const look = (): void => {
      mostTimers = Math.max(mostTimers, clock.pendingTimers);
      if (clock.monotonic() < 10_000) clock.after(90, look);
    };
    look();
    await finish();
    expect(mostTimers).toBeLessThan(10);
  });

  it('take the answer of another attempt for its own', async () => {
    const clock = createFakeClock();
    const replicas = createFakeReplicas({ clock });
    const runner = {
      run: async (request: EpisodeRequest) => ({ ...(await replicas.run(request)), attempt: 7 }),
    };
    const { finish, journal } = bench({ clock, episodeCount: 1, workerCount: 1, source: replicas, runner });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(journal.rows).toMatchObject([{ attempt: 1, status: 'error', error: { code: 'internal' } }]);
  });

  it('leave a replica behind whose start did not listen to the stop', async () => {
    const clock = createFakeClock();
    const replicas = createFakeReplicas({ clock, startMs: () => 5000 });
    const deaf = { start: (slot: number) => replicas.start(slot, new AbortController().signal) };
    const { finish, pool } = bench({ clock, source: deaf, runner: replicas });
    clock.after(100, () => pool.stop('stopped by the user'));
    await expect(finish()).rejects.toMatchObject({ code: 'aborted' });
    expect(clock.monotonic()).toBe(100);
    await clock.advance(10_000);
    expect([replicas.starts, replicas.alive]).toEqual([2, 0]);
  });

  it('call a slot down because a start was given up by a stop', async () => {
    const down: number[] = [];
    const { finish, pool, clock } = bench({
      workerCount: 1,
      crashBudget: 2,
      listener: { onSlotDown: (worker) => void down.push(worker) },
      fake: {
        behaviour: () => ({ kind: 'die' }),
        startFault: (_slot, nth) => (nth > 1 ? 'hang' : undefined),
      },
    });
    clock.after(5000, () => pool.stop('stopped by the user'));
    await finish();
    expect(down).toEqual([]);
  });

  it('take the late end of an old replica for the end of the new one', async () => {
    const { finish, journal } = bench({
      episodeCount: 1,
      workerCount: 1,
      fake: {
        killMs: 7000,
        episodeMs: () => 7900,
        behaviour: ({ attempt }) => ({ kind: attempt === 1 ? 'hang' : 'complete' }),
      },
    });
    await finish();
    expect(journal.rows.map((row) => row.status)).toEqual(['timeout', 'completed']);
  });

  it('count an attempt that is tried again against failOn', async () => {
    const { finish, journal } = bench({
      episodeCount: 10,
      failOn: 1,
      fake: {
        behaviour: ({ attempt, episode }) => ({
          kind: attempt === 1 && episode.ordinal % 3 === 0 ? 'die' : 'complete',
        }),
      },
    });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(journal.finals()).toHaveLength(10);
  });
});

describe('crash budget', () => {
  it('brings a slot down after three deaths in a row, and the run goes on with the rest', async () => {
    const down: string[] = [];
    const { finish, journal, replicas } = bench({
      episodeCount: 12,
      fake: { behaviour: ({ worker }) => ({ kind: worker === 0 ? 'die' : 'complete' }) },
      retry: { attempts: 5, on: ['died'] },
      listener: { onSlotDown: (worker, reason) => down.push(`${worker}: ${reason}`) },
    });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(down).toEqual(['0: 3 deaths in a row; the last: fake#0 was ended by SIGSEGV in step 3']);
    expect(statuses(journal)).toEqual(Array(12).fill('completed'));
    expect(replicas.violations).toEqual([]);
  });

  it('pauses the run when every slot is down, with nothing lost', async () => {
    const { finish, journal, replicas } = bench({
      episodeCount: 9,
      fake: { behaviour: () => ({ kind: 'die' }) },
    });
    const end = await finish();
    expect(end).toMatchObject({ kind: 'paused' });
    expect(end.kind === 'paused' && end.reason).toContain('every worker is down: 3 deaths in a row');
    expect(journal.finals().length + journal.missing(planOf(9)).length).toBe(9);
    expect(replicas.alive).toBe(0);
  });

  it('waits longer before each restart', async () => {
    const { finish, replicas } = bench({
      episodeCount: 4,
      workerCount: 1,
      crashBudget: 4,
      fake: { startMs: () => 0, killMs: 0, behaviour: () => ({ kind: 'die' }) },
    });
    await finish();
    const gaps = replicas.leases
      .map((lease, index) => lease.atMs - (replicas.leases[index - 1]?.atMs ?? 0))
      .slice(1);
    expect(gaps).toEqual([75, 575, 1075]);
  });

  it('is restored by a finished episode', async () => {
    const { finish, journal } = bench({
      episodeCount: 12,
      workerCount: 1,
      fake: {
        behaviour: ({ episode, attempt }) => ({
          kind: attempt === 1 && episode.ordinal % 2 === 0 ? 'die' : 'complete',
        }),
      },
    });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(statuses(journal)).toEqual(Array(12).fill('completed'));
  });

  it('counts replacements that do not start', async () => {
    const { finish, replicas } = bench({
      workerCount: 1,
      fake: {
        behaviour: () => ({ kind: 'die' }),
        startFault: (_slot, nth) => (nth > 1 ? new StudioError('spawn_failed', 'out of memory') : undefined),
      },
    });
    const end = await finish();
    expect(end.kind === 'paused' && end.reason).toContain('out of memory');
    expect(replicas.starts).toBe(1);
  });
});

describe('stop and cancel', () => {
  it('stop lets episodes in flight finish and starts no new one', async () => {
    const { finish, pool, clock, replicas, journal } = bench({ episodeCount: 100 });
    clock.after(250, () => pool.stop('stopped by the user'));
    expect(await finish()).toEqual({ kind: 'paused', reason: 'stopped by the user' });
    expect(replicas.leases.every((lease) => lease.atMs < 250)).toBe(true);
    expect(journal.rows).toHaveLength(replicas.leases.length);
    expect(replicas.alive).toBe(0);
  });

  it('cancel ends episodes in flight now and writes nothing for them', async () => {
    const { finish, pool, clock, replicas, journal } = bench({
      episodeCount: 100,
      fake: { behaviour: () => ({ kind: 'hang' }) },
    });
    clock.after(250, () => pool.cancel());
    expect(await finish()).toEqual({ kind: 'cancelled' });
    expect([journal.rows.length, replicas.alive]).toEqual([0, 0]);
    expect(clock.monotonic()).toBeLessThan(1000);
  });

  it('cancel after stop does not wait for what is in flight', async () => {
    const { finish, pool, clock } = bench({ fake: { behaviour: () => ({ kind: 'hang' }) } });
    clock.after(250, () => pool.stop('stopped by the user'));
    clock.after(300, () => pool.cancel());
    expect(await finish()).toEqual({ kind: 'cancelled' });
    expect(clock.monotonic()).toBeLessThan(1000);
  });

  it('stop gives up a replacement that is still starting', async () => {
    const { finish, pool, clock, replicas } = bench({
      workerCount: 1,
      fake: {
        behaviour: () => ({ kind: 'die' }),
        startFault: (_slot, nth) => (nth > 1 ? 'hang' : undefined),
      },
    });
    clock.after(5000, () => pool.stop('stopped by the user'));
    expect(await finish()).toEqual({ kind: 'paused', reason: 'stopped by the user' });
    expect(replicas.alive).toBe(0);
  });

  it('stop while the replicas are starting ends them', async () => {
    const { finish, pool, clock, replicas } = bench({ fake: { startMs: () => 10_000 } });
    clock.after(100, () => pool.stop('stopped by the user'));
    await expect(finish()).rejects.toMatchObject({ code: 'aborted' });
    await clock.advance(20_000);
    expect(replicas.alive).toBe(0);
  });

  it('failOn stops the pool at a number of failures, or at a share of all', async () => {
    const failing: BenchOptions['fake'] = { behaviour: () => ({ kind: 'error' }) };
    const byCount = bench({ episodeCount: 50, workerCount: 1, failOn: 3, fake: failing });
    expect(await byCount.finish()).toEqual({
      kind: 'paused',
      reason: '3 episodes ended without a verdict (failOn 3)',
    });
    expect(byCount.journal.rows).toHaveLength(3);
    const byShare = bench({ episodeCount: 50, workerCount: 1, failOn: 0.2, fake: failing });
    await byShare.finish();
    expect(byShare.journal.rows).toHaveLength(10);
  });

  it('a full disk pauses the run, and the episode that could not be written is missing, not lost', async () => {
    const { finish, journal } = bench({
      workerCount: 1,
      journalOptions: {
        beforeAppend: (row) =>
          row.ordinal === 4
            ? Promise.reject(new StudioError('disk_full', 'no space is left'))
            : Promise.resolve(),
      },
    });
    expect(await finish()).toEqual({ kind: 'paused', reason: 'results cannot be written: no space is left' });
    expect(journal.missing(planOf(10)).map((episode) => episode.ordinal)).toEqual([4, 5, 6, 7, 8, 9]);
  });
});

describe('surroundings', () => {
  it('moves the deadlines of episodes when the machine was asleep', async () => {
    const { clock, outside, sleepFor } = createSleepyClock();
    const runner = createFakeReplicas({ clock: outside, episodeMs: () => 4000 });
    const { finish, journal } = bench({ clock, episodeCount: 1, workerCount: 1, source: runner, runner });
    outside.after(900, () => sleepFor(3_600_000));
    await finish();
    expect(journal.rows.map((row) => row.status)).toEqual(['completed']);
  });

  it('recycles a replica between episodes after a number of episodes', async () => {
    const { finish, replicas, journal } = bench({
      episodeCount: 10,
      workerCount: 1,
      recycle: { afterEpisodes: 4, aboveBytes: null, slopeBytesPerEpisode: null },
    });
    await finish();
    expect([replicas.starts, journal.rows.length, replicas.violations.length]).toEqual([3, 10, 0]);
  });

  it('shows what each worker is doing', async () => {
    const { finish, pool, clock } = bench({
      episodeCount: 2,
      fake: { behaviour: () => ({ kind: 'hang' }) },
      retry: { attempts: 1, on: [] },
    });
    const seen: unknown[] = [];
    clock.after(200, () =>
      seen.push(
        ...pool
          .workers()
          .map(({ phase, ordinal, step, stepBudget }) => ({ phase, ordinal, step, stepBudget })),
      ),
    );
    await finish();
    expect(seen).toEqual([
      { phase: 'step', ordinal: 0, step: 3, stepBudget: 100 },
      { phase: 'step', ordinal: 1, step: 3, stepBudget: 100 },
    ]);
    expect(pool.workers().map((view) => view.phase)).toEqual(['closed', 'closed']);
  });
});
