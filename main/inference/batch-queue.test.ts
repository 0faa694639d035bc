// Interleavings are generated from seeds: a failing one is replayed with `simulateLanes(seed)`.
import { describe, expect, it } from 'vitest';
import { StudioError } from '../base/errors.ts';
import { createFakeClock, type FakeClock } from '../base/fake-clock.ts';
import {
  BatchQueue,
  defaultBatchLimits,
  type BatchQueueOptions,
  type LaneBackend,
  type Values,
} from './batch-queue.ts';
import type { FlushPolicy } from './flush-rule.ts';
import { simulateLanes, type SimulationReport } from './testing/lane-simulation.ts';

const greedy: FlushPolicy = { flushPolicy: 'greedy', flushTimeoutMs: 50, maxBatch: 256 };
const rendezvous: FlushPolicy = { ...greedy, flushPolicy: 'rendezvous' };

interface Bench {
  readonly clock: FakeClock;
  readonly queue: BatchQueue;
  /** Ids of every call so far. */
  readonly calls: number[][];
  /** Ends the turn: deferred looks run. */
  readonly turn: () => Promise<void>;
}

type Answer = (samples: readonly Values[], clock: FakeClock) => Promise<readonly Values[]>;

const echoAfter =
  (delayMs: number): Answer =>
  (samples, clock) =>
    new Promise((resolve) => void clock.after(delayMs, () => resolve(samples.map(({ id }) => ({ id })))));

function bench(
  policy: FlushPolicy,
  answer: Answer = echoAfter(10),
  more: Partial<BatchQueueOptions> = {},
): Bench {
  const clock = createFakeClock();
  const calls: number[][] = [];
  const deferred: (() => void)[] = [];
  const backend: LaneBackend = {
    call(samples) {
      calls.push(samples.map(({ id }) => Number(id)));
      return answer(samples, clock);
    },
    reset: () => Promise.resolve(),
  };
  const queue = new BatchQueue({
    name: 'node',
    backend,
    policy,
    limits: defaultBatchLimits,
    clock,
    defer: (run) => deferred.push(run),
    ...more,
  });
  return {
    clock,
    queue,
    calls,
    async turn() {
      for (let count = 0; count < 20; count++) await Promise.resolve();
      for (let run = deferred.shift(); run; run = deferred.shift()) run();
    },
  };
}

type Act = (samples: readonly Values[], clock: FakeClock, signal: AbortSignal) => Promise<readonly Values[]>;

/** A greedy lane whose backend does one act after the other, and then answers. */
function faulty(
  acts: readonly Act[],
  more: { reset?: () => Promise<void>; limits?: BatchQueueOptions['limits'] } = {},
): Bench {
  const left = [...acts];
  const { reset = () => Promise.resolve(), limits = defaultBatchLimits } = more;
  const made: Bench = bench(greedy, undefined, {
    limits,
    backend: {
      call(samples, signal) {
        made.calls.push(samples.map(({ id }) => Number(id)));
        return (left.shift() ?? echoAfter(1))(samples, made.clock, signal);
      },
      reset,
    },
  });
  return made;
}

/** Always the same caller. */
const ask = (queue: BatchQueue, id: number): Promise<Values | string> => submit(queue, id, 'caller');

const submit = (queue: BatchQueue, id: number, caller = `caller${id}`): Promise<Values | string> =>
  queue
    .submit(caller, { id })
    .catch((error: unknown) => (error instanceof StudioError ? error.code : 'other'));

/** Fewer where every mutant is judged by them. */
const orders = Number(process.env['LANE_ORDERS'] ?? 20_000);

describe('generated interleavings', () => {
  it('settle every sample once with its own answer, in 20,000 orders of cancels, refusals, hangs, deaths and misfits', async () => {
    const total: Record<string, number> = {};
    for (let seed = 1; seed <= orders; seed++) {
      const { violations, ...counts }: SimulationReport = await simulateLanes(seed);
      if (violations.length > 0) throw new Error(`seed ${seed}: ${violations.join('; ')}`);
      for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
    }
    // Proof that the faults happened.
    const happened = ['answered', 'rejected', 'hangs', 'deaths', 'refusals', 'mismatches', 'cancelled'];
    expect(happened.filter((name) => (total[name] ?? 0) < orders / 20)).toEqual([]);
  }, 120_000);
});

describe('a lane', () => {
  it('calls at once for the only caller, whatever the policy', () => {
    for (const policy of [greedy, rendezvous]) {
      const { queue, calls } = bench(policy);
      void submit(queue, 1);
      expect(calls).toEqual([[1]]);
    }
  });

  it('takes callers that are ready in the same turn into one batch', async () => {
    const { queue, calls, turn } = bench(greedy);
    for (const id of [1, 2, 3]) queue.join(`caller${id}`);
    void submit(queue, 1);
    void submit(queue, 2);
    expect(calls).toEqual([]);
    await turn();
    expect(calls).toEqual([[1, 2]]);
  });

  it('gathers what comes while a greedy batch is under way', async () => {
    const { queue, calls, clock, turn } = bench(greedy);
    void submit(queue, 1);
    for (const id of [2, 3, 4]) void submit(queue, id);
    await turn();
    await clock.advance(10);
    await turn();
    expect(calls).toEqual([[1], [2, 3, 4]]);
  });

  it('stops waiting for a caller that left', async () => {
    const { queue, calls, turn } = bench(rendezvous);
    for (const id of [1, 2, 3]) queue.join(`caller${id}`);
    void submit(queue, 1);
    void submit(queue, 2);
    await turn();
    expect(calls).toEqual([]);
    queue.leave('caller3', new StudioError('aborted', 'its worker died'));
    expect(calls).toEqual([[1, 2]]);
  });

  it('waits for a live caller no longer than the time-out', async () => {
    const { queue, calls, clock, turn } = bench(rendezvous);
    for (const id of [1, 2, 3]) queue.join(`caller${id}`);
    void submit(queue, 1);
    await turn();
    await clock.advance(30);
    void submit(queue, 2);
    await turn();
    await clock.advance(49);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toEqual([[1, 2]]);
  });

  it('finds one bad sample by splitting; the others are answered', async () => {
    const { queue, calls, clock, turn } = bench(greedy, (samples, time) =>
      samples.some(({ id }) => id === 3)
        ? Promise.reject(new StudioError('node_failed', 'a bad image'))
        : echoAfter(1)(samples, time),
    );
    for (const id of [1, 2, 3, 4]) queue.join(`caller${id}`);
    const results = [1, 2, 3, 4].map((id) => submit(queue, id));
    await clock.advance(20);
    await turn();
    expect(await Promise.all(results)).toEqual([{ id: 1 }, { id: 2 }, 'node_failed', { id: 4 }]);
    expect(calls).toEqual([[1, 2, 3, 4], [1, 2], [3, 4], [3], [4]]);
  });

  it("tries once more after a crash that was nobody's fault", async () => {
    let crashes = 1;
    const { queue, calls, clock } = bench(greedy, (samples, time) =>
      crashes-- > 0
        ? Promise.reject(new StudioError('process_died', 'SIGKILL'))
        : echoAfter(1)(samples, time),
    );
    const result = submit(queue, 1);
    await clock.advance(5);
    expect([await result, calls]).toEqual([{ id: 1 }, [[1], [1]]]);
  });

  it('lets the sample that kills its backend kill only itself', async () => {
    const { queue, clock } = bench(greedy, (samples, time) =>
      samples.some(({ id }) => id === 1)
        ? Promise.reject(new StudioError('process_died', 'SIGSEGV'))
        : echoAfter(1)(samples, time),
    );
    for (const id of [1, 2, 3]) queue.join(`caller${id}`);
    const results = [1, 2, 3].map((id) => submit(queue, id));
    await clock.advance(20);
    expect(await Promise.all(results)).toEqual(['process_died', { id: 2 }, { id: 3 }]);
  });

  it('gives up on a backend that is lost again and again', async () => {
    const { queue, calls, clock } = bench(greedy, () =>
      Promise.reject(new StudioError('process_died', 'gone')),
    );
    for (const id of [1, 2, 3, 4, 5]) queue.join(`caller${id}`);
    const results = [1, 2, 3, 4, 5].map((id) => submit(queue, id));
    await clock.advance(1);
    expect(new Set(await Promise.all(results))).toEqual(new Set(['process_died']));
    expect(calls).toHaveLength(3);
  });

  it('resets a backend that hangs at its deadline, and drops the late answer', async () => {
    let resets = 0;
    let hangs = 1;
    const late: ((answers: readonly Values[]) => void)[] = [];
    const clock = createFakeClock();
    const backend: LaneBackend = {
      call: (samples) =>
        hangs-- > 0
          ? new Promise((resolve) => late.push(resolve))
          : Promise.resolve(samples.map(({ id }) => ({ id }))),
      reset: async () => void resets++,
    };
    const limits = { ...defaultBatchLimits, firstBatchMs: 120_000 };
    const queue = new BatchQueue({
      name: 'node',
      backend,
      policy: greedy,
      limits,
      clock,
      defer: (run) => run(),
    });
    for (const id of [1, 2]) queue.join(`caller${id}`);
    const results = [1, 2].map((id) => submit(queue, id));
    await clock.advance(119_999);
    expect(resets).toBe(0);
    await clock.advance(1);
    late[0]?.([{ id: 'late' }, { id: 'late' }]);
    expect([await Promise.all(results), resets]).toEqual([[{ id: 1 }, { id: 2 }], 1]);
    expect([clock.pendingTimers, queue.view().forwardMs]).toEqual([0, { median: 0, p95: 0 }]);
  });

  it('gives a replacement the time it needs to load', async () => {
    let call = 0;
    const limits = { ...defaultBatchLimits, batchMs: 100, firstBatchMs: 1_000 };
    const answers: Answer = (samples, time) => {
      call++;
      if (call === 2) return Promise.reject(new StudioError('process_died', 'SIGKILL'));
      return echoAfter(call === 3 ? 900 : 10)(samples, time);
    };
    const { queue, clock } = bench(greedy, answers, { limits });
    const results = [submit(queue, 1)];
    await clock.advance(10);
    results.push(submit(queue, 1));
    await clock.advance(950);
    expect(await Promise.all(results)).toEqual([{ id: 1 }, { id: 1 }]);
  });

  it('does not slow another lane while it hangs', async () => {
    const hanging = bench(greedy, () => new Promise(() => undefined));
    const other = bench(greedy, echoAfter(10), { clock: hanging.clock });
    void submit(hanging.queue, 1);
    const answers: (Values | string)[] = [];
    for (let id = 0; id < 5; id++) {
      const result = other.queue.submit('caller', { id });
      await other.clock.advance(10);
      await hanging.clock.advance(10);
      answers.push(await result);
    }
    expect(answers).toEqual([0, 1, 2, 3, 4].map((id) => ({ id })));
  });

  it('settles everything at its end, and takes nothing more', async () => {
    const { queue, calls } = bench(greedy);
    queue.join('caller2');
    const results = [submit(queue, 1), submit(queue, 2), submit(queue, 3)];
    queue.close(new StudioError('aborted', 'over'));
    expect(await Promise.all(results)).toEqual(['aborted', 'aborted', 'aborted']);
    expect(await submit(queue, 4)).toBe('aborted');
    expect(calls.flat()).not.toContain(4);
  });

  it('refuses more waiting calls than its bound', async () => {
    const { queue } = bench(greedy, () => new Promise(() => undefined), {
      limits: { ...defaultBatchLimits, maxWaiting: 2 },
    });
    void submit(queue, 1);
    void submit(queue, 2);
    void submit(queue, 3);
    expect(await submit(queue, 4)).toBe('node_failed');
  });

  it('shows sizes, times and throughput', async () => {
    const { queue, clock, turn } = bench(greedy);
    void submit(queue, 1);
    void submit(queue, 2);
    void submit(queue, 3);
    await clock.advance(10);
    await turn();
    await clock.advance(10);
    expect(queue.view()).toEqual({
      callers: 3,
      waiting: 0,
      batches: 2,
      samples: 3,
      sizes: [1, 1],
      waitMs: { median: 10, p95: 10 },
      forwardMs: { median: 10, p95: 10 },
      samplesPerSecond: 150,
    });
  });
});

describe('a lane and its backend', () => {
  it('gives the first call the time to load, and says how long it waited', async () => {
    const limits = { ...defaultBatchLimits, batchMs: 100, firstBatchMs: 1_500 };
    const { queue, clock } = bench(greedy, () => new Promise(() => undefined), { limits });
    const said = queue.submit('caller', { id: 1 }).catch((error: unknown) => error);
    // The first call, and the one more after it, while nothing ever answered.
    await clock.advance(3_000);
    expect(await said).toMatchObject({
      code: 'timeout',
      message: 'node did not answer a batch within 1.5 s',
    });
    expect(clock.monotonic()).toBe(3_000);
  });

  it('gives a backend that has answered no more than the time of a batch, also after it refused one', async () => {
    const limits = { ...defaultBatchLimits, batchMs: 100, firstBatchMs: 1_000 };
    const acts: Answer[] = [
      echoAfter(900),
      () => Promise.reject(new StudioError('node_failed', 'a bad image')),
      () => new Promise(() => undefined),
      echoAfter(10),
    ];
    const { queue, clock, calls } = faulty(acts, { limits });
    void ask(queue, 1);
    await clock.advance(900);
    expect(await ask(queue, 2)).toBe('node_failed');
    const third = ask(queue, 3);
    await clock.advance(99);
    expect(calls).toEqual([[1], [2], [3]]);
    await clock.advance(1);
    expect(calls).toEqual([[1], [2], [3], [3]]);
    await clock.advance(10);
    expect(await third).toEqual({ id: 3 });
  });

  it('resets only a backend that hung', async () => {
    let resets = 0;
    const acts: Answer[] = [
      () => Promise.reject(new StudioError('node_failed', 'a bad image')),
      () => Promise.reject(new StudioError('process_died', 'SIGKILL')),
      echoAfter(1),
      () => Promise.resolve([]),
      () => new Promise(() => undefined),
    ];
    const { queue, clock } = faulty(acts, { reset: async () => void resets++ });
    for (let id = 1; id <= 3; id++) {
      const result = ask(queue, id);
      await clock.advance(5);
      await result;
    }
    expect(resets).toBe(0);
    void ask(queue, 4);
    await clock.advance(defaultBatchLimits.batchMs);
    expect(resets).toBe(1);
  });

  it('waits for a reset that never ends no longer than its time, and for one that fails not at all', async () => {
    for (const [reset, waitedMs] of [
      [() => new Promise<void>(() => undefined), 10_000],
      [() => Promise.reject(new Error('cannot')), 0],
    ] as const) {
      const calledMs: number[] = [];
      const { queue, clock } = faulty(
        [
          () => new Promise(() => undefined),
          (samples, time) => {
            calledMs.push(time.monotonic());
            return echoAfter(1)(samples, time);
          },
        ],
        { reset },
      );
      const result = ask(queue, 1);
      await clock.advance(defaultBatchLimits.firstBatchMs + 20_000);
      expect([await result, calledMs]).toEqual([{ id: 1 }, [defaultBatchLimits.firstBatchMs + waitedMs]]);
    }
  });

  it('aborts the call that hung, and not the ones after it', async () => {
    const signals: AbortSignal[] = [];
    const { queue, clock } = faulty([
      (_samples, _clock, signal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
      (samples, time, signal) => {
        signals.push(signal);
        return echoAfter(1)(samples, time);
      },
    ]);
    const result = submit(queue, 1);
    await clock.advance(defaultBatchLimits.firstBatchMs + 1);
    expect(await result).toEqual({ id: 1 });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it('takes an error that is none of ours for a refusal, thrown or not', async () => {
    const odd = new Error('odd');
    const acts: readonly Act[] = [
      () => {
        throw odd;
      },
      () => Promise.reject(odd),
    ];
    for (const act of acts) {
      const { queue } = faulty([act]);
      const said = await queue.submit('caller', { id: 1 }).catch((error: unknown) => error);
      expect(said).toMatchObject({ code: 'node_failed', message: 'odd' });
    }
  });

  it('says what it got instead of one object per sample, and does not split for it', async () => {
    const said = async (answers: unknown): Promise<unknown> => {
      const { queue, calls, clock } = faulty([() => Promise.resolve(answers as readonly Values[])]);
      const results = ['a', 'b'].map((caller) => {
        queue.join('a');
        queue.join('b');
        return queue.submit(caller, { id: 1 }).catch((error: unknown) => error);
      });
      await clock.advance(1);
      expect(calls).toHaveLength(1);
      const [first, second] = await Promise.all(results);
      expect(second).toBe(first);
      return first;
    };
    const must = 'it must return one object per sample, in order';
    for (const [answers, got] of [
      [undefined, 'no list of answers'],
      [[{}], '1 answers'],
      [[{}, {}, {}], '3 answers'],
      [[{}, null], '2 answers'],
      [[7, {}], '2 answers'],
    ] as const)
      expect(await said(answers)).toMatchObject({
        code: 'remote_error',
        message: `node got a batch of 2 and gave ${got}; ${must}`,
      });
  });

  it('counts losses only when no answer came in between', async () => {
    const died: Answer = () => Promise.reject(new StudioError('process_died', 'gone'));
    // All three; then one by one, with an answer between two losses.
    const { queue, calls, clock } = faulty([died, echoAfter(1), died, echoAfter(1), echoAfter(1)]);
    for (const id of [1, 2, 3]) queue.join(`caller${id}`);
    const results = [1, 2, 3].map((id) => submit(queue, id));
    await clock.advance(10);
    expect(await Promise.all(results)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(calls).toEqual([[1, 2, 3], [1], [2], [2], [3]]);
  });

  it('does not count a refusal as a loss', async () => {
    const died: Answer = () => Promise.reject(new StudioError('process_died', 'gone'));
    const refused: Answer = () => Promise.reject(new StudioError('node_failed', 'a bad image'));
    const { queue, calls, clock } = faulty([refused, refused, died, echoAfter(1), echoAfter(1)]);
    for (const id of [1, 2, 3]) queue.join(`caller${id}`);
    const results = [1, 2, 3].map((id) => submit(queue, id));
    await clock.advance(10);
    expect(await Promise.all(results)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(calls).toEqual([[1, 2, 3], [1, 2], [1], [1], [2], [3]]);
  });
});

describe('a caller that leaves', () => {
  const left = new StudioError('aborted', 'its worker died');

  it('takes only its own samples out of what waits and what is under way', async () => {
    const { queue, clock, turn, calls } = bench(greedy);
    for (const id of [1, 2]) queue.join(`caller${id}`);
    const results = [submit(queue, 1), submit(queue, 2)];
    await turn();
    results.push(submit(queue, 1), submit(queue, 2));
    queue.leave('caller1', left);
    expect(queue.view()).toMatchObject({ callers: 1, waiting: 1 });
    await clock.advance(10);
    await turn();
    await clock.advance(10);
    expect(await Promise.all(results)).toEqual(['aborted', { id: 2 }, 'aborted', { id: 2 }]);
    expect(calls).toEqual([[1, 2], [2]]);
  });

  it('is not asked for again when its batch is tried once more', async () => {
    const died: Answer = () => Promise.reject(new StudioError('process_died', 'gone'));
    const { queue, calls, clock } = faulty([died, echoAfter(5), echoAfter(5)]);
    for (const id of [1, 2, 3]) queue.join(`caller${id}`);
    const results = [1, 2, 3].map((id) => submit(queue, id));
    await clock.advance(1);
    queue.leave('caller2', left);
    await clock.advance(20);
    expect(await Promise.all(results)).toEqual([{ id: 1 }, 'aborted', { id: 3 }]);
    expect(calls).toEqual([[1, 2, 3], [1], [3]]);
  });

  it('and was not there changes nothing', async () => {
    const { queue, calls, turn } = bench(rendezvous);
    for (const id of [1, 2]) queue.join(`caller${id}`);
    void submit(queue, 1);
    queue.leave('caller2', left);
    expect(calls).toEqual([[1]]);
    void submit(queue, 1);
    queue.leave('caller2', left);
    await turn();
    expect([calls.length, queue.view().waiting]).toEqual([1, 1]);
  });
});

describe('the end of a lane', () => {
  const over = new StudioError('aborted', 'over');

  it('aborts the call that is under way, and takes no answer any more', async () => {
    const signals: AbortSignal[] = [];
    const { queue, clock } = faulty([
      (samples, time, signal) => {
        signals.push(signal);
        return echoAfter(10)(samples, time);
      },
    ]);
    const result = submit(queue, 1);
    queue.close(over);
    expect(signals[0]?.reason).toBe(over);
    expect(await result).toBe('aborted');
    await clock.advance(10);
    expect(queue.view()).toMatchObject({ batches: 1, forwardMs: null, callers: 0 });
    expect([queue.isBusy, clock.pendingTimers]).toEqual([false, 0]);
  });

  it('leaves no timer and asks for no call, though callers wait', async () => {
    const { queue, clock, calls, turn } = bench(rendezvous);
    for (const id of [1, 2]) queue.join(`caller${id}`);
    const result = submit(queue, 1);
    await turn();
    expect(clock.pendingTimers).toBe(1);
    queue.close(over);
    expect([await result, clock.pendingTimers]).toEqual(['aborted', 0]);
    queue.leave('caller1', over);
    await clock.advance(1_000);
    expect([calls, queue.view()]).toMatchObject([[], { callers: 0, waiting: 0 }]);
  });

  it('may come before anything was asked, and the first reason stands', async () => {
    const { queue } = bench(greedy);
    queue.close(over);
    queue.close(new StudioError('internal', 'again'));
    await expect(queue.submit('caller', { id: 1 })).rejects.toBe(over);
  });

  it('does not try again what was under way', async () => {
    const { queue, calls, clock } = bench(greedy);
    for (const id of [1, 2]) queue.join(`caller${id}`);
    const results = [1, 2].map((id) => submit(queue, id));
    queue.close(new StudioError('process_died', 'the server went'));
    expect(await Promise.all(results)).toEqual(['process_died', 'process_died']);
    await clock.advance(100);
    expect([calls.length, queue.isBusy]).toEqual([1, false]);
  });
});

describe('the turns of a lane', () => {
  /** How often it asked to look again after the turn. */
  const counted = (policy: FlushPolicy): Bench & { asked: () => number } => {
    let asked = 0;
    const runs: (() => void)[] = [];
    const made = bench(policy, echoAfter(10), {
      defer: (run) => {
        asked++;
        runs.push(run);
      },
    });
    return {
      ...made,
      asked: () => asked,
      async turn() {
        await made.clock.advance(0);
        for (const run of runs.splice(0)) run();
      },
    };
  };

  it('are asked for once, however many samples come', async () => {
    const { queue, asked, turn, calls } = counted(greedy);
    for (const id of [1, 2, 3]) queue.join(`caller${id}`);
    void submit(queue, 1);
    void submit(queue, 2);
    expect(asked()).toBe(1);
    await turn();
    expect(calls).toEqual([[1, 2]]);
    void submit(queue, 3);
    expect(asked()).toBe(2);
  });

  it('are asked for after a batch only when somebody waits', async () => {
    const { queue, asked, clock, turn, calls } = counted(greedy);
    void submit(queue, 1);
    await clock.advance(10);
    expect([asked(), calls]).toEqual([0, [[1]]]);
    void submit(queue, 1);
    void submit(queue, 2);
    void submit(queue, 3);
    await turn();
    const before = asked();
    await clock.advance(10);
    expect(asked()).toBe(before + 1);
    await turn();
    expect(calls).toEqual([[1], [1], [2, 3]]);
  });

  it('end a rendezvous at four times the time-out, and its timer with it', async () => {
    const { queue, calls, clock, turn } = bench(rendezvous, () => new Promise(() => undefined));
    for (let id = 0; id < 9; id++) queue.join(`caller${id}`);
    for (let id = 0; id < 7; id++) {
      void submit(queue, id);
      await turn();
      await clock.advance(id < 6 ? 30 : 19);
    }
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toEqual([[0, 1, 2, 3, 4, 5, 6]]);
    // Only that of the call.
    expect(clock.pendingTimers).toBe(1);
  });

  it('stop the timer of a rendezvous that became complete', async () => {
    const { queue, calls, clock, turn } = bench(rendezvous);
    for (const id of [1, 2]) queue.join(`caller${id}`);
    void submit(queue, 1);
    await turn();
    expect(clock.pendingTimers).toBe(1);
    void submit(queue, 2);
    // The call's and the backend's.
    expect([calls, clock.pendingTimers]).toEqual([[[1, 2]], 2]);
    await clock.advance(10);
    // What comes next has its own.
    void submit(queue, 1);
    await turn();
    await clock.advance(49);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(calls).toEqual([[1, 2], [1]]);
  });

  it('take no more into a batch than it may hold', async () => {
    const { queue, calls, clock, turn } = bench({ ...greedy, maxBatch: 2 });
    for (let id = 0; id < 5; id++) queue.join(`caller${id}`);
    for (let id = 0; id < 5; id++) void submit(queue, id);
    for (let count = 0; count < 3; count++) {
      await turn();
      await clock.advance(10);
    }
    expect(calls).toEqual([[0, 1], [2, 3], [4]]);
  });

  it('count the wait from the arrival', async () => {
    const { queue, clock, turn } = bench(greedy);
    await clock.advance(1_000);
    void submit(queue, 1);
    void submit(queue, 2);
    await clock.advance(10);
    await turn();
    expect(queue.view().waitMs).toEqual({ median: 0, p95: 10 });
  });
});
