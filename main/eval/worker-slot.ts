// One worker: the loop that owns a replica set, takes the next episode, waits for its lease to be concluded, makes the
// row durable, and only then is free again. A replica set that timed out, died or turned fatal is killed and replaced
// before the next lease. A slot holds at most one lease.
import { sleep } from '../base/abort.ts';
import { isAbort, messageOf } from '../base/errors.ts';
import type { EpisodeAttempt, PlannedEpisode, WorkerView } from '../contract/run.ts';
import type { ReplicaDeath, ReplicaSet } from '../nodeset/ports.ts';
import { attemptRow, deathError, failure } from './attempt-row.ts';
import { Lease, type Conclusion } from './lease.ts';
import type { SlotContext } from './pool-context.ts';
import { afterEpisode, newReplica, recycleReason, type ReplicaHistory } from './recycling.ts';
import { closeReplicas, killReplicas, startReplicas } from './replica-life.ts';
import { afterDeath, afterFinishedEpisode, healthy } from './slot-health.ts';

/** How long the facts of a death (exit code, signal, last lines) are waited for once a call reported it. */
const deathFactsMs = 1_000;

type Ending = Exclude<Conclusion, { kind: 'cancelled' }>;

interface Ended {
  readonly lease: Lease;
  /** The runner's own answer, which knows what became of the recording. */
  readonly hasAnswered: boolean;
}

type SlotState =
  | { readonly kind: 'starting' | 'replacing' | 'closed' }
  | { readonly kind: 'idle'; readonly replicas: ReplicaSet }
  | { readonly kind: 'leased'; readonly replicas: ReplicaSet; readonly lease: Lease }
  | { readonly kind: 'down'; readonly reason: string };

export class WorkerSlot {
  readonly index: number;
  readonly #context: SlotContext;
  #state: SlotState = { kind: 'starting' };
  #sinceMs: number;
  #idleMs = 0;
  #idleFromMs: number | null = null;
  #health = healthy;
  #history: ReplicaHistory = newReplica;
  /** How the current replica set ended by itself, once it did. */
  #death: ReplicaDeath | null = null;

  constructor(index: number, context: SlotContext) {
    this.index = index;
    this.#context = context;
    this.#sinceMs = context.clock.now();
  }

  get downReason(): string | null {
    return this.#state.kind === 'down' ? this.#state.reason : null;
  }

  /** The replica set it starts with. */
  adopt(replicas: ReplicaSet): void {
    this.#death = null;
    this.#history = newReplica;
    void replicas.death.then((death) => this.#onDeath(replicas, death));
    this.#enter({ kind: 'idle', replicas });
  }

  /** Runs episodes until none will come, the slot is down, or the pool stops. Never rejects. */
  async run(): Promise<void> {
    const { queue, pause } = this.#context;
    try {
      while (await this.#waitForWork()) {
        if (!(await this.#ready())) break;
        const episode = queue.take(this.index);
        if (episode) await this.#attempt(episode);
      }
    } catch (error) {
      pause(`worker ${this.index} met an unexpected error: ${messageOf(error)}`);
    }
    await this.#close();
  }

  /** Ends the lease, if there is one, now. */
  cancel(): void {
    if (this.#state.kind === 'leased') this.#state.lease.cancel();
  }

  view(): WorkerView {
    const state = this.#state;
    const lease = state.kind === 'leased' ? state.lease : null;
    const replicas = 'replicas' in state ? state.replicas : null;
    const { clock } = this.#context;
    const idleNowMs = this.#idleFromMs === null ? 0 : clock.monotonic() - this.#idleFromMs;
    return {
      worker: this.index,
      phase: lease?.phase ?? (state.kind === 'leased' ? 'reset' : state.kind),
      phaseSinceMs: lease?.phaseSinceMs ?? this.#sinceMs,
      ordinal: lease?.episode.ordinal ?? null,
      episodeId: lease?.episodeId ?? null,
      step: lease?.step ?? 0,
      stepBudget: lease?.stepBudget ?? null,
      attempt: lease?.token.attempt ?? 0,
      pids: [...(replicas?.pids ?? [])],
      rssBytes: replicas?.rssBytes() ?? null,
      idleMs: this.#idleMs + idleNowMs,
      deaths: this.#health.total,
      downReason: this.downReason,
    };
  }

  async #waitForWork(): Promise<boolean> {
    const { clock, queue } = this.#context;
    this.#idleFromMs = clock.monotonic();
    const isAvailable = await queue.available();
    this.#idleMs += clock.monotonic() - this.#idleFromMs;
    this.#idleFromMs = null;
    return isAvailable;
  }

  /** A living replica set, or false when there will be none. */
  async #ready(): Promise<boolean> {
    while (this.#state.kind === 'idle' && this.#death) {
      const pauseMs = this.#death.byMate
        ? 0
        : this.#countDeath(`${this.#death.instance} ended between episodes`);
      await this.#replace(this.#state.replicas, 'kill', pauseMs);
    }
    return this.#state.kind === 'idle';
  }

  async #attempt(episode: PlannedEpisode): Promise<void> {
    const { journal, queue, counters, listener } = this.#context;
    if (this.#state.kind !== 'idle') return queue.leave(episode);
    const { replicas } = this.#state;
    const lease = new Lease({
      ...this.#context,
      episode,
      token: journal.beginAttempt(episode.ordinal),
      worker: this.index,
      replicas,
      onLateAnswer: () => void counters.lateAnswers++,
    });
    this.#enter({ kind: 'leased', replicas, lease });
    listener.onEpisodeStarted?.(this.index, episode, lease.token.attempt);
    const conclusion = await lease.concluded;
    if (conclusion.kind === 'cancelled') {
      queue.leave(episode);
      await this.#end(replicas, 'kill');
      return;
    }
    const death = await this.#deathIn(conclusion, replicas);
    if (death?.byMate) return await this.#repeat(lease, replicas);
    const row = rowOf(lease, conclusion, death);
    await this.#settle(row, { lease, hasAnswered: conclusion.kind === 'answer' }, replicas);
  }

  /** Another environment ended the process they share: no attempt is used up, and nothing counts against the slot. */
  async #repeat(lease: Lease, replicas: ReplicaSet): Promise<void> {
    const { counters, logger, queue } = this.#context;
    this.#enter({ kind: 'replacing' });
    counters.displaced++;
    logger.info('an episode is repeated: its process ended by another one in it', {
      worker: this.index,
      ordinal: lease.episode.ordinal,
    });
    await killReplicas(replicas, this.#context);
    await lease.recordingOnceEnded();
    queue.retry(lease.episode);
    await this.#replace(null, 'kill', 0);
  }

  /** Makes the row durable while a spoilt replica set is killed; then the slot is idle again, replaced or down. */
  async #settle(row: EpisodeAttempt, { lease, hasAnswered }: Ended, replicas: ReplicaSet): Promise<void> {
    // Its verdict may be another node's, and a call to the replica given up all the same: the next episode would get the
    // blame.
    const broken = replicas.broken();
    const isSpoilt = row.status === 'timeout' || row.status === 'died' || broken !== undefined;
    const killed = isSpoilt ? killReplicas(replicas, this.#context) : undefined;
    if (isSpoilt) this.#enter({ kind: 'replacing' });
    const recording = hasAnswered ? row.recording : await lease.recordingOnceEnded();
    await this.#record({ ...row, recording }, lease.episode);
    await killed;
    if (isSpoilt) {
      const isSlow = row.status === 'timeout' || (row.status !== 'died' && broken?.code === 'timeout');
      const reason = row.error?.message ?? broken?.message ?? 'its process ended';
      await this.#replace(null, 'kill', isSlow ? 0 : this.#countDeath(reason));
      return;
    }
    this.#health = afterFinishedEpisode(this.#health);
    this.#history = afterEpisode(this.#history, replicas.rssBytes());
    const reason = recycleReason(this.#history, this.#context.recycle);
    if (reason === null || this.#context.stopSignal.aborted) return this.#enter({ kind: 'idle', replicas });
    this.#context.logger.info('a replica is recycled', { worker: this.index, reason });
    await this.#replace(replicas, 'close', 0);
  }

  async #record(row: EpisodeAttempt, episode: PlannedEpisode): Promise<void> {
    const { journal, queue, retry, pause, onRow, annotate } = this.#context;
    const isRetried = retry.on.some((outcome) => outcome === row.status) && row.attempt < retry.attempts;
    const attempt = annotate({ ...row, final: !isRetried });
    try {
      await journal.append(attempt);
    } catch (error) {
      queue.leave(episode);
      pause(`results cannot be written: ${messageOf(error)}`);
      return;
    }
    onRow(attempt);
    if (isRetried) queue.retry(episode);
    else queue.finish(episode);
  }

  /** A call may report the death before the process is seen to end: how it ended is waited for. */
  async #deathIn(conclusion: Ending, replicas: ReplicaSet): Promise<ReplicaDeath | null> {
    if (conclusion.kind === 'died') return conclusion.death;
    if (conclusion.kind === 'timeout' || !lostItsProcess(conclusion.attempt, replicas)) return null;
    const stopWaiting = new AbortController();
    const waited = sleep(this.#context.clock, deathFactsMs, stopWaiting.signal).catch(() => null);
    const death = await Promise.race([replicas.death, waited]);
    stopWaiting.abort();
    return death ?? null;
  }

  #onDeath(replicas: ReplicaSet, death: ReplicaDeath): void {
    const state = this.#state;
    // Our own kills come after the slot has left the replica set.
    if (!('replicas' in state) || state.replicas !== replicas) return;
    this.#death = death;
    if (state.kind === 'leased') state.lease.died(death);
  }

  /** How long to wait before the restart, or null when the slot is down. */
  #countDeath(reason: string): number | null {
    const after = afterDeath(this.#health, this.#context.crashBudget);
    this.#health = after.health;
    if (after.verdict === 'restart') return after.pauseMs;
    this.#goDown(`${after.health.consecutive} deaths in a row; the last: ${reason}`);
    return null;
  }

  /** Ends the old set, waits, starts a new one; tries again until the slot is down or the pool stops. */
  async #replace(old: ReplicaSet | null, how: 'kill' | 'close', firstPauseMs: number | null): Promise<void> {
    if (firstPauseMs !== null) this.#enter({ kind: 'replacing' });
    if (old) await (how === 'kill' ? killReplicas : closeReplicas)(old, this.#context);
    const { clock, counters, source, stopSignal } = this.#context;
    for (let pauseMs = firstPauseMs; pauseMs !== null;) {
      try {
        if (!(await this.#isReplacementNeeded())) return;
        if (pauseMs > 0) await sleep(clock, pauseMs, stopSignal);
        this.adopt(await startReplicas(source, this.index, stopSignal, this.#context));
        counters.replacements++;
        return;
      } catch (error) {
        if (isAbort(error) && stopSignal.aborted) return;
        this.#context.logger.warn('a replica could not be restarted', {
          worker: this.index,
          error: messageOf(error),
        });
        pauseMs = this.#countDeath(messageOf(error));
      }
    }
  }

  /** A new replica is started only once there is an episode for it. */
  #isReplacementNeeded(): Promise<boolean> {
    return this.#context.queue.available();
  }

  #goDown(reason: string): void {
    this.#enter({ kind: 'down', reason });
    this.#context.onSlotDown(this.index, reason);
  }

  async #close(): Promise<void> {
    if (this.#state.kind === 'down' || this.#state.kind === 'closed') return;
    const replicas = 'replicas' in this.#state ? this.#state.replicas : null;
    await this.#end(replicas, this.#context.isCancelled() ? 'kill' : 'close');
  }

  async #end(replicas: ReplicaSet | null, how: 'kill' | 'close'): Promise<void> {
    this.#enter({ kind: 'closed' });
    if (replicas) await (how === 'kill' ? killReplicas : closeReplicas)(replicas, this.#context);
  }

  #enter(state: SlotState): void {
    this.#state = state;
    this.#sinceMs = this.#context.clock.now();
  }
}

function rowOf(lease: Lease, conclusion: Ending, death: ReplicaDeath | null): EpisodeAttempt {
  const facts = lease.facts();
  const scope = { phase: lease.phase, step: lease.step };
  switch (conclusion.kind) {
    case 'died':
      return attemptRow(facts, failure('died', deathError(conclusion.death, scope)));
    case 'timeout': {
      const what = lease.phase === 'reset' ? 'choosing and resetting the episode' : 'the episode';
      const message = `${what} took longer than ${conclusion.limitMs / 1000} s (${lease.phase}, step ${lease.step})`;
      return attemptRow(facts, failure('timeout', { code: 'timeout', message, scope, details: {} }));
    }
    case 'answer':
      return death && !death.expected && reportsDeath(conclusion.attempt)
        ? withDeathFacts(conclusion.attempt, death)
        : conclusion.attempt;
  }
}

/** Adds how it ended. */
function withDeathFacts(attempt: EpisodeAttempt, death: ReplicaDeath): EpisodeAttempt {
  const scope = attempt.error?.scope ?? {};
  return { ...attempt, error: { ...deathError(death, scope), details: attempt.error?.details ?? {} } };
}

/** The process ended, as seen by a call into it; a typed `fatal` comes from a process that still lives. */
function reportsDeath({ status, error }: EpisodeAttempt): boolean {
  return status === 'died' && (error?.code === 'process_died' || error?.code === 'connection_closed');
}

/** In a shared process also where the end came in the guise of a connection that made no sense any more. */
function lostItsProcess(attempt: EpisodeAttempt, replicas: ReplicaSet): boolean {
  if (reportsDeath(attempt)) return true;
  return replicas.waitedForMatesMs !== undefined && attempt.error?.code === 'protocol_error';
}
