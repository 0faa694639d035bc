// One lease: one attempt at one episode on one replica set. Runner, deadlines, the replica's death and cancel race to
// conclude it; the first one does, the runner is then aborted, and what it answers later is only counted.
import { sleep } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { StudioError, toStudioError } from '../base/errors.ts';
import type { EpisodeAttempt, PlannedEpisode, WorkerView } from '../contract/run.ts';
import type { ReplicaDeath, ReplicaSet } from '../nodeset/ports.ts';
import { attemptRow, episodeError, failure, type AttemptFacts } from './attempt-row.ts';
import type { AttemptToken, EndRecording, EpisodeIdentity, EpisodeRunner } from './ports.ts';
import type { MovableDeadline, SuspendWatch } from './suspend-watch.ts';

export interface EpisodeLimits {
  /** From the lease to the first step: choosing and resetting. */
  readonly resetMs: number;
  /** From the first step to the verdict. */
  episodeMs(stepBudget: number): number;
  /** Stands in rows whose episode never said its own. */
  readonly defaultStepBudget: number;
}

export type Conclusion =
  | { readonly kind: 'answer'; readonly attempt: EpisodeAttempt }
  | { readonly kind: 'timeout'; readonly limitMs: number }
  | { readonly kind: 'died'; readonly death: ReplicaDeath }
  | { readonly kind: 'cancelled' };

export interface LeaseInput {
  readonly episode: PlannedEpisode;
  readonly token: AttemptToken;
  readonly worker: number;
  readonly replicas: ReplicaSet;
  readonly runner: EpisodeRunner;
  readonly clock: Clock;
  readonly watch: SuspendWatch;
  readonly limits: EpisodeLimits;
  /** The runner came with a verdict after the lease was concluded; the verdict is dropped. */
  readonly onLateAnswer: () => void;
}

type Phase = WorkerView['phase'];

const lastFiringMs = 1000;
/** Less than this is not worth moving a deadline for. */
const leastMoveMs = 20;

const unknownIdentity: EpisodeIdentity = { episodeId: null, sceneId: null, instruction: null };

export class Lease {
  readonly episode: PlannedEpisode;
  readonly token: AttemptToken;
  readonly concluded: Promise<Conclusion>;
  readonly #input: LeaseInput;
  readonly #startedAtMs: number;
  readonly #startedMs: number;
  readonly #abort = new AbortController();
  #deadline: MovableDeadline;
  readonly #conclude: (conclusion: Conclusion) => void;
  #limitMs: number;
  /** Of the time it waited for process mates, what its deadline has been moved by already. */
  #grantedMs: number;
  #phase: Phase = 'reset';
  #phaseSinceMs: number;
  #step = 0;
  #stepBudget: number | null = null;
  #identity = unknownIdentity;
  #isConcluded = false;
  #endRecording: EndRecording | undefined;
  readonly #worked: Promise<void>;

  constructor(input: LeaseInput) {
    const { promise, resolve } = Promise.withResolvers<Conclusion>();
    this.concluded = promise;
    this.#conclude = resolve;
    this.#input = input;
    this.episode = input.episode;
    this.token = input.token;
    this.#startedAtMs = input.clock.now();
    this.#startedMs = input.clock.monotonic();
    this.#phaseSinceMs = input.clock.now();
    this.#limitMs = input.limits.resetMs;
    this.#grantedMs = this.#waitedForMatesMs();
    this.#deadline = input.watch.deadline(this.#limitMs, () => this.#onDue());
    this.#worked = this.#work();
  }

  get phase(): Phase {
    return this.#phase;
  }

  get phaseSinceMs(): number {
    return this.#phaseSinceMs;
  }

  get step(): number {
    return this.#step;
  }

  get stepBudget(): number | null {
    return this.#stepBudget;
  }

  get episodeId(): string | null {
    return this.#identity.episodeId ?? this.episode.episodeId;
  }

  cancel(): void {
    this.#finish({ kind: 'cancelled' });
  }

  died(death: ReplicaDeath): void {
    this.#finish({ kind: 'died', death });
  }

  facts(): AttemptFacts {
    const { clock, limits, replicas, worker } = this.#input;
    return {
      ...this.#identity,
      episode: this.episode,
      token: this.token,
      worker,
      replica: replicas.instances[0] ?? null,
      startedAtMs: this.#startedAtMs,
      durationMs: clock.monotonic() - this.#startedMs,
      steps: this.#step,
      stepBudget: this.#stepBudget ?? limits.defaultStepBudget,
    };
  }

  /**
   * What became of the recording of an attempt that was ended from outside. The runner has a moment to come back: the
   * firing it was waiting in is the one somebody will look for.
   */
  async recordingOnceEnded(): Promise<EpisodeAttempt['recording']> {
    if (!this.#endRecording) return 'none';
    const stopWaiting = new AbortController();
    const waited = sleep(this.#input.clock, lastFiringMs, stopWaiting.signal).catch(() => undefined);
    await Promise.race([this.#worked, waited]);
    stopWaiting.abort();
    return this.#endRecording();
  }

  async #work(): Promise<void> {
    const { runner, replicas, worker } = this.#input;
    let attempt: EpisodeAttempt;
    try {
      attempt = await runner.run({
        episode: this.episode,
        ...this.token,
        worker,
        replicas,
        signal: this.#abort.signal,
        onPhase: (phase, step, stepBudget) => this.#progress(phase, step, stepBudget),
        onChosen: (identity) => {
          this.#identity = identity;
        },
        onRecording: (end) => {
          this.#endRecording = end;
        },
      });
    } catch (error) {
      attempt = attemptRow(this.facts(), failure('error', episodeError(toStudioError(error))));
    }
    this.#answer(attempt);
  }

  /** Hot path: once per step. */
  #progress(phase: Phase, step: number, stepBudget: number | null): void {
    if (this.#isConcluded) return;
    this.#step = step;
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.#phaseSinceMs = this.#input.clock.now();
    if (phase === 'step' && stepBudget !== null && this.#stepBudget === null) {
      this.#stepBudget = stepBudget;
      this.#limitMs = this.#input.limits.episodeMs(stepBudget);
      this.#grantedMs = this.#waitedForMatesMs();
      this.#deadline.rearm(this.#limitMs);
    }
  }

  /** Time spent waiting behind another environment of the same process is not this one's. */
  #onDue(): void {
    const owedMs = this.#waitedForMatesMs() - this.#grantedMs;
    if (owedMs < leastMoveMs) return this.#finish({ kind: 'timeout', limitMs: this.#limitMs });
    this.#grantedMs += owedMs;
    this.#deadline = this.#input.watch.deadline(owedMs, () => this.#onDue());
  }

  #waitedForMatesMs(): number {
    return this.#input.replicas.waitedForMatesMs?.() ?? 0;
  }

  #answer(attempt: EpisodeAttempt): void {
    if (this.#isConcluded) {
      if (attempt.error === null) this.#input.onLateAnswer();
      return;
    }
    const { token, episode } = this;
    const isCurrent =
      attempt.ordinal === episode.ordinal &&
      attempt.attempt === token.attempt &&
      attempt.epoch === token.epoch;
    if (isCurrent) return this.#finish({ kind: 'answer', attempt });
    const wrong = new StudioError(
      'internal',
      `An answer for attempt ${attempt.attempt} of episode ${attempt.ordinal} came`,
    );
    this.#finish({
      kind: 'answer',
      attempt: attemptRow(this.facts(), failure('error', episodeError(wrong))),
    });
  }

  #finish(conclusion: Conclusion): void {
    if (this.#isConcluded) return;
    this.#isConcluded = true;
    this.#deadline[Symbol.dispose]();
    if (conclusion.kind !== 'answer') this.#abort.abort(abortReason(conclusion));
    this.#conclude(conclusion);
  }
}

function abortReason(conclusion: Exclude<Conclusion, { kind: 'answer' }>): StudioError {
  switch (conclusion.kind) {
    case 'timeout':
      return new StudioError('timeout', `took longer than ${conclusion.limitMs / 1000} s`);
    case 'died':
      // A displaced attempt never happened: nothing of it is kept, as of a cancelled one.
      return new StudioError(
        conclusion.death.byMate ? 'aborted' : 'process_died',
        `${conclusion.death.instance} ended`,
      );
    case 'cancelled':
      return new StudioError('aborted', 'The run was cancelled');
  }
}
