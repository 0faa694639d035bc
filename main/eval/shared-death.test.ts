// Workers whose environments share a process: what one of them does to it costs the others time and nothing else.
import { describe, expect, it } from 'vitest';
import { createRandom, deriveSeed } from '../base/random.ts';
import { createFakeClock } from '../base/fake-clock.ts';
import type { Behaviour } from './testing/fake-replicas.ts';
import { bench, type Bench, type BenchOptions } from './testing/pool-bench.ts';

const shared = { workerCount: 4, episodeCount: 20 } as const;
const behaves = (ordinal: number, kind: Behaviour['kind']): NonNullable<BenchOptions['fake']> => ({
  slotsPerProcess: 4,
  behaviour: ({ episode }) => ({ kind: episode.ordinal === ordinal ? kind : 'complete' }),
});

describe('workers that share a process', () => {
  it.each([
    ['die', 'died'],
    ['hang', 'timeout'],
    ['fatal', 'died'],
  ] as const)(
    '%s: the others are repeated at once and no attempt of theirs is used up',
    async (kind, status) => {
      const { finish, journal, replicas, pool } = bench({ ...shared, fake: behaves(2, kind) });
      expect(await finish()).toEqual({ kind: 'finished' });
      const own = journal.rows.filter((row) => row.ordinal === 2);
      expect(own.map((row) => [row.attempt, row.status, row.final])).toEqual([
        [1, status, false],
        [2, status, true],
      ]);
      const others = journal.rows.filter((row) => row.ordinal !== 2);
      expect(others).toHaveLength(19);
      expect(new Set(others.map((row) => `${row.attempt} ${row.status}`))).toEqual(new Set(['1 completed']));
      expect(pool.counters.displaced).toBeGreaterThan(0);
      expect([replicas.violations, replicas.alive, journal.refused]).toEqual([[], 0, []]);
    },
  );

  it('count only their own deaths against their crash budget', async () => {
    const { finish, pool, journal } = bench({
      ...shared,
      crashBudget: 2,
      retry: { attempts: 1, on: [] },
      fake: {
        slotsPerProcess: 4,
        behaviour: ({ episode }) => ({ kind: episode.ordinal % 5 === 2 ? 'die' : 'complete' }),
      },
    });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(pool.workers().map((worker) => worker.downReason)).toEqual([null, null, null, null]);
    expect(journal.rows).toHaveLength(20);
    expect(pool.workers().reduce((sum, worker) => sum + worker.deaths, 0)).toBe(4);
  });

  it('that are idle when a mate ends their process go on with the next one', async () => {
    const { finish, journal } = bench({
      workerCount: 2,
      episodeCount: 2,
      retry: { attempts: 3, on: ['died'] },
      fake: {
        ...behaves(1, 'die'),
        episodeMs: ({ episode }) => (episode.ordinal === 1 ? 1000 : 10),
      },
    });
    await finish();
    expect(journal.finals().map((row) => [row.status, row.attempt])).toEqual([
      ['completed', 1],
      ['died', 3],
    ]);
  });

  it('leave displaced episodes missing when the pool stops, for the run to be resumed with', async () => {
    const run: Bench = bench({
      ...shared,
      fake: behaves(2, 'die'),
      listener: {
        onAttempt: ({ ordinal }) => {
          if (ordinal === 2) run.pool.stop('asked');
        },
      },
    });
    expect(await run.finish()).toEqual({ kind: 'paused', reason: 'asked' });
    const finals = run.journal.finals().map((row) => row.ordinal);
    expect(new Set(finals).size).toBe(finals.length);
    expect(run.replicas.alive).toBe(0);
    expect(run.journal.rows.filter((row) => row.ordinal !== 2 && row.status !== 'completed')).toEqual([]);
  });

  it('give the results and attempts of workers with a process each, in a swarm of faults', async () => {
    const kinds: readonly Behaviour['kind'][] = ['die', 'hang', 'error', 'lateAnswer', 'fatal', 'no_verdict'];
    for (let seed = 1; seed <= 8; seed++) {
      const results = await Promise.all(
        [1, 2, 3, 8].map(async (slotsPerProcess) => {
          const { finish, journal, replicas, clock } = bench({
            clock: createFakeClock(),
            workerCount: 8,
            episodeCount: 60,
            crashBudget: 1000,
            limits: { resetMs: 2000, episodeMs: () => 4000, defaultStepBudget: 100 },
            fake: {
              slotsPerProcess,
              behaviour: ({ episode, attempt }) => {
                const random = createRandom(deriveSeed(seed, 'behaviour', episode.ordinal, attempt));
                const kind = kinds[random.integer(kinds.length)] ?? 'complete';
                return { kind: random.integer(8) > 0 ? 'complete' : kind };
              },
              episodeMs: ({ episode, attempt }) =>
                40 + createRandom(deriveSeed(seed, episode.ordinal, attempt)).integer(900),
            },
          });
          expect(await finish()).toEqual({ kind: 'finished' });
          expect([replicas.violations, replicas.alive, journal.refused, clock.pendingTimers]).toEqual([
            [],
            0,
            [],
            0,
          ]);
          return journal.rows
            .map(({ ordinal, attempt, status, final, metrics }) => ({
              ordinal,
              attempt,
              status,
              final,
              metrics,
            }))
            .toSorted((one, other) => one.ordinal - other.ordinal || one.attempt - other.attempt);
        }),
      );
      for (const other of results.slice(1)) expect(other).toEqual(results[0]);
    }
  });
});

describe('a deadline of an episode', () => {
  it('moves by the time its calls waited behind those of process mates, and by no more', async () => {
    const clock = createFakeClock();
    const { finish, journal } = bench({
      clock,
      workerCount: 1,
      episodeCount: 1,
      retry: { attempts: 1, on: [] },
      fake: {
        behaviour: () => ({ kind: 'hang' }),
        waitedForMatesMs: () => Math.min(clock.monotonic(), 3000),
      },
    });
    await finish();
    // 25 ms of reset, the limit of 100 steps x 100 ms, and what it waited since its first step.
    expect(journal.finals().map((row) => [row.status, Math.round(row.durationMs / 10)])).toEqual([
      ['timeout', Math.round((25 + 10_000 + 2965) / 10)],
    ]);
  });
});
