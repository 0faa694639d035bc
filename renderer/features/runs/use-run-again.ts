// Starts a new run of some episodes of this one, linked to it by `parentRun`.
import type { EpisodeSelection } from '#contract/eval-config.ts';
import type { EpisodeRow } from '#contract/run.ts';
import type { RunRecordView } from '../../store/run-session.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { useAction, type Action } from '../../ui/use-request.ts';

export interface RunAgain {
  readonly action: Action;
  readonly run: (rows: readonly EpisodeRow[]) => void;
}

/** By index where every row has one, else by id. */
export function selectionOf(rows: readonly EpisodeRow[]): EpisodeSelection | null {
  const indices = new Set<number>();
  const ids = new Set<string>();
  for (const row of rows) {
    if (row.episodeIndex !== null) indices.add(row.episodeIndex);
    if (row.episodeId !== null) ids.add(row.episodeId);
  }
  if (rows.length === 0) return null;
  if (rows.every((row) => row.episodeIndex !== null))
    return { indices: [...indices].toSorted((a, b) => a - b) };
  return ids.size > 0 ? { ids: [...ids] } : null;
}

export function useRunAgain(record: RunRecordView): RunAgain {
  const { client, store, navigation } = useStudio();
  const action = useAction();
  const run = (rows: readonly EpisodeRow[]): void =>
    action.run(async () => {
      const episodes = selectionOf(rows);
      if (!episodes) throw new Error('None of these episodes can be named: they have neither index nor id.');
      const whenBusy = store.getState().guard.holder ? 'queue' : 'refuse';
      const { runId } = await client.request('runs.start', {
        config: { ...record.config, episodes },
        whenBusy,
        parentRun: record.runId,
      });
      navigation.go({ page: 'evaluate', run: runId });
    });
  return { action, run };
}
