// Rows of the episode table as they change while a run goes on.
import type { EpisodeAttempt, EpisodeRow, PlannedEpisode } from '../contract/run.ts';

/** An attempt has begun. */
export function runningRow(
  episode: PlannedEpisode,
  worker: number,
  attempt: number,
  startedAtMs: number,
): EpisodeRow {
  return {
    ordinal: episode.ordinal,
    key: episode.key,
    episodeIndex: episode.episodeIndex,
    episodeId: episode.episodeId,
    sceneId: null,
    instruction: null,
    repeat: episode.repeat,
    status: 'running',
    attempts: attempt,
    metrics: {},
    steps: null,
    durationMs: null,
    worker,
    limit: null,
    errorCode: null,
    errorMessage: null,
    retried: false,
    startedAt: new Date(startedAtMs).toISOString(),
  };
}

/** An attempt is durable. One that is not final leaves the episode pending. */
export function attemptedRow(attempt: EpisodeAttempt, firstStatus: EpisodeAttempt['status']): EpisodeRow {
  return {
    ordinal: attempt.ordinal,
    key: attempt.key,
    episodeIndex: attempt.episodeIndex,
    episodeId: attempt.episodeId,
    sceneId: attempt.sceneId,
    instruction: attempt.instruction,
    repeat: attempt.repeat,
    status: attempt.final ? attempt.status : 'pending',
    attempts: attempt.attempt,
    metrics: attempt.metrics,
    steps: attempt.steps,
    durationMs: attempt.durationMs,
    worker: attempt.worker,
    limit: attempt.limit,
    errorCode: attempt.error?.code ?? null,
    errorMessage: attempt.error?.message ?? null,
    retried: attempt.final && attempt.status !== firstStatus,
    startedAt: attempt.startedAt,
    usage: attempt.usage ?? null,
  };
}
