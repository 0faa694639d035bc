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

const submit = (queue: BatchQueue, id: number): Promise<Values | string> =>
  queue
    .submit(`caller${id}`, { id })
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
