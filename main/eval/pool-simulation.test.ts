// The pool under a fake clock with seeded faults: deaths, hangs, late answers, strikes between episodes, failing and
// hanging starts, full disks, stops and cancels, resumed until complete. Every seed checks every invariant.
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../base/fake-clock.ts';
import { StudioError } from '../base/errors.ts';
import { createRandom, deriveSeed } from '../base/random.ts';
import { stableHash } from '../base/stable-hash.ts';
import type { PlannedEpisode } from '../contract/run.ts';
import { EnvWorkerPool, type PoolEnd } from './env-worker-pool.ts';
import { createFakeJournal, planOf, type FakeJournal } from './testing/fake-journal.ts';
import { createFakeReplicas, type Behaviour, type FakeReplicas } from './testing/fake-replicas.ts';

interface World {
  readonly seed: number;
  readonly workerCount: number;
  readonly episodeCount: number;
  /** Chance of each fault, in 1/1000. */
  readonly faultsPerMille: number;
  readonly interrupts: boolean;
}

const kinds: readonly Behaviour['kind'][] = [
  'die',
  'hang',
  'error',
  'lateAnswer',
  'fatal',
  'no_verdict',
  'throw',
];
const resetMs = 2000;
const episodeMs = 4000;

/** A fault belongs to (episode, attempt), so that it does not depend on who runs it when. */
function behaviourOf(world: World, ordinal: number, attempt: number): Behaviour {
  const random = createRandom(deriveSeed(world.seed, 'behaviour', ordinal, attempt));
  if (random.integer(1000) >= world.faultsPerMille) return { kind: 'complete' };
  return { kind: kinds[random.integer(kinds.length)] ?? 'complete' };
}

class Simulation {
  readonly clock = createFakeClock();
  readonly journal: FakeJournal;
  readonly plan: readonly PlannedEpisode[];
  readonly violations: string[] = [];
  readonly #world: World;
  readonly #random;
  sessions = 0;

  constructor(world: World) {
    this.#world = world;
    this.#random = createRandom(world.seed);
    this.plan = planOf(world.episodeCount);
    this.journal = createFakeJournal({
      beforeAppend: async () => {
        if (world.interrupts && this.#random.integer(400) === 0)
          throw new StudioError('disk_full', 'no space is left');
        if (this.#random.integer(3) === 0)
          await new Promise<void>((resolve) => this.clock.after(this.#random.integer(40), resolve));
      },
    });
  }

  async complete(): Promise<void> {
    while (this.journal.missing(this.plan).length > 0) {
      if (++this.sessions > 500) throw new Error(`seed ${this.#world.seed} never completes`);
      await this.#session();
    }
  }

  /** What must be equal whatever the workers did. */
  results(): unknown {
    return this.journal
      .finals()
      .map(({ ordinal, status, metrics, attempt }) => ({ ordinal, status, metrics, attempt }));
  }

  trace(): string {
    return stableHash(this.journal.rows);
  }

  async #session(): Promise<void> {
    const { clock, journal, plan } = this;
    const world = this.#world;
    const replicas = this.#replicas();
    const pool = new EnvWorkerPool({
      workerCount: world.workerCount,
      episodes: journal.missing(plan),
      source: replicas,
      runner: replicas,
      journal,
      clock,
      affinity: this.#random.integer(2) === 0 ? 'none' : 'scene',
      retry: { attempts: 2, on: ['died', 'timeout'] },
      limits: { resetMs, episodeMs: () => episodeMs, defaultStepBudget: 100 },
      crashBudget: world.interrupts ? 3 : 1000,
      recycle: {
        afterEpisodes: this.#random.integer(2) === 0 ? 7 : null,
        aboveBytes: null,
        slopeBytesPerEpisode: null,
      },
    });
    let stoppedAtMs = Number.POSITIVE_INFINITY;
    const interrupt = (act: () => void): void => {
      clock.after(this.#random.integer(20_000), () => {
        stoppedAtMs = Math.min(stoppedAtMs, clock.monotonic());
        act();
      });
    };
    if (world.interrupts && this.#random.integer(2) === 0) interrupt(() => pool.stop('stopped'));
    if (world.interrupts && this.#random.integer(3) === 0) interrupt(() => pool.cancel());
    if (world.interrupts) {
      for (let strike = 0; strike < 3; strike++) {
        clock.after(this.#random.integer(20_000), () =>
          replicas.strike(this.#random.integer(world.workerCount)),
        );
      }
    }
    const end = await this.#runToEnd(pool);
    await clock.advance(200_000);
    this.#check(replicas, end, stoppedAtMs);
  }

  #replicas(): FakeReplicas {
    const world = this.#world;
    const session = this.sessions;
    return createFakeReplicas({
      clock: this.clock,
      killMs: 20,
      behaviour: ({ episode, attempt }) => behaviourOf(world, episode.ordinal, attempt),
      episodeMs: ({ episode, attempt }) =>
        40 + createRandom(deriveSeed(world.seed, 'time', episode.ordinal, attempt)).integer(1500),
      startMs: (slot, nth) => createRandom(deriveSeed(world.seed, 'start', session, slot, nth)).integer(300),
      startFault: (slot, nth) => {
        const chance = createRandom(deriveSeed(world.seed, 'fault', session, slot, nth)).integer(1000);
        if (nth === 1 || !world.interrupts || chance >= 50) return undefined;
        return chance < 40 ? new StudioError('spawn_failed', 'no memory') : undefined;
      },
    });
  }

  async #runToEnd(pool: EnvWorkerPool): Promise<PoolEnd | 'failed'> {
    let end: PoolEnd | 'failed' | undefined;
    const work = pool.start().then(() => pool.run());
    void work.then((value) => (end = value)).catch(() => (end = 'failed'));
    while (end === undefined) {
      if (!(await this.clock.advanceToNext())) throw new Error(`seed ${this.#world.seed}: the pool hangs`);
    }
    pool[Symbol.dispose]();
    return end;
  }

  #check(replicas: FakeReplicas, end: PoolEnd | 'failed', stoppedAtMs: number): void {
    const note = (text: string): void => void this.violations.push(`seed ${this.#world.seed}: ${text}`);
    for (const violation of replicas.violations) note(violation);
    if (replicas.alive > 0) note(`${replicas.alive} replicas alive after the end`);
    if (this.clock.pendingTimers > 0) note(`${this.clock.pendingTimers} timers left`);
    if (replicas.leases.some((lease) => lease.atMs > stoppedAtMs)) note('a lease after stop');
    const finals = this.journal.finals().map((row) => row.ordinal);
    if (new Set(finals).size !== finals.length) note('two final rows of one episode');
    if (this.journal.refused.length > 0) note(`refused: ${this.journal.refused.join('; ')}`);
    const isComplete = finals.length === this.plan.length;
    if (isComplete !== (end !== 'failed' && end.kind === 'finished'))
      note(`ended as ${JSON.stringify(end)} with ${finals.length} finals`);
    for (const row of this.journal.rows) {
      if (row.status === 'timeout' && row.durationMs > resetMs + episodeMs + 1000)
        note(`timeout judged after ${row.durationMs} ms`);
    }
  }
}

const worldOf = (seed: number, more: Partial<World> = {}): World => ({
  seed,
  workerCount: 1 + (seed % 5),
  episodeCount: 30,
  faultsPerMille: [0, 30, 150, 400][seed % 4] ?? 0,
  interrupts: true,
  ...more,
});

describe('simulation of the pool', () => {
  it('breaks no invariant under seeded faults, stops, cancels and resumes', async () => {
    const violations: string[] = [];
    let sessions = 0;
    let rows = 0;
    for (let seed = 1; seed <= 120; seed++) {
      const simulation = new Simulation(worldOf(seed));
      await simulation.complete();
      violations.push(...simulation.violations);
      sessions += simulation.sessions;
      rows += simulation.journal.rows.length;
    }
    expect(violations).toEqual([]);
    expect(rows).toBeGreaterThan(3600);
    expect(sessions).toBeGreaterThan(150);
  });

  it('replays a seed exactly', async () => {
    for (const seed of [3, 7, 11]) {
      const traces: string[] = [];
      for (let time = 0; time < 2; time++) {
        const simulation = new Simulation(worldOf(seed));
        await simulation.complete();
        traces.push(simulation.trace());
      }
      expect(traces[0]).toBe(traces[1]);
    }
  });

  it('gives the same results per episode with 1, 2 and 8 workers', async () => {
    const results: unknown[] = [];
    for (const workerCount of [1, 2, 8]) {
      const simulation = new Simulation(
        worldOf(99, { workerCount, episodeCount: 200, faultsPerMille: 100, interrupts: false }),
      );
      await simulation.complete();
      expect(simulation.violations).toEqual([]);
      results.push(simulation.results());
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });
});
