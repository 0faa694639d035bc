// What a worker slot sees of its pool.
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { EvalConfig } from '../contract/eval-config.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import type { EpisodeQueue } from './episode-queue.ts';
import type { EpisodeLimits } from './lease.ts';
import type { AttemptJournal, EpisodeRunner, ReplicaSource, RunListener } from './ports.ts';
import type { RecycleOptions } from './recycling.ts';
import type { SuspendWatch } from './suspend-watch.ts';

export interface PoolCounters {
  /** Verdicts that came after their lease was concluded, and were dropped. */
  lateAnswers: number;
  /** Replica sets started in place of another one. */
  replacements: number;
  /** Attempts begun anew because another environment ended the process they shared. */
  displaced: number;
}

export interface SlotContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly watch: SuspendWatch;
  readonly source: ReplicaSource;
  readonly runner: EpisodeRunner;
  readonly journal: AttemptJournal;
  readonly queue: EpisodeQueue;
  readonly limits: EpisodeLimits;
  readonly retry: EvalConfig['retry'];
  /** Deaths in a row without a finished episode that bring a slot down. */
  readonly crashBudget: number;
  readonly recycle: RecycleOptions;
  readonly closeMs: number;
  readonly listener: RunListener;
  readonly counters: PoolCounters;
  /** Aborted by stop and cancel: nothing new is started. */
  readonly stopSignal: AbortSignal;
  readonly isCancelled: () => boolean;
  /** Drains the pool; the first reason stands. */
  readonly pause: (reason: string) => void;
  /** The row as it is kept: with what it used, and without secrets. */
  readonly annotate: (row: EpisodeAttempt) => EpisodeAttempt;
  /** After the row is durable. */
  readonly onRow: (row: EpisodeAttempt) => void;
  readonly onSlotDown: (worker: number, reason: string) => void;
}
