// Whether a run may go on with what is here now: its episodes must still exist, and what produced the first results
// should still be the same.
import { StudioError } from '../base/errors.ts';
import type { PlannedEpisode, RunRecord } from '../contract/run.ts';
import type { NodesetSummary } from '../contract/nodeset.ts';
import type { EpisodeSpace } from './episode-source.ts';

/** Something that differs from when the run began, for people. */
export interface ResumeDifference {
  readonly what: string;
  readonly was: string;
  readonly now: string;
}

/** Throws `conflict` for a run that is going on, waits in the queue, or is complete. */
export function refuseUnresumable(
  record: Pick<RunRecord, 'runId' | 'status' | 'importedFrom'>,
  activeRunId: string | null,
): void {
  const { runId, status } = record;
  if (runId === activeRunId) throw new StudioError('conflict', `Run ${runId} is going on.`);
  if (record.importedFrom !== undefined)
    throw new StudioError('conflict', `Run ${runId} was imported: what produced it is not here to go on.`);
  const ended: readonly RunRecord['status'][] = ['queued', 'completed', 'completed_with_errors'];
  // One that says it is running and is not could not write its end, on a full disk for example.
  if (!ended.includes(status)) return;
  throw new StudioError(
    'conflict',
    `Run ${runId} is ${status}: there is nothing to resume. Start it again as a new run.`,
  );
}

/** Nodesets whose source is not the one the run began with. */
export function resumeDifferences(
  record: { readonly provenance: Pick<RunRecord['provenance'], 'nodesets'> },
  nodesets: readonly NodesetSummary[],
): ResumeDifference[] {
  return record.provenance.nodesets.flatMap(({ name, sourceHash }) => {
    const current = nodesets.find((nodeset) => nodeset.name === name);
    if (!current) return [{ what: `nodeset ${name}`, was: short(sourceHash), now: 'not found' }];
    if (current.sourceHash === sourceHash) return [];
    return [{ what: `nodeset ${name}`, was: short(sourceHash), now: short(current.sourceHash) }];
  });
}

/** Throws `conflict` with the differences. */
export function refuseDifferences(differences: readonly ResumeDifference[]): void {
  if (differences.length === 0) return;
  const list = differences.map(({ what, was, now }) => `${what} (${was} -> ${now})`).join(', ');
  throw new StudioError(
    'conflict',
    `Changed since the run began: ${list}. Restore it, start a new run, or resume and accept that results mix both.`,
    { details: { differences } },
  );
}

/** Throws `episode_unknown` when the environment no longer has an episode of the plan. */
export function refuseChangedPlan(plan: readonly PlannedEpisode[], space: EpisodeSpace): void {
  const { episodeCount } = space;
  if (episodeCount === null) return;
  const last = plan.reduce((highest, episode) => Math.max(highest, episode.episodeIndex ?? -1), -1);
  if (last < episodeCount) return;
  throw new StudioError(
    'episode_unknown',
    `The run's plan goes up to index ${last}, but ${space.label} of ${space.envName} now has ${episodeCount} episodes. Restore the data it began with.`,
    { details: { episodeCount } },
  );
}

const short = (hash: string): string => hash.slice(0, 8) || 'unknown';
