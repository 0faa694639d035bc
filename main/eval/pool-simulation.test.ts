// Whole workspaces under a fake clock with a swarm of seeded faults, and small models explored exhaustively. The full scale
// is `npm run reliability`; a seed is replayed with `node .ci/reliability/simulation.ts SEED`.
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../base/fake-clock.ts';
import { createRandom, deriveSeed } from '../base/random.ts';
import { EnvWorkerPool } from './env-worker-pool.ts';
import { createFakeJournal, planOf } from './testing/fake-journal.ts';
import { createFakeReplicas, type Behaviour } from './testing/fake-replicas.ts';
import { BatchModel } from './testing/models/batch-model.ts';
import { explore } from './testing/models/explore.ts';
import { GuardModel } from './testing/models/guard-model.ts';
import { PoolModel } from './testing/models/pool-model.ts';
import { checkSameFuture } from './testing/models/same-future.ts';
import { verdictOfEpisode } from './testing/simulation/toy-world.ts';
import { simulateWorkspace } from './testing/simulation/workspace-world.ts';

/** Seeds that broke something once, and what that was. */
const remembered: readonly (readonly [seed: number, what: string])[] = [
  [11, 'a run that ended without its last file was never given it'],
  [129, 'a power failure took the folder of runs with it'],
  [1158, 'a queued run on a full disk was tried again and again without a pause'],
  [2031, 'an old summary was taken for the new one after the clock was set back'],
];

describe('simulation of a workspace', () => {
  it.each(remembered)('seed %i: %s', async (seed) => {
    expect((await simulateWorkspace(seed)).violations).toEqual([]);
  });

  it('breaks no invariant in a swarm of faults, and every seed replays', async () => {
    let episodes = 0;
    const struck = new Set<string>();
    for (let seed = 9001; seed <= 9015; seed++) {
      const first = await simulateWorkspace(seed);
      const second = await simulateWorkspace(seed);
      expect([seed, ...first.violations]).toEqual([seed]);
      expect([second.steps, second.digest]).toEqual([first.steps, first.digest]);
      episodes += first.episodes;
      for (const name of first.struck.keys()) struck.add(name);
    }
    expect(episodes).toBeGreaterThan(600);
    expect(struck.size).toBeGreaterThan(20);
  });

  it('notices a result that is lost', async () => {
    const { violations } = await simulateWorkspace(9001, { sabotage: 'lose_a_row' });
    expect(violations.join()).toContain('lost');
  });
});

describe('exhaustive models', () => {
  it('a pool with two slots, three episodes and two attempts keeps every promise in all interleavings', async () => {
    const options = {
      slots: 2,
      episodes: 3,
      attempts: 2,
      outcomes: [],
      canStop: false,
      canCancel: false,
      failures: 0,
    };
    const found = await explore(() => new PoolModel(options));
    expect(found).toMatchObject({ violations: [], isComplete: true });
    expect(found.states).toBeGreaterThan(300);
  });

  it('leaving states out that were seen changes no verdict', async () => {
    const options = {
      slots: 2,
      episodes: 1,
      attempts: 2,
      outcomes: ['die'],
      canStop: false,
      canCancel: false,
      failures: 0,
    } as const;
    const pruned = await explore(() => new PoolModel(options));
    const whole = await explore(() => new PoolModel(options), { prunes: false });
    expect([pruned.violations, whole.violations]).toEqual([[], []]);
    expect(whole.states).toBeGreaterThan(pruned.states);
    expect([pruned.isComplete, whole.isComplete, whole.longestPath]).toEqual([
      true,
      true,
      pruned.longestPath,
    ]);
  });

  it.each([
    [
      'a pool with deaths, failing commits and a cancel',
      () =>
        new PoolModel({
          slots: 2,
          episodes: 1,
          attempts: 2,
          outcomes: ['die', 'error'],
          canStop: false,
          canCancel: true,
          failures: 1,
        }),
    ],
    [
      'a batch queue with a fault and a closing',
      () =>
        new BatchModel({
          policy: { flushPolicy: 'rendezvous', flushTimeoutMs: 50, maxBatch: 256 },
          callers: 2,
          samples: 1,
          faults: 1,
          canLeave: false,
          canClose: true,
        }),
    ],
    ['guard and queue', () => new GuardModel({ runs: 2, canPlay: true, canUnqueue: true, failures: 0 })],
  ])('states that are taken for one have the same future: %s', async (_model, create) => {
    const { differences, compared } = await checkSameFuture(create);
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(100);
  });

  it('a state that is told by too little is noticed', async () => {
    const create = (): PoolModel => {
      const model = new PoolModel({
        slots: 2,
        episodes: 1,
        attempts: 2,
        outcomes: ['die'],
        canStop: false,
        canCancel: false,
        failures: 0,
      });
      const whole = model.fingerprint.bind(model);
      return Object.assign(model, { fingerprint: () => whole().replaceAll(/ died| timeout/g, '') });
    };
    const { differences } = await checkSameFuture(create);
    expect(differences).not.toEqual([]);
  });

  it('guard and queue let every run begin once, in turn, whoever plays, leaves or fails to write', async () => {
    const options = { runs: 2, canPlay: true, canUnqueue: true, failures: 1 };
    expect(await explore(() => new GuardModel(options))).toMatchObject({ violations: [], isComplete: true });
  });
});

describe('the number of workers', () => {
  it('changes nothing about the results', async () => {
    const kinds: readonly Behaviour['kind'][] = ['die', 'hang', 'error', 'lateAnswer', 'fatal', 'no_verdict'];
    const results: unknown[] = [];
    for (const workerCount of [1, 2, 8]) {
      const clock = createFakeClock();
      const journal = createFakeJournal();
      const replicas = createFakeReplicas({
        clock,
        // A fault belongs to (episode, attempt), so that it does not depend on who runs it when.
        behaviour: ({ episode, attempt }) => {
          const random = createRandom(deriveSeed('behaviour', episode.ordinal, attempt));
          return {
            kind: random.integer(10) > 0 ? 'complete' : (kinds[random.integer(kinds.length)] ?? 'complete'),
          };
        },
        episodeMs: ({ episode, attempt }) =>
          40 + createRandom(deriveSeed(episode.ordinal, attempt)).integer(1500),
      });
      const pool = new EnvWorkerPool({
        workerCount,
        episodes: planOf(200),
        source: replicas,
        runner: replicas,
        journal,
        clock,
        retry: { attempts: 2, on: ['died', 'timeout'] },
        limits: { resetMs: 2000, episodeMs: () => 4000, defaultStepBudget: 100 },
        crashBudget: 1000,
      });
      let isOver = false;
      void pool
        .start()
        .then(() => pool.run())
        .then(() => (isOver = true));
      while (!isOver && (await clock.advanceToNext()));
      pool[Symbol.dispose]();
      expect(replicas.violations).toEqual([]);
      results.push(
        journal
          .finals()
          .map(({ ordinal, status, metrics, attempt }) => ({ ordinal, status, metrics, attempt })),
      );
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });
});

describe('what an episode of the simulation must end with', () => {
  it('depends on its index alone', () => {
    const world = { seed: 5, stepBudget: 6, policies: [11, 12], contents: [] };
    const verdicts = Array.from({ length: 50 }, (_item, index) => verdictOfEpisode(world, index));
    expect(new Set(verdicts.map(({ metrics }) => metrics['score'])).size).toBeGreaterThan(20);
    expect(verdicts).toEqual(Array.from({ length: 50 }, (_item, index) => verdictOfEpisode(world, index)));
  });
});
