// Turns what a running batch tells into the events of the contract, and answers for its state at any time.
import type { Clock } from '../base/clock.ts';
import type { LiveRun } from '../contract/requests.ts';
import type { EpisodeAttempt, EpisodeOutcome, PlannedEpisode, RunStatus } from '../contract/run.ts';
import type { LoadStage } from '../nodeset/ports.ts';
import type { BatchEvalRunner } from './batch-eval-runner.ts';
import { attemptedRow, runningRow } from './live-rows.ts';
import type { EventSink, RunListener } from './ports.ts';
import { runListItemOf } from './run-list-item.ts';
import { runRate } from './run-rate.ts';

const recentEpisodes = 64;

export interface LiveRunFeedOptions {
  readonly clock: Clock;
  readonly events: EventSink;
  /** Number of the last event sent. */
  readonly sequence: () => number;
}

export class LiveRunFeed implements RunListener {
  readonly #options: LiveRunFeedOptions;
  readonly #startedMs: number;
  readonly #firstStatus = new Map<number, EpisodeOutcome>();
  readonly #recentDurationsMs: number[] = [];
  #batch: BatchEvalRunner | null = null;
  #finished = 0;
  #shownStatus: RunStatus | null = null;

  constructor(options: LiveRunFeedOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonic();
  }

  /** The batch this feed listens to. */
  attach(batch: BatchEvalRunner): void {
    this.#batch = batch;
  }

  onStage({ instance, stage, elapsedMs }: LoadStage): void {
    this.#publishStage(`${instance}: ${stage}`, elapsedMs);
  }

  onEpisodeStarted(worker: number, episode: PlannedEpisode, attempt: number): void {
    const { clock } = this.#options;
    this.#withBatch((batch) =>
      this.#options.events.publish('run.episodes', {
        runId: batch.handle.record.runId,
        rows: [runningRow(episode, worker, attempt, clock.now())],
      }),
    );
  }

  onAttempt(attempt: EpisodeAttempt): void {
    const firstStatus = this.#firstStatus.get(attempt.ordinal) ?? attempt.status;
    if (attempt.final) {
      this.#finished++;
      this.#firstStatus.delete(attempt.ordinal);
      this.#recentDurationsMs.push(attempt.durationMs);
      if (this.#recentDurationsMs.length > recentEpisodes) this.#recentDurationsMs.shift();
    } else {
      this.#firstStatus.set(attempt.ordinal, firstStatus);
    }
    this.#withBatch((batch) =>
      this.#options.events.publish('run.episodes', {
        runId: batch.handle.record.runId,
        rows: [attemptedRow(attempt, firstStatus)],
      }),
    );
  }

  onWorkers(): void {
    this.publish();
  }

  onState(): void {
    this.publish();
  }

  onSlotDown(worker: number, reason: string): void {
    this.#withBatch((batch) =>
      this.#options.events.publish('notice', {
        level: 'warning',
        message: `Worker ${worker} is down: ${reason}. The run goes on with the others.`,
        runId: batch.handle.record.runId,
      }),
    );
  }

  /** The state of now; the line of History too when the status changed. */
  publish(): void {
    this.#withBatch((batch) => {
      const { events } = this.#options;
      const { record } = batch.handle;
      events.publish('run.live', { runId: record.runId, live: this.snapshot(batch) });
      const { status } = batch.snapshot();
      if (status === this.#shownStatus) return;
      this.#shownStatus = status;
      events.publish('run.changed', {
        runId: record.runId,
        item: runListItemOf({ ...record, status }, batch.summary()),
      });
    });
  }

  snapshot(batch: BatchEvalRunner): LiveRun {
    const { clock, sequence } = this.#options;
    const { status, stage, workers, poolStartedMs, batching } = batch.snapshot();
    const { record } = batch.handle;
    const summary = batch.summary();
    const nowMs = clock.monotonic();
    return {
      runId: record.runId,
      sequence: sequence(),
      status,
      stage,
      elapsedMs: record.activeMs + nowMs - this.#startedMs,
      ...runRate({
        finished: this.#finished,
        remaining: summary.counts.notRun,
        elapsedMs: poolStartedMs === null ? 0 : nowMs - poolStartedMs,
        workers: workers.length,
        recentDurationsMs: this.#recentDurationsMs,
      }),
      workers: [...workers],
      ...(batching && { batching: [...batching] }),
      summary,
    };
  }

  #publishStage(stage: string, elapsedMs: number): void {
    this.#withBatch((batch) =>
      this.#options.events.publish('run.stage', { runId: batch.handle.record.runId, stage, elapsedMs }),
    );
    this.publish();
  }

  #withBatch(act: (batch: BatchEvalRunner) => void): void {
    if (this.#batch) act(this.#batch);
  }
}
