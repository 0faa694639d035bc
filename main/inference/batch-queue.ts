// Hot path (.ci/bench/inference.ts). The lane of one key: samples wait, become batches, and every one of them settles exactly
// once with its own answer, whatever the backend does. One batch is under way at a time.
import { withDeadline } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { StudioError, toStudioError } from '../base/errors.ts';
import type { BatchView } from '../contract/run.ts';
import { BatchStatistics } from './batch-statistics.ts';
import { decideFailure, isBackendLoss } from './failure-rule.ts';
import { decideFlush, isEverybodyThere, type FlushPolicy } from './flush-rule.ts';

export type Values = Readonly<Record<string, unknown>>;

/** The backend as a lane sees it: its node type and config are given already. */
export interface LaneBackend {
  call(samples: readonly Values[], signal: AbortSignal): Promise<readonly Values[]>;
  /** Kills what hangs. */
  reset(): Promise<void>;
}

export interface BatchLimits {
  /** One call of the backend. */
  readonly batchMs: number;
  /** Until the backend has answered once since its start or reset: it may have to load. */
  readonly firstBatchMs: number;
  /** How long a reset is waited for before the next call. */
  readonly resetMs: number;
  /** More samples than this do not wait; the call is refused. */
  readonly maxWaiting: number;
}

export const defaultBatchLimits: BatchLimits = {
  batchMs: 120_000,
  firstBatchMs: 1_800_000,
  resetMs: 10_000,
  maxWaiting: 4_096,
};

export interface BatchQueueOptions {
  /** Of the node, for messages. */
  readonly name: string;
  readonly backend: LaneBackend;
  readonly policy: FlushPolicy;
  readonly limits: BatchLimits;
  readonly clock: Clock;
  /** Runs after what is ready now: callers that go on in this turn are then in the same batch. */
  readonly defer: (run: () => void) => void;
}

interface Submission {
  readonly caller: string;
  readonly sample: Values;
  readonly arrivalMs: number;
  readonly resolve: (answer: Values) => void;
  readonly reject: (error: StudioError) => void;
  /** Its promise is rejected; it is in no further call. */
  hasFailed: boolean;
}

type CallOutcome =
  | { readonly answers: readonly Values[] }
  | { readonly error: StudioError; readonly isMismatch?: true; readonly isHung?: true };

export class BatchQueue {
  readonly #options: BatchQueueOptions;
  readonly #statistics = new BatchStatistics();
  readonly #live = new Set<string>();
  #waiting: Submission[] = [];
  #underWay: readonly Submission[] = [];
  #isBusy = false;
  #isDeferred = false;
  #isWarm = false;
  #timer: Disposable | undefined;
  /** One signal for many calls: a new one per batch costs more than the batch's bookkeeping. */
  #abort = new AbortController();
  #failCall: ((error: StudioError) => void) | undefined;
  #closedBecause: StudioError | undefined;

  constructor(options: BatchQueueOptions) {
    this.#options = options;
  }

  /** The caller may bring samples from now on; a rendezvous waits for it. */
  join(caller: string): void {
    this.#live.add(caller);
  }

  /** The caller is gone: what it asked for fails with the reason, and nobody waits for it any more. */
  leave(caller: string, reason: StudioError): void {
    if (!this.#live.delete(caller)) return;
    const isItsOwn = (submission: Submission): boolean => submission.caller === caller;
    for (const submission of [...this.#waiting, ...this.#underWay])
      if (isItsOwn(submission)) fail(submission, reason);
    this.#waiting = this.#waiting.filter((submission) => !isItsOwn(submission));
    this.#look();
  }

  /** The sample's own answer. Rejects with the backend's error, the reason its caller left, or that of the closing. */
  submit(caller: string, sample: Values): Promise<Values> {
    return new Promise((resolve, reject) => {
      const { limits, name, clock } = this.#options;
      if (this.#closedBecause) return reject(this.#closedBecause);
      this.#live.add(caller);
      if (this.#waiting.length >= limits.maxWaiting)
        return reject(
          new StudioError(
            'node_failed',
            `${limits.maxWaiting} calls wait for ${name} already; use fewer workers or a faster model`,
          ),
        );
      const arrivalMs = clock.monotonic();
      this.#waiting.push({ caller, sample, arrivalMs, resolve, reject, hasFailed: false });
      this.#lookAfterArrival();
    });
  }

  /** Everything that waits or is under way fails with the reason, at once. */
  close(reason: StudioError): void {
    if (this.#closedBecause) return;
    this.#closedBecause = reason;
    this.#timer?.[Symbol.dispose]();
    const open = [...this.#waiting, ...this.#underWay];
    this.#waiting = [];
    this.#live.clear();
    for (const submission of open) fail(submission, reason);
    this.#failCall?.(reason);
    this.#abort.abort(reason);
  }

  /** A batch is under way, its retries and the backend's reset included. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  view(): Omit<BatchView, 'nodePath' | 'key'> {
    return {
      callers: this.#live.size,
      waiting: this.#waiting.length,
      ...this.#statistics.view(this.#options.clock.monotonic()),
    };
  }

  /** At once when nobody can join; else after the callers that are ready in this turn. */
  #lookAfterArrival(): void {
    const size = this.#waiting.length;
    if (isEverybodyThere({ size, liveCallers: this.#live.size }, this.#options.policy)) this.#look();
    else this.#lookLater();
  }

  #lookLater(): void {
    if (this.#isDeferred) return;
    this.#isDeferred = true;
    this.#options.defer(() => {
      this.#isDeferred = false;
      this.#look();
    });
  }

  #look(): void {
    const [first] = this.#waiting;
    if (!first) return;
    const last = this.#waiting.at(-1) ?? first;
    const { clock, policy } = this.#options;
    const nowMs = clock.monotonic();
    const decision = decideFlush(
      {
        nowMs,
        firstArrivalMs: first.arrivalMs,
        lastArrivalMs: last.arrivalMs,
        size: this.#waiting.length,
        liveCallers: this.#live.size,
        isBackendIdle: !this.#isBusy,
      },
      policy,
    );
    if (decision.kind === 'flush') return this.#flush(decision.size, nowMs);
    if (decision.untilMs === null || this.#timer) return;
    this.#timer = clock.after(decision.untilMs - nowMs, () => {
      this.#timer = undefined;
      this.#look();
    });
  }

  #flush(size: number, nowMs: number): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    const batch = this.#waiting.splice(0, size);
    for (const { arrivalMs } of batch) this.#statistics.waited(nowMs - arrivalMs);
    this.#isBusy = true;
    void this.#serve(batch);
  }

  /** Never rejects; when it resolves, everything in the batch is settled. */
  async #serve(batch: readonly Submission[]): Promise<void> {
    const parts: (readonly Submission[])[] = [batch];
    let lossesInARow = 0;
    for (let next = parts.shift(); next; next = parts.shift()) {
      const part = next.filter((submission) => !submission.hasFailed);
      if (part.length === 0) continue;
      this.#underWay = [...part, ...parts.flat()];
      const outcome = await this.#call(part);
      if ('answers' in outcome) {
        lossesInARow = 0;
        answer(part, outcome.answers);
        continue;
      }
      const { error, isMismatch = false, isHung = false } = outcome;
      if (isHung) await this.#reset();
      if (isBackendLoss(error)) {
        lossesInARow++;
        // Its replacement has to load first.
        this.#isWarm = false;
      }
      const decision = decideFailure({ batch: part, error, lossesInARow, isMismatch });
      if (decision.kind === 'retry') parts.unshift(...decision.parts);
      else for (const submission of part) fail(submission, error);
      if (decision.kind === 'reject_all')
        for (const submission of parts.splice(0).flat()) fail(submission, error);
    }
    this.#underWay = [];
    this.#isBusy = false;
    if (this.#waiting.length > 0) this.#lookLater();
  }

  /** One call with its deadline; what comes after it is dropped. Never rejects. */
  #call(part: readonly Submission[]): Promise<CallOutcome> {
    const { clock, limits, name } = this.#options;
    const startMs = clock.monotonic();
    const timeoutMs = this.#isWarm ? limits.batchMs : limits.firstBatchMs;
    this.#statistics.batch(part.length);
    return new Promise((resolve) => {
      let isOver = false;
      const end = (outcome: CallOutcome): void => {
        isOver = true;
        deadline[Symbol.dispose]();
        resolve(outcome);
      };
      const failed = (error: StudioError): void => end({ error });
      const deadline = clock.after(timeoutMs, () => {
        const late = new StudioError(
          'timeout',
          `${name} did not answer a batch within ${timeoutMs / 1000} s`,
        );
        end({ error: late, isHung: true });
        this.#abort.abort(late);
        this.#abort = new AbortController();
      });
      this.#failCall = failed;
      const answered = (answers: readonly Values[]): void => {
        if (isOver) return;
        const mismatch = mismatchOf(name, part.length, answers);
        if (mismatch) return end({ error: mismatch, isMismatch: true });
        this.#isWarm = true;
        const nowMs = clock.monotonic();
        this.#statistics.answered(part.length, { nowMs, forwardMs: nowMs - startMs });
        end({ answers });
      };
      this.#ask(part).then(answered, (thrown: unknown) => failed(toStudioError(thrown, 'node_failed')));
    });
  }

  /** A backend that throws instead of rejecting is taken at its word. */
  #ask(part: readonly Submission[]): Promise<readonly Values[]> {
    const samples = part.map((submission) => submission.sample);
    try {
      return this.#options.backend.call(samples, this.#abort.signal);
    } catch (thrown) {
      return Promise.reject(toStudioError(thrown, 'node_failed'));
    }
  }

  /** A reset that fails or hangs itself is not waited for: the next call then meets its own deadline. */
  async #reset(): Promise<void> {
    const { clock, limits, backend, name } = this.#options;
    const resetting = Promise.try(() => backend.reset());
    const deadline = { clock, timeoutMs: limits.resetMs, what: `the reset of ${name}` };
    await withDeadline(resetting, deadline).catch(() => undefined);
  }
}

function answer(part: readonly Submission[], answers: readonly Values[]): void {
  for (const [index, submission] of part.entries()) {
    const own = answers[index];
    if (own) submission.resolve(own);
  }
}

function fail(submission: Submission, error: StudioError): void {
  submission.hasFailed = true;
  submission.reject(error);
}

/** Undefined when there is one object per sample. */
function mismatchOf(name: string, expected: number, answers: unknown): StudioError | undefined {
  const isFit =
    Array.isArray(answers) &&
    answers.length === expected &&
    answers.every((each) => typeof each === 'object' && each !== null);
  if (isFit) return undefined;
  const got = Array.isArray(answers) ? `${answers.length} answers` : 'no list of answers';
  return new StudioError(
    'remote_error',
    `${name} got a batch of ${expected} and gave ${got}; it must return one object per sample, in order`,
  );
}
