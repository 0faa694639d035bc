// The row of one attempt, from whoever concluded it: the runner that saw the episode end, or the pool that ended it.
import type { StudioError } from '../base/errors.ts';
import type { EpisodeAttempt, EpisodeError, PlannedEpisode } from '../contract/run.ts';
import type { ReplicaDeath } from '../nodeset/ports.ts';
import type { AttemptToken, EpisodeIdentity } from './ports.ts';

const shownStderrLines = 20;

/** What is known of an attempt while it runs. */
export interface AttemptFacts extends EpisodeIdentity {
  readonly episode: PlannedEpisode;
  readonly token: AttemptToken;
  readonly worker: number;
  readonly replica: string | null;
  /** Wall clock, milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly steps: number;
  readonly stepBudget: number;
}

export type AttemptOutcome = Pick<EpisodeAttempt, 'status' | 'metrics' | 'limit' | 'error' | 'nodeErrors'>;

/** The row, not final yet: whether it is depends on the retry policy. */
export function attemptRow(facts: AttemptFacts, outcome: AttemptOutcome): EpisodeAttempt {
  const { episode, token } = facts;
  return {
    ordinal: episode.ordinal,
    key: episode.key,
    episodeIndex: episode.episodeIndex,
    episodeId: facts.episodeId ?? episode.episodeId,
    sceneId: facts.sceneId,
    instruction: facts.instruction,
    repeat: episode.repeat,
    seed: episode.seed,
    attempt: token.attempt,
    epoch: token.epoch,
    final: false,
    ...outcome,
    steps: facts.steps,
    stepBudget: facts.stepBudget,
    startedAt: new Date(facts.startedAtMs).toISOString(),
    durationMs: facts.durationMs,
    worker: facts.worker,
    replica: facts.replica,
    recording: 'none',
  };
}

/** An outcome without a verdict. */
export function failure(
  status: 'error' | 'timeout' | 'died' | 'no_verdict',
  error: EpisodeError,
  nodeErrors: EpisodeAttempt['nodeErrors'] = [],
): AttemptOutcome {
  return { status, metrics: {}, limit: null, error, nodeErrors };
}

export function episodeError(error: StudioError, scope: EpisodeError['scope'] = {}): EpisodeError {
  return {
    code: error.code,
    message: error.message,
    scope: { ...scope, ...error.scope },
    details: { ...error.details },
    ...processFacts(error.details),
  };
}

/** "minivln#0 was ended by SIGSEGV in step 12" with the last lines it wrote. */
export function deathError(death: ReplicaDeath, scope: EpisodeError['scope']): EpisodeError {
  const how =
    death.signal === null
      ? `ended with exit code ${death.exitCode ?? 'unknown'}`
      : `was ended by ${death.signal}`;
  const where =
    scope.phase === 'step' ? `in step ${scope.step ?? 0}` : `during ${scope.phase ?? 'the episode'}`;
  return {
    code: 'process_died',
    message: `${death.instance} ${how} ${where}`,
    scope,
    details: {},
    exitCode: death.exitCode,
    signal: death.signal,
    stderrTail: death.stderrTail.slice(-shownStderrLines),
  };
}

/** Errors of the process layer carry these in `details`. */
function processFacts(details: Readonly<Record<string, unknown>>): Partial<EpisodeError> {
  const { exitCode, signal, stderrTail } = details;
  return {
    ...(typeof exitCode === 'number' || exitCode === null ? { exitCode } : {}),
    ...(typeof signal === 'string' || signal === null ? { signal } : {}),
    ...(Array.isArray(stderrTail) ? { stderrTail: stderrTail.map(String).slice(-shownStderrLines) } : {}),
  };
}
