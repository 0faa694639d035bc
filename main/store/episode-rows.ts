// Rows of the episode table out of a run's folder: the plan joined with what is durable, in any asked order.
import type { EpisodeAttempt, EpisodeRow, PlannedEpisode } from '../contract/run.ts';
import type { ReadRun } from './run-reader.ts';

/** `ordinals` null: all in the order of the plan. */
export function episodeRows(run: ReadRun, ordinals: ArrayLike<number> | null): EpisodeRow[] {
  const finals = new Map(
    run.finals.map((row, place) => [row.ordinal, { row, first: run.firsts[place] ?? row }]),
  );
  // Nobody will run what a cancelled run left.
  const unrun = run.record.status === 'cancelled' ? 'cancelled' : 'pending';
  const rowOf = (planned: PlannedEpisode): EpisodeRow => {
    const found = finals.get(planned.ordinal);
    return found ? finishedRow(found.row, found.first) : pendingRow(planned, unrun);
  };
  if (ordinals === null) return run.record.plan.map(rowOf);
  const planned = new Map(run.record.plan.map((episode) => [episode.ordinal, episode]));
  return Array.from(ordinals).flatMap((ordinal) => {
    const episode = planned.get(ordinal);
    return episode ? [rowOf(episode)] : [];
  });
}

function finishedRow(row: EpisodeAttempt, first: EpisodeAttempt): EpisodeRow {
  return {
    ordinal: row.ordinal,
    key: row.key,
    episodeIndex: row.episodeIndex,
    episodeId: row.episodeId,
    sceneId: row.sceneId,
    instruction: row.instruction,
    repeat: row.repeat,
    status: row.status,
    attempts: row.attempt,
    metrics: row.metrics,
    steps: row.steps,
    durationMs: row.durationMs,
    worker: row.worker,
    limit: row.limit,
    errorCode: row.error?.code ?? null,
    errorMessage: row.error?.message ?? null,
    retried: row.status !== first.status,
    startedAt: row.startedAt,
    usage: row.usage ?? null,
  };
}

function pendingRow(
  { ordinal, key, episodeIndex, episodeId, repeat }: PlannedEpisode,
  status: 'pending' | 'cancelled',
): EpisodeRow {
  return {
    ordinal,
    key,
    episodeIndex,
    episodeId,
    sceneId: null,
    instruction: null,
    repeat,
    status,
    attempts: 0,
    metrics: {},
    steps: null,
    durationMs: null,
    worker: null,
    limit: null,
    errorCode: null,
    errorMessage: null,
    retried: false,
    startedAt: null,
  };
}
