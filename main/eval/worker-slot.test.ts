// What one worker does with its replica and its rows, seen through a pool on a fake clock.
import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../base/fake-clock.ts';
import { StudioError } from '../base/errors.ts';
import { silentLogger, type Logger } from '../base/logger.ts';
import type { EpisodeAttempt, EpisodeError, WorkerView } from '../contract/run.ts';
import type { ReplicaDeath } from '../nodeset/ports.ts';
import type { EpisodeRequest, EpisodeRunner, ReplicaSource } from './ports.ts';
import { episodeError, failure } from './attempt-row.ts';
import { createFakeReplicas, type FakeReplicaOptions, type FakeReplicas } from './testing/fake-replicas.ts';
import { bench } from './testing/pool-bench.ts';

interface Watched {
  readonly clock: FakeClock;
  readonly replicas: FakeReplicas;
  readonly source: { start: FakeReplicas['start'] };
  /** `kill` and `close` as the pool asked for them. */
  readonly asked: string[];
  /** Ends the process of the newest replica by the doing of another environment in it. */
  readonly endByMate: () => void;
}

/** Replicas with a process id, which note how they are asked to end. */
function watched(options: Omit<FakeReplicaOptions, 'clock'> = {}): Watched {
  const clock = createFakeClock();
  const replicas = createFakeReplicas({ clock, ...options });
  const asked: string[] = [];
  let endByMate = (): void => undefined;
  const source = {
    async start(slot: number, signal: AbortSignal) {
      const replica = await replicas.start(slot, signal);
      const kill = replica.kill.bind(replica);
      const ended = Promise.withResolvers<ReplicaDeath>();
      endByMate = () =>
        ended.resolve({
          instance: 'fake#0',
          exitCode: null,
          signal: 'SIGSEGV',
          stderrTail: [],
          expected: false,
          byMate: true,
        });
      return Object.assign(replica, {
        death: Promise.race([replica.death, ended.promise]),
        pids: [4000 + replicas.starts],
        kill: () => (asked.push('kill'), kill()),
        [Symbol.asyncDispose]: () => (asked.push('close'), kill()),
      });
    },
  };
  return { clock, replicas, source, asked, endByMate: () => endByMate() };
}

interface Logged {
  readonly logger: Logger;
  readonly lines: unknown[];
}

function logged(): Logged {
  const lines: unknown[] = [];
  const note = (message: string, facts?: unknown): void => void lines.push([message, facts]);
  return { logger: { ...silentLogger, info: note, warn: note }, lines };
}

const once = { attempts: 1, on: [] };

/** A runner whose calls report the given end before anything else is known of it. */
const reporting =
  (
    replicas: FakeReplicas,
    row: { status?: EpisodeAttempt['status']; error: EpisodeError | null },
    meanwhile: (request: EpisodeRequest) => void = () => undefined,
  ): EpisodeRunner['run'] =>
  async (request) => {
    const answered = await replicas.run(request);
    if (request.episode.ordinal > 0) return answered;
    meanwhile(request);
    return { ...answered, status: 'died', metrics: {}, ...row };
  };

const lost = (code: EpisodeError['code']): EpisodeError => ({
  code,
  message: 'the call failed',
  scope: { phase: 'step', step: 4 },
  details: { method: 'node/call' },
});

describe('a death that a call reported first', () => {
  it('is told with how the process ended, once that is known', async () => {
    for (const code of ['process_died', 'connection_closed'] as const) {
      const { clock, replicas, source } = watched();
      const run = reporting(replicas, { error: lost(code) }, () =>
        clock.after(400, () => replicas.strike(0)),
      );
      const { finish, journal } = bench({
        clock,
        source,
        runner: { run },
        workerCount: 1,
        episodeCount: 1,
        retry: once,
      });
      await finish();
      expect(journal.rows[0]).toMatchObject({
        status: 'died',
        error: {
          code: 'process_died',
          message: 'fake#0 was ended by SIGKILL in step 4',
          signal: 'SIGKILL',
          stderrTail: ['last words'],
          scope: { phase: 'step', step: 4 },
          details: { method: 'node/call' },
        },
      });
      expect(clock.pendingTimers).toBe(0);
    }
  });

  it('is waited for no longer than a second, and then told as the call told it', async () => {
    const { clock, replicas, source } = watched();
    const writtenMs: number[] = [];
    const { finish, journal } = bench({
      clock,
      source,
      runner: { run: reporting(replicas, { error: lost('process_died') }) },
      workerCount: 1,
      episodeCount: 1,
      retry: once,
      journalOptions: {
        beforeAppend: async () => {
          writtenMs.push(clock.monotonic());
          await Promise.resolve();
        },
      },
    });
    await finish();
    expect(writtenMs).toEqual([10 + 100 + 1000]);
    expect(journal.rows[0]?.error).toEqual(lost('process_died'));
  });

  it('is not explained by our own kill', async () => {
    const { clock, replicas, source } = watched();
    const run = reporting(replicas, { error: lost('process_died') }, (request) => {
      void request.replicas.kill();
    });
    const { finish, journal } = bench({ clock, source, runner: { run }, workerCount: 1, retry: once });
    await finish();
    expect(journal.rows[0]?.error).toEqual(lost('process_died'));
  });

  it('is not looked for where the process lives, or the row does not say that it died', async () => {
    for (const row of [
      { error: lost('fatal') },
      { status: 'error', error: lost('process_died') },
      { status: 'no_verdict', error: lost('connection_closed') },
    ] as const) {
      const { clock, replicas, source } = watched();
      const { finish, journal } = bench({
        clock,
        source,
        runner: { run: reporting(replicas, row) },
        workerCount: 1,
        episodeCount: 1,
        retry: once,
      });
      await finish();
      expect(journal.rows[0]).toMatchObject(row);
      expect(clock.monotonic()).toBeLessThan(200);
    }
  });

  it('counts although the row has no error', async () => {
    const { clock, replicas, source } = watched();
    const { finish } = bench({
      clock,
      source,
      runner: { run: reporting(replicas, { error: null }) },
      workerCount: 1,
      crashBudget: 1,
      retry: once,
    });
    expect(await finish()).toEqual({
      kind: 'paused',
      reason: 'every worker is down: 1 deaths in a row; the last: its process ended',
    });
  });
});

describe('a process that several environments share', () => {
  const sharing = (source: ReplicaSource): ReplicaSource => ({
    start: async (slot, signal) =>
      Object.assign(await source.start(slot, signal), { waitedForMatesMs: () => 0 }),
  });

  it('and that another one ended costs no attempt, nor does it count against the slot', async () => {
    const { clock, replicas, source, asked, endByMate } = watched();
    const { logger, lines } = logged();
    const { finish, pool, journal } = bench({
      clock,
      source,
      runner: replicas,
      logger,
      workerCount: 1,
      episodeCount: 2,
      crashBudget: 1,
      retry: once,
    });
    const seen: WorkerView[] = [];
    clock.after(50, endByMate);
    clock.after(51, () => seen.push(...pool.workers()));
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(journal.rows.map((row) => [row.ordinal, row.attempt, row.epoch, row.status])).toEqual([
      [0, 1, 2, 'completed'],
      [1, 1, 1, 'completed'],
    ]);
    expect(asked).toEqual(['kill', 'close']);
    expect(seen).toMatchObject([{ phase: 'replacing', ordinal: null }]);
    expect(pool.counters).toEqual({ lateAnswers: 0, replacements: 1, displaced: 1 });
    expect(pool.workers()).toMatchObject([{ deaths: 0 }]);
    expect(lines).toEqual([
      ['an episode is repeated: its process ended by another one in it', { worker: 0, ordinal: 0 }],
    ]);
  });

  it('and that another one ended between two episodes is replaced, and counts nowhere', async () => {
    const { clock, replicas, source, asked, endByMate } = watched();
    const { finish, pool } = bench({
      clock,
      source,
      runner: replicas,
      workerCount: 1,
      episodeCount: 2,
      crashBudget: 1,
      journalOptions: {
        beforeAppend: async (row) => {
          if (row.ordinal === 0) endByMate();
          await Promise.resolve();
        },
      },
    });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect([asked, pool.workers()[0]?.deaths, pool.counters.displaced]).toEqual([['kill', 'close'], 0, 0]);
  });

  it('may end in the guise of bytes that make no sense, which one of its own does not', async () => {
    for (const isShared of [true, false]) {
      const { clock, replicas, source, endByMate } = watched();
      const run = reporting(replicas, { status: 'error', error: lost('protocol_error') }, (request) => {
        if (request.epoch === 1) clock.after(500, endByMate);
      });
      const { finish, journal, pool } = bench({
        clock,
        source: isShared ? sharing(source) : source,
        runner: { run },
        workerCount: 1,
        episodeCount: 1,
        retry: once,
      });
      await finish();
      expect(journal.rows).toMatchObject([
        { attempt: 1, epoch: isShared ? 2 : 1, status: 'error', error: lost('protocol_error') },
      ]);
      expect(pool.counters.displaced).toBe(isShared ? 1 : 0);
    }
  });

  it('is not thought to have ended where an episode has a verdict, or another error', async () => {
    const { clock, replicas, source } = watched({
      behaviour: ({ episode }) => ({ kind: episode.ordinal === 0 ? 'error' : 'complete' }),
    });
    const { finish, journal } = bench({
      clock,
      source: sharing(source),
      runner: replicas,
      workerCount: 1,
      episodeCount: 2,
    });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(journal.rows.map((row) => row.status)).toEqual(['error', 'completed']);
    expect(clock.monotonic()).toBeLessThan(300);
  });

  it('and that it ended itself leaves a row as its calls told it, unless they said that it died', async () => {
    const { clock, replicas, source } = watched();
    const run = reporting(replicas, { status: 'error', error: lost('protocol_error') }, () =>
      clock.after(500, () => replicas.strike(0)),
    );
    const { finish, journal } = bench({
      clock,
      source: sharing(source),
      runner: { run },
      workerCount: 1,
      episodeCount: 1,
      retry: once,
    });
    await finish();
    expect(journal.rows).toMatchObject([{ status: 'error', error: lost('protocol_error') }]);
  });
});

describe('the rows of a worker', () => {
  it('have the recording their runner told', async () => {
    const clock = createFakeClock();
    const replicas = createFakeReplicas({ clock });
    const run: EpisodeRunner['run'] = async (request) => ({
      ...(await replicas.run(request)),
      recording: 'kept',
    });
    const { finish, journal } = bench({ clock, source: replicas, runner: { run }, episodeCount: 1 });
    await finish();
    expect(journal.rows[0]?.recording).toBe('kept');
  });

  it('that are all time-outs do not bring the slot down', async () => {
    const { finish, journal, pool, replicas } = bench({
      episodeCount: 5,
      workerCount: 1,
      retry: once,
      fake: { behaviour: () => ({ kind: 'hang' }) },
    });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(journal.rows.map((row) => row.status)).toEqual(Array(5).fill('timeout'));
    expect([pool.workers()[0]?.deaths, replicas.starts]).toEqual([0, 5]);
  });

  it('that cannot be made pause the run, with the reason', async () => {
    const { finish, replicas, journal } = bench({
      workerCount: 1,
      annotate: () => {
        throw new Error('odd');
      },
    });
    expect(await finish()).toEqual({ kind: 'paused', reason: 'worker 0 met an unexpected error: odd' });
    expect([replicas.alive, journal.rows.length]).toEqual([0, 0]);
  });
});

describe('the replica of a worker', () => {
  it('is closed when it is recycled, which the log tells', async () => {
    const { clock, replicas, source, asked } = watched();
    const { logger, lines } = logged();
    const { finish } = bench({
      clock,
      source,
      runner: replicas,
      logger,
      workerCount: 1,
      episodeCount: 3,
      recycle: { afterEpisodes: 2, aboveBytes: null, slopeBytesPerEpisode: null },
    });
    await finish();
    expect(asked).toEqual(['close', 'close']);
    expect(lines).toEqual([['a replica is recycled', { worker: 0, reason: '2 episodes served' }]]);
  });

  it('is killed when it died between two episodes', async () => {
    const { clock, replicas, source, asked } = watched();
    const { finish } = bench({
      clock,
      source,
      runner: replicas,
      workerCount: 1,
      episodeCount: 2,
      journalOptions: {
        beforeAppend: async (row) => {
          if (row.ordinal === 0) replicas.strike(0);
          await Promise.resolve();
        },
      },
    });
    await finish();
    expect(asked).toEqual(['kill', 'close']);
  });

  it('that ends while its worker has nothing to do is replaced once there is an episode, not before', async () => {
    const unheard: unknown[] = [];
    const note = (error: unknown): void => void unheard.push(error);
    process.on('unhandledRejection', note);
    const { finish, pool, clock, replicas } = bench({
      workerCount: 2,
      episodeCount: 1,
      fake: {
        episodeMs: () => 1000,
        behaviour: ({ attempt }) => ({ kind: attempt === 1 ? 'die' : 'complete' }),
      },
    });
    clock.after(100, () => replicas.strike(1));
    const starts: number[] = [];
    // The episode dies at 760 and comes back.
    clock.after(750, () => starts.push(replicas.starts));
    expect(await finish()).toEqual({ kind: 'finished' });
    await setImmediate();
    process.off('unhandledRejection', note);
    expect([starts, unheard, replicas.violations]).toEqual([[2], [], []]);
    expect(pool.workers()[1]?.deaths).toBe(1);
  });

  it('is started again though a start was given up by somebody else, and the log tells', async () => {
    const { logger, lines } = logged();
    const { finish, replicas } = bench({
      workerCount: 1,
      episodeCount: 2,
      logger,
      fake: {
        behaviour: ({ attempt }) => ({ kind: attempt === 1 ? 'die' : 'complete' }),
        startFault: (_slot, nth) => (nth === 2 ? new StudioError('aborted', 'given up') : undefined),
      },
      crashBudget: 5,
    });
    expect(await finish()).toEqual({ kind: 'finished' });
    expect(replicas.starts).toBe(3);
    expect(lines).toEqual([['a replica could not be restarted', { worker: 0, error: 'given up' }]]);
  });
});

describe('the view of a worker', () => {
  const viewsAt = (
    pool: { workers(): WorkerView[] },
    clock: FakeClock,
    times: readonly number[],
  ): WorkerView[] => {
    const seen: WorkerView[] = [];
    for (const atMs of times) clock.after(atMs, () => seen.push(...pool.workers()));
    return seen;
  };

  it('says that it starts, what it runs since when, and as which process', async () => {
    const { clock, replicas, source } = watched({ episodeMs: () => 1000 });
    const { finish, pool } = bench({ clock, source, runner: replicas, workerCount: 1, episodeCount: 1 });
    const startMs = clock.now();
    const seen = viewsAt(pool, clock, [5, 100, 600]);
    await finish();
    expect(seen).toMatchObject([
      { phase: 'starting', phaseSinceMs: startMs, pids: [], rssBytes: null, downReason: null },
      { phase: 'reset', phaseSinceMs: startMs + 10, pids: [4001], downReason: null },
      { phase: 'step', phaseSinceMs: startMs + 260, pids: [4001], downReason: null },
    ]);
    expect(pool.workers()).toMatchObject([
      { phase: 'closed', phaseSinceMs: startMs + 1010, downReason: null },
    ]);
  });

  it('says since when it has nothing to do', async () => {
    const { finish, pool, clock } = bench({
      workerCount: 2,
      episodeCount: 1,
      fake: { episodeMs: () => 1000 },
    });
    const startMs = clock.now();
    const seen = viewsAt(pool, clock, [500]);
    await finish();
    expect(seen[1]).toMatchObject({ phase: 'idle', phaseSinceMs: startMs + 10 });
  });

  it('says that its replica is replaced while the row of a spoilt one is written', async () => {
    const seen: WorkerView[] = [];
    const { clock, replicas, source } = watched({
      behaviour: ({ episode }) => ({ kind: episode.ordinal === 0 ? 'hang' : 'complete' }),
    });
    const { finish, pool } = bench({
      clock,
      source,
      runner: replicas,
      workerCount: 1,
      episodeCount: 2,
      retry: once,
      journalOptions: {
        beforeAppend: async () => {
          seen.push(...pool.workers());
          await Promise.resolve();
        },
      },
    });
    await finish();
    expect(seen).toMatchObject([
      { phase: 'replacing', ordinal: null, pids: [] },
      { phase: 'step', ordinal: 1, pids: [4002] },
    ]);
  });

  it('says that its replica is replaced while it is recycled', async () => {
    const { finish, pool, clock } = bench({
      workerCount: 1,
      episodeCount: 2,
      fake: { killMs: 100, startMs: () => 100 },
      recycle: { afterEpisodes: 1, aboveBytes: null, slopeBytesPerEpisode: null },
    });
    // Started at 100; its episode ends at 200; gone at 300, and the next stands at 400.
    const seen = viewsAt(pool, clock, [250, 350, 450]);
    await finish();
    expect(seen.map(({ phase }) => phase)).toEqual(['replacing', 'replacing', 'step']);
  });
});

describe('a replica that gave up a call in an episode that failed for another reason', () => {
  const broken = async (code: 'timeout' | 'process_died', isBroken: (ordinal: number) => boolean) => {
    const { clock, replicas, source, asked } = watched();
    const starting = source.start;
    let reason: StudioError | undefined;
    source.start = async (slot, signal) => {
      reason = undefined;
      return Object.assign(await starting(slot, signal), { broken: () => reason });
    };
    const run: EpisodeRunner['run'] = async (request) => {
      const answered = await replicas.run(request);
      if (!isBroken(request.episode.ordinal)) return answered;
      reason = new StudioError(code, 'evaluate got no answer');
      return { ...answered, ...failure('error', episodeError(new StudioError('node_failed', 'a policy'))) };
    };
    const { finish, journal } = bench({
      clock,
      source,
      runner: { run },
      workerCount: 1,
      episodeCount: 4,
      retry: once,
      crashBudget: 2,
    });
    await finish();
    return { statuses: journal.rows.map(({ status }) => status), asked };
  };

  it('is replaced, so that the next episode does not get the blame', async () => {
    for (const code of ['timeout', 'process_died'] as const)
      expect([code, await broken(code, (ordinal) => ordinal === 1)]).toEqual([
        code,
        { statuses: ['completed', 'error', 'completed', 'completed'], asked: ['kill', 'close'] },
      ]);
  });

  it('counts against its slot when it died, and not when it was slow', async () => {
    const always = () => true;
    expect((await broken('timeout', always)).statuses).toHaveLength(4);
    expect((await broken('process_died', always)).statuses).toHaveLength(2);
  });
});
