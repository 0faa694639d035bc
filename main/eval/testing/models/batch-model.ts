// The real batch queue with three callers: every order of arrivals, answers, refusals, deaths, hangs, leavings, deferred
// looks and the closing.
import { StudioError } from '../../../base/errors.ts';
import { BatchQueue, type Values } from '../../../inference/batch-queue.ts';
import type { FlushPolicy } from '../../../inference/flush-rule.ts';
import type { Choice, Model } from './explore.ts';
import { ChoiceClock, OpenCalls } from './ports.ts';

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
  /** What became of the calls since the backend was last idle: it decides how failures are taken. */
  #since = '';
  #isWarm = false;
  #faultsLeft: number;
  #underWay: readonly number[] = [];
  #needsReset = false;
  #isClosed = false;

  constructor(options: BatchModelOptions) {
    this.#options = options;
    this.#faultsLeft = options.faults;
    this.#callers = Array.from({ length: options.callers }, (_item, at) => ({
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

  fingerprint(): string {
    const { waiting, callers } = this.#queue.view();
    return JSON.stringify([
      this.#callers.map(({ submitted, isWaiting, isGone }) => [submitted, isWaiting, isGone]),
      waiting,
      callers,
      [...this.#order],
      this.#calls.labels(),
      this.#clock.fingerprint(),
      this.#deferred.length,
      this.#queue.isBusy,
      this.#since,
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

  /** Ids that wait, in the order of their arrival. */
  readonly #order = new Set<number>();

  #submit(caller: Caller, at: number): void {
    const id = 10 * at + caller.submitted++;
    caller.isWaiting = true;
    this.#order.add(id);
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
    for (const id of ids) this.#order.delete(id);
    this.#underWay = ids;
    return new Promise((resolve, reject) => {
      const over = (what: string): void => {
        call[Symbol.dispose]();
        this.#underWay = [];
        this.#isWarm = what === 'ok' || (this.#isWarm && what !== 'dies' && what !== 'hangs');
        this.#since = this.#queue.isBusy ? `${this.#since} ${ids.join('+')} ${what}` : '';
        queueMicrotask(() => this.#forgetIfIdle());
      };
      const isPossible = (): boolean => this.#faultsLeft > 0;
      const fault = (what: string, act: () => void) => ({
        name: ` ${what}`,
        isPossible,
        act: () => (this.#faultsLeft--, over(what), act()),
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
  #forgetIfIdle(): void {
    setImmediate(() => {
      if (!this.#queue.isBusy) this.#since = '';
    });
  }

  #reset(): Promise<void> {
    this.#needsReset = false;
    return this.#calls.call('reset', () => undefined);
  }
}
