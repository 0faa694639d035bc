// A pool with everything it needs, in memory.
import { createFakeClock, type FakeClock } from '../../base/fake-clock.ts';
import { toStudioError } from '../../base/errors.ts';
import { EnvWorkerPool, type PoolEnd, type PoolOptions } from '../env-worker-pool.ts';
import { createFakeJournal, planOf, type FakeJournal, type FakeJournalOptions } from './fake-journal.ts';
import { createFakeReplicas, type FakeReplicaOptions, type FakeReplicas } from './fake-replicas.ts';

export interface Bench {
  readonly clock: FakeClock;
  readonly replicas: FakeReplicas;
  readonly journal: FakeJournal;
  readonly pool: EnvWorkerPool;
  /** Starts and runs the pool, moving time on until it ends. */
  readonly finish: () => Promise<PoolEnd>;
}

export interface BenchOptions extends Partial<Omit<PoolOptions, 'episodes'>> {
  readonly episodeCount?: number;
  readonly fake?: Omit<FakeReplicaOptions, 'clock'>;
  readonly journalOptions?: FakeJournalOptions;
  readonly clock?: FakeClock;
}

/** A pool over replicas and a journal in memory, on a clock that `finish` moves. */
export function bench(options: BenchOptions = {}): Bench {
  const { episodeCount = 10, fake = {}, journalOptions, clock = createFakeClock(), ...rest } = options;
  const replicas = createFakeReplicas({ clock, ...fake });
  const journal = createFakeJournal(journalOptions);
  const pool = new EnvWorkerPool({
    workerCount: 2,
    episodes: planOf(episodeCount),
    source: replicas,
    runner: replicas,
    journal,
    limits: { resetMs: 2000, episodeMs: (budget) => budget * 100, defaultStepBudget: 100 },
    retry: { attempts: 2, on: ['died', 'timeout'] },
    clock,
    ...rest,
  });
  const finish = async (): Promise<PoolEnd> => {
    let end: PoolEnd | undefined;
    let failure: Error | undefined;
    const work = pool.start().then(() => pool.run());
    void work.then((value) => (end = value)).catch((error: unknown) => (failure = toStudioError(error)));
    while (!end && !failure) if (!(await clock.advanceToNext())) break;
    if (failure) throw failure;
    if (!end) throw new Error('the pool never ended');
    pool[Symbol.dispose]();
    return end;
  };
  return { clock, replicas, journal, pool, finish };
}
