// N workers over one queue. Replicas start in parallel and all are ended when one fails; a result is durable before
// its worker goes on; `stop` drains, `cancel` ends at once, and what is not finished stays missing.
import type { Clock } from '../base/clock.ts';
import { throwIfAborted } from '../base/abort.ts';
import { toStudioError } from '../base/errors.ts';
import { silentLogger, type Logger } from '../base/logger.ts';
import type { EvalConfig } from '../contract/eval-config.ts';
import type { EpisodeAttempt, PlannedEpisode, WorkerView } from '../contract/run.ts';
import type { ReplicaSet } from '../nodeset/ports.ts';
import { createEpisodeQueue, type Affinity } from './episode-queue.ts';
import type { EpisodeLimits } from './lease.ts';
import type { PoolCounters, SlotContext } from './pool-context.ts';
import type { AttemptJournal, EpisodeRunner, ReplicaSource, RunListener } from './ports.ts';
import { neverRecycle, type RecycleOptions } from './recycling.ts';
import { killReplicas, startReplicas } from './replica-life.ts';
import { SuspendWatch } from './suspend-watch.ts';
import { WorkerSlot } from './worker-slot.ts';

export interface PoolOptions {
  readonly workerCount: number;
  /** Planned episodes without a final row, in plan order. */
  readonly episodes: readonly PlannedEpisode[];
  readonly source: ReplicaSource;
  readonly runner: EpisodeRunner;
  readonly journal: AttemptJournal;
  readonly limits: EpisodeLimits;
  readonly retry: EvalConfig['retry'];
  readonly clock: Clock;
  readonly affinity?: Affinity;
  /** Final rows without a verdict that stop the pool: a number (>= 1) or a share of `episodes` (< 1). */
  readonly failOn?: number | undefined;
  readonly crashBudget?: number;
  readonly recycle?: RecycleOptions;
  readonly closeMs?: number;
  readonly annotate?: ((row: EpisodeAttempt) => EpisodeAttempt) | undefined;
  readonly listener?: RunListener;
  readonly logger?: Logger;
}

export type PoolEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'paused'; readonly reason: string }
  | { readonly kind: 'cancelled' };

type PoolState =
  | { readonly kind: 'running' }
  | { readonly kind: 'draining'; readonly reason: string }
  | { readonly kind: 'cancelled' };

export class EnvWorkerPool implements Disposable {
  readonly counters: PoolCounters = { lateAnswers: 0, replacements: 0, displaced: 0 };
  readonly #options: PoolOptions;
  readonly #context: SlotContext;
  readonly #slots: readonly WorkerSlot[];
  readonly #watch: SuspendWatch;
  readonly #stop = new AbortController();
  #state: PoolState = { kind: 'running' };
  #finals = 0;
  #failures = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#watch = new SuspendWatch(options.clock);
    this.#context = this.#createContext(options);
    this.#slots = Array.from(
      { length: options.workerCount },
      (_item, index) => new WorkerSlot(index, this.#context),
    );
    const { listener } = this.#context;
    this.#watch.onTick(() => listener.onWorkers?.(this.workers()));
  }

  /** Starts all replicas in parallel. On the first failure all are ended and its error is thrown. */
  async start(): Promise<void> {
    const { source, workerCount } = this.#options;
    const failed = new AbortController();
    const signal = AbortSignal.any([failed.signal, this.#stop.signal]);
    const starts = Array.from({ length: workerCount }, async (_item, slot) => {
      try {
        return await startReplicas(source, slot, signal, this.#context);
      } catch (error) {
        failed.abort(toStudioError(error, 'nodeset_failed'));
        throw error;
      }
    });
    const results = await Promise.allSettled(starts);
    const started = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    if (started.length === workerCount && !signal.aborted) {
      for (const [slot, replicas] of started.entries()) this.#slots[slot]?.adopt(replicas);
      return;
    }
    await this.#rollBack(started);
    throwIfAborted(signal);
  }

  /** Resolves when every worker has ended and its replicas are gone. Never rejects. */
  async run(): Promise<PoolEnd> {
    await Promise.all(this.#slots.map((slot) => slot.run()));
    const { listener } = this.#context;
    listener.onWorkers?.(this.workers());
    if (this.#finals === this.#options.episodes.length) return { kind: 'finished' };
    if (this.#state.kind === 'cancelled') return { kind: 'cancelled' };
    if (this.#state.kind === 'draining') return { kind: 'paused', reason: this.#state.reason };
    const reasons = this.#slots.map((slot) => slot.downReason).filter((reason) => reason !== null);
    return { kind: 'paused', reason: `every worker is down: ${reasons.at(-1) ?? 'unknown'}` };
  }

  /** Episodes in flight finish, no new one starts. */
  stop(reason: string): void {
    if (this.#state.kind !== 'running') return;
    this.#state = { kind: 'draining', reason };
    this.#context.queue.close();
    this.#stop.abort();
  }

  /** Episodes in flight end now and stay missing. */
  cancel(): void {
    if (this.#state.kind === 'cancelled') return;
    this.#state = { kind: 'cancelled' };
    this.#context.queue.close();
    this.#stop.abort();
    for (const slot of this.#slots) slot.cancel();
  }

  workers(): WorkerView[] {
    return this.#slots.map((slot) => slot.view());
  }

  [Symbol.dispose](): void {
    this.cancel();
    this.#watch[Symbol.dispose]();
  }

  #createContext(options: PoolOptions): SlotContext {
    const listener = options.listener ?? {};
    return {
      ...options,
      watch: this.#watch,
      queue: createEpisodeQueue(options.episodes, options.affinity),
      logger: options.logger ?? silentLogger,
      crashBudget: options.crashBudget ?? 3,
      recycle: options.recycle ?? neverRecycle,
      closeMs: options.closeMs ?? 10_000,
      listener,
      counters: this.counters,
      stopSignal: this.#stop.signal,
      isCancelled: () => this.#state.kind === 'cancelled',
      pause: (reason) => this.stop(reason),
      annotate: options.annotate ?? ((row) => row),
      onRow: (row) => this.#onRow(row),
      onSlotDown: (worker, reason) => listener.onSlotDown?.(worker, reason),
    };
  }

  #onRow(row: EpisodeAttempt): void {
    const { listener } = this.#context;
    if (row.final) this.#finals++;
    listener.onAttempt?.(row);
    if (!row.final || row.status === 'completed') return;
    this.#failures++;
    const { failOn, episodes } = this.#options;
    if (failOn === undefined) return;
    const limit = failOn >= 1 ? failOn : failOn * episodes.length;
    if (this.#failures >= limit)
      this.stop(`${this.#failures} episodes ended without a verdict (failOn ${failOn})`);
  }

  async #rollBack(started: readonly ReplicaSet[]): Promise<void> {
    await Promise.all(started.map((replicas) => killReplicas(replicas, this.#context)));
  }
}
