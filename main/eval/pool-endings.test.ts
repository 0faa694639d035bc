// What a pool tells and how it ends, in the cases that are easily forgotten.
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../base/fake-clock.ts';
import { silentLogger } from '../base/logger.ts';
import { createFakeReplicas } from './testing/fake-replicas.ts';
import { bench } from './testing/pool-bench.ts';

describe('what else a pool does', () => {
  it('keeps the first reason it was stopped for', async () => {
    const { finish, pool, clock } = bench({ episodeCount: 100 });
    clock.after(250, () => {
      pool.stop('first');
      pool.stop('second');
    });
    expect(await finish()).toEqual({ kind: 'paused', reason: 'first' });
  });

  it('says that nothing runs when it has no worker', async () => {
    const { finish } = bench({ workerCount: 0 });
    expect(await finish()).toEqual({ kind: 'paused', reason: 'every worker is down: unknown' });
  });

  it('tells what its workers do twice a second, and at the end', async () => {
    let told = 0;
    const { finish, clock } = bench({
      episodeCount: 1,
      workerCount: 1,
      fake: { episodeMs: () => 3000 },
      listener: { onWorkers: () => void told++ },
    });
    await finish();
    expect(told).toBe(1 + Math.floor(clock.monotonic() / 500));
  });

  it('gives an error of a start that is none of ours a code, and rolls back without a word', async () => {
    const logged: string[] = [];
    const logger = { ...silentLogger, error: (message: string) => void logged.push(message) };
    const { finish, replicas, clock } = bench({
      workerCount: 2,
      logger,
      fake: { startFault: (slot) => (slot === 1 ? new Error('odd') : undefined) },
    });
    await expect(finish()).rejects.toMatchObject({ code: 'nodeset_failed' });
    await clock.advance(1000);
    expect([logged, replicas.alive]).toEqual([[], 0]);
  });

  it('stops at the first failure where failOn is 1', async () => {
    const { finish } = bench({ workerCount: 1, failOn: 1, fake: { behaviour: () => ({ kind: 'error' }) } });
    expect(await finish()).toEqual({
      kind: 'paused',
      reason: '1 episodes ended without a verdict (failOn 1)',
    });
  });

  it('cancel gives up a replacement that is still starting', async () => {
    const { finish, pool, clock } = bench({
      workerCount: 1,
      fake: {
        behaviour: () => ({ kind: 'die' }),
        startFault: (_slot, nth) => (nth > 1 ? 'hang' : undefined),
      },
    });
    clock.after(5000, () => pool.cancel());
    expect(await finish()).toEqual({ kind: 'cancelled' });
    expect(clock.monotonic()).toBeLessThan(6000);
  });

  it('cancel while a result is written hands out nothing more, and keeps the result', async () => {
    const { finish, pool, replicas, journal } = bench({
      workerCount: 1,
      journalOptions: {
        beforeAppend: async () => {
          pool.cancel();
          await Promise.resolve();
        },
      },
    });
    expect(await finish()).toEqual({ kind: 'cancelled' });
    expect([replicas.leases.length, journal.rows.length]).toEqual([1, 1]);
  });

  it('ends at once when it is disposed', async () => {
    const { finish, pool, clock } = bench({ fake: { behaviour: () => ({ kind: 'hang' }) } });
    clock.after(250, () => pool[Symbol.dispose]());
    expect(await finish()).toEqual({ kind: 'cancelled' });
    expect(clock.monotonic()).toBeLessThan(1000);
  });

  it('asks its replicas to end after a stop and kills them after a cancel', async () => {
    for (const act of ['stop', 'cancel'] as const) {
      const clock = createFakeClock();
      const replicas = createFakeReplicas({ clock });
      const asked: string[] = [];
      const source = {
        async start(slot: number, signal: AbortSignal) {
          const replica = await replicas.start(slot, signal);
          const kill = replica.kill.bind(replica);
          return Object.assign(replica, {
            kill: () => (asked.push('kill'), kill()),
            [Symbol.asyncDispose]: () => (asked.push('close'), kill()),
          });
        },
      };
      // The second worker has nothing to do.
      const { finish, pool } = bench({ clock, source, runner: replicas, workerCount: 2, episodeCount: 1 });
      clock.after(50, () => (act === 'stop' ? pool.stop('asked') : pool.cancel()));
      await finish();
      expect(asked).toEqual(act === 'stop' ? ['close', 'close'] : ['kill', 'kill']);
    }
  });

  it('kills a replica that does not close within its time', async () => {
    for (const [closeMs, expected] of [
      [undefined, 10_000],
      [300, 300],
    ] as const) {
      const clock = createFakeClock();
      const replicas = createFakeReplicas({ clock, killMs: 0 });
      const source = {
        start: async (slot: number, signal: AbortSignal) =>
          Object.assign(await replicas.start(slot, signal), {
            [Symbol.asyncDispose]: () => new Promise<void>(() => undefined),
          }),
      };
      const { finish } = bench({
        clock,
        source,
        runner: replicas,
        workerCount: 1,
        episodeCount: 1,
        ...(closeMs === undefined ? {} : { closeMs }),
      });
      await finish();
      expect(clock.monotonic()).toBe(10 + 100 + expected);
      expect(replicas.alive).toBe(0);
    }
  });

  it('shows what a worker was doing while it ran, and how long it was idle', async () => {
    const { finish, pool, clock } = bench({
      episodeCount: 1,
      workerCount: 2,
      fake: { episodeMs: () => 1000 },
    });
    const seen: unknown[] = [];
    clock.after(100, () => seen.push(...pool.workers()));
    clock.after(600, () => seen.push(...pool.workers()));
    await finish();
    expect(seen).toMatchObject([
      { worker: 0, phase: 'reset', ordinal: 0, episodeId: null, step: 0, attempt: 1, deaths: 0, idleMs: 0 },
      { worker: 1, phase: 'idle', ordinal: null, attempt: 0, idleMs: 90, rssBytes: 100 * 2 ** 20 },
      { worker: 0, phase: 'step', ordinal: 0, episodeId: 'e0', step: 0, stepBudget: 100 },
      { worker: 1, phase: 'idle', idleMs: 590 },
    ]);
    expect(pool.workers()).toMatchObject([
      { phase: 'closed', rssBytes: null, pids: [] },
      { phase: 'closed', idleMs: 1000 },
    ]);
  });

  it('says in which phase an episode was too slow', async () => {
    const { finish, journal } = bench({
      episodeCount: 2,
      workerCount: 1,
      retry: { attempts: 1, on: [] },
      fake: {
        behaviour: ({ episode }) => ({ kind: episode.ordinal === 0 ? 'hang' : 'complete' }),
        episodeMs: ({ episode }) => (episode.ordinal === 0 ? 100 : 100_000),
      },
    });
    await finish();
    expect(journal.rows.map(({ error }) => error?.message)).toEqual([
      'the episode took longer than 10 s (step, step 3)',
      'choosing and resetting the episode took longer than 2 s (reset, step 0)',
    ]);
  });

  it('counts a death between episodes against the budget, and says so', async () => {
    const clock = createFakeClock();
    const down: string[] = [];
    const { finish, replicas, pool } = bench({
      clock,
      episodeCount: 3,
      workerCount: 1,
      crashBudget: 1,
      listener: { onSlotDown: (_worker, reason) => void down.push(reason) },
      journalOptions: {
        beforeAppend: async (row) => {
          if (row.ordinal === 0) replicas.strike(0);
          await Promise.resolve();
        },
      },
    });
    expect(await finish()).toMatchObject({ kind: 'paused' });
    expect(down).toEqual(['1 deaths in a row; the last: fake#0 ended between episodes']);
    expect(pool.workers()[0]).toMatchObject({ phase: 'down', deaths: 1 });
  });
});
