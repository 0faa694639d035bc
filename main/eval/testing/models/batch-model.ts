// The real batch queue with three callers: every order of arrivals, answers, refusals, deaths, hangs, leavings, deferred
// looks and the closing. States that differ only in which of several like callers did what are one.
import { StudioError } from '../../../base/errors.ts';
import { BatchQueue, type Values } from '../../../inference/batch-queue.ts';
import type { FlushPolicy } from '../../../inference/flush-rule.ts';
import { BatchShadow, type CallEnd } from './batch-shadow.ts';
import type { Choice, Model } from './explore.ts';
import { ChoiceClock, OpenCalls } from './ports.ts';
import { renamings } from './renamings.ts';

export interface BatchModelOptions {
  readonly policy: FlushPolicy;
  readonly callers: number;
  /** Samples each caller brings, one after the other. */
  readonly samples: number;
  /** Deaths, misfits and hangs, in all. */
  readonly faults: number;
  readonly canLeave: boolean;
  readonly canClose: boolean;
}

interface Caller {
  readonly at: number;
  readonly name: string;
  submitted: number;
  isWaiting: boolean;
  isGone: boolean;
}

const limits = { batchMs: 1000, firstBatchMs: 3000, resetMs: 100, maxWaiting: 2 };

export class BatchModel implements Model {
  readonly #options: BatchModelOptions;
  readonly #calls = new OpenCalls();
  readonly #clock = new ChoiceClock();
  readonly #queue: BatchQueue;
  readonly #callers: Caller[];
  readonly #deferred: (() => void)[] = [];
  readonly #wrong: string[] = [];
  readonly #settled = new Map<number, number>();
  readonly #shadow = new BatchShadow();
  readonly #renamings: readonly (readonly number[])[];
  #isWarm = false;
  #faultsLeft: number;
  #underWay: readonly number[] = [];
  #needsReset = false;
  #isClosed = false;

  constructor(options: BatchModelOptions) {
    this.#options = options;
    this.#faultsLeft = options.faults;
    // The one that may leave is not like the others.
    this.#renamings = renamings(options.callers, options.canLeave ? 1 : 0);
    this.#callers = Array.from({ length: options.callers }, (_item, at) => ({
      at,
      name: `c${at}`,
      submitted: 0,
      isWaiting: false,
      isGone: false,
    }));
    this.#queue = new BatchQueue({
      name: 'policy',
      policy: options.policy,
      limits,
      clock: this.#clock,
      defer: (run) => void this.#deferred.push(run),
      backend: { call: (samples, signal) => this.#call(samples, signal), reset: () => this.#reset() },
    });
    for (const { name } of this.#callers) this.#queue.join(name);
  }

  choices(): Choice[] {
    const submits = this.#callers.flatMap((caller, at) =>
      caller.isWaiting || caller.isGone || this.#isClosed || caller.submitted >= this.#options.samples
        ? []
        : [{ label: `submit ${caller.name}`, take: () => this.#submit(caller, at) }],
    );
    const leaves = this.#callers.flatMap((caller, at) =>
      this.#options.canLeave && at === 0 && !caller.isGone && !this.#isClosed
        ? [{ label: `leave ${caller.name}`, take: () => this.#leave(caller) }]
        : [],
    );
    const deferred = this.#deferred[0];
    return [
      ...submits,
      ...leaves,
      ...(deferred ? [{ label: 'deferred', take: () => (this.#deferred.shift(), deferred()) }] : []),
      ...this.#calls.choices(),
      ...this.#clock.choices(),
      ...(this.#options.canClose && !this.#isClosed ? [{ label: 'close', take: () => this.#close() }] : []),
    ];
  }

  /** The least of those under all renamings of callers that are alike. */
  fingerprint(): string {
    let least: string | undefined;
    for (const renaming of this.#renamings) {
      const named = this.#fingerprintAs(renaming);
      if (least === undefined || named < least) least = named;
    }
    return least ?? '';
  }

  #fingerprintAs(renaming: readonly number[]): string {
    const { waiting, callers } = this.#queue.view();
    const rename = (id: number): number => 10 * (renaming[Math.floor(id / 10)] ?? 0) + (id % 10);
    const nowMs = this.#clock.monotonic();
    const { flushTimeoutMs } = this.#options.policy;
    return JSON.stringify([
      this.#callers
        .map(({ at, submitted, isWaiting, isGone }) => [renaming[at], submitted, isWaiting, isGone])
        .sort((one, other) => Number(one[0]) - Number(other[0])),
      waiting,
      callers,
      // An arrival that is older than every deadline of the flush is as old as any other.
      [...this.#order].map(([id, sinceMs]) => [rename(id), Math.min(nowMs - sinceMs, 4 * flushTimeoutMs)]),
      this.#underWay.map(rename),
      this.#calls.labels().replaceAll(/\d+/g, (id) => String(rename(Number(id)))),
      this.#clock.fingerprint(),
      this.#deferred.length,
      this.#queue.isBusy,
      this.#shadow.parts.map((part) => part.map(rename)),
      this.#shadow.losses,
      this.#isWarm,
      this.#faultsLeft,
      this.#needsReset,
      this.#isClosed,
    ]);
  }

  violations(isEnd: boolean): string[] {
    const wrong = [...this.#wrong];
    const { waiting, callers } = this.#queue.view();
    const { policy } = this.#options;
    if (waiting > limits.maxWaiting) wrong.push(`${waiting} wait`);
    if (this.#isClosed && this.#callers.some(({ isWaiting }) => isWaiting))
      wrong.push('somebody waits after the closing');
    if (this.#callers.some(({ isGone, isWaiting }) => isGone && isWaiting))
      wrong.push('somebody who left still waits');
    const isAtRest = waiting > 0 && !this.#queue.isBusy && this.#deferred.length === 0;
    if (isAtRest && policy.flushPolicy === 'greedy') wrong.push(`${waiting} wait for an idle backend`);
    if (isAtRest && waiting >= Math.min(policy.maxBatch, callers))
      wrong.push('everybody is there, and nothing happens');
    if (isEnd && this.#callers.some(({ isWaiting }) => isWaiting)) wrong.push('somebody waits for ever');
    if (isEnd && this.#clock.pending > 0) wrong.push('timers are left');
    return wrong;
  }

  /** Ids that wait, in the order of their arrival, and since when. */
  readonly #order = new Map<number, number>();

  #submit(caller: Caller, at: number): void {
    const id = 10 * at + caller.submitted++;
    caller.isWaiting = true;
    this.#order.set(id, this.#clock.monotonic());
    const settle = (): void => {
      this.#order.delete(id);
      const times = (this.#settled.get(id) ?? 0) + 1;
      this.#settled.set(id, times);
      if (times > 1) this.#wrong.push(`${id} settled ${times} times`);
      caller.isWaiting = false;
    };
    this.#queue.submit(caller.name, { id }).then((answer) => {
      settle();
      if (answer['id'] !== id) this.#wrong.push(`${id} got the answer of ${String(answer['id'])}`);
      if (caller.isGone) this.#wrong.push(`${id} was answered after its caller had left`);
    }, settle);
  }

  #leave(caller: Caller): void {
    caller.isGone = true;
    this.#queue.leave(caller.name, new StudioError('aborted', 'left'));
  }

  #close(): void {
    this.#isClosed = true;
    this.#queue.close(new StudioError('aborted', 'over'));
  }

  #call(samples: readonly Values[], signal: AbortSignal): Promise<readonly Values[]> {
    const ids = samples.map(({ id }) => Number(id));
    if (this.#underWay.length > 0) this.#wrong.push('two batches at once');
    if (this.#needsReset) this.#wrong.push('a call before the reset');
    if (this.#isClosed) this.#wrong.push('a call after the closing');
    if (ids.length > this.#options.policy.maxBatch) this.#wrong.push(`a batch of ${ids.length}`);
    for (const id of ids)
      if (this.#settled.has(id)) this.#wrong.push(`${id} is in a batch after it had settled`);
    const expected = this.#shadow.next(ids, (id) => this.#settled.has(id));
    if (expected !== ids.join()) this.#wrong.push(`a call of ${ids.join()}, where ${expected} was due`);
    for (const id of ids) this.#order.delete(id);
    this.#underWay = ids;
    return new Promise((resolve, reject) => {
      const over = (end: CallEnd): void => {
        call[Symbol.dispose]();
        this.#underWay = [];
        this.#isWarm = end === 'ok' || (this.#isWarm && end !== 'dies' && end !== 'hangs');
        this.#shadow.ended(end);
        this.#forgetOnceIdle();
      };
      const isPossible = (): boolean => this.#faultsLeft > 0;
      const fault = (end: CallEnd, act: () => void) => ({
        name: ` ${end}`,
        isPossible,
        act: () => (this.#faultsLeft--, over(end), act()),
      });
      const call = this.#calls.open(`call ${ids.join('+')}`, [
        { name: ' ok', act: () => (over('ok'), resolve(ids.map((id) => ({ id })))) },
        fault('refuses', () => reject(new StudioError('node_failed', 'a bad sample'))),
        fault('dies', () => reject(new StudioError('process_died', 'killed'))),
        fault('misfits', () => resolve([{}, {}, {}, {}])),
      ]);
      signal.addEventListener('abort', () => {
        if (this.#underWay !== ids) return;
        this.#needsReset = !this.#isClosed;
        over('hangs');
        // Its answer comes late; it must be dropped.
        resolve(ids.map(() => ({ id: 'late' })));
      });
    });
  }

  /** Once the backend is idle, what was before decides nothing any more. */
  #forgetOnceIdle(): void {
    setImmediate(() => {
      if (!this.#queue.isBusy) this.#shadow.forget();
    });
  }

  #reset(): Promise<void> {
    this.#needsReset = false;
    return this.#calls.call('reset', () => undefined);
  }
}
