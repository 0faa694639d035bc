// One opened recording: what it is, and its steps read page by page as they are played. A log that is still being
// indexed grows while it is looked at.
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { OpenedRecording, RecordedStep } from '#contract/replay.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { useLoad, type Loaded } from '../../ui/use-request.ts';
import { PagedRows } from '../../ui/paged-rows.ts';
import { readWholePage } from './read-steps.ts';

export interface EpisodePlace {
  readonly runId: string;
  readonly ordinal: number;
  /** Left out: the last one that was kept. */
  readonly attempt?: number;
}

/** Names a place, for keys of React and of loads. */
export const placeKey = ({ runId, ordinal, attempt }: EpisodePlace): string =>
  `${runId} ${ordinal} ${attempt ?? ''}`;

export interface Recording {
  readonly place: EpisodePlace | null;
  readonly opened: Loaded<OpenedRecording>;
  readonly steps: PagedRows<RecordedStep>;
  /** -1 while unknown. */
  readonly lastStep: number;
}

const indexingEveryMs = 700;
const pageSize = 50;
/** Steps read before they are needed. */
const ahead = 40;

export interface WantedRecording {
  readonly runId: string | null;
  readonly ordinal: number | null;
  readonly attempt: number | null;
}

export function useRecording({ runId, ordinal, attempt }: WantedRecording, step: number): Recording {
  const { client } = useStudio();
  const place = useMemo<EpisodePlace | null>(() => {
    if (runId === null || ordinal === null) return null;
    return attempt === null ? { runId, ordinal } : { runId, ordinal, attempt };
  }, [runId, ordinal, attempt]);
  const opened = useLoad(place && placeKey(place), (signal) =>
    client.request('replay.open', place ?? { runId: '', ordinal: 0 }, signal),
  );
  const { value, reload } = opened;
  useEffect(() => {
    if (!value || value.isIndexed) return undefined;
    const timer = setTimeout(reload, indexingEveryMs);
    return () => clearTimeout(timer);
  }, [value, reload]);
  const total = value?.steps ?? 0;
  const steps = useMemo(
    () =>
      new PagedRows<RecordedStep>(async (fromStep, limit, signal) => {
        if (!place) return { rows: [], total: 0 };
        const rows = await readWholePage(
          async (from, most) =>
            (await client.request('replay.steps', { ...place, fromStep: from, limit: most }, signal)).steps,
          fromStep,
          limit,
        );
        // How many there are is known from opening it, and grows while the log is indexed.
        return { rows, total: Number.POSITIVE_INFINITY };
      }, pageSize),
    [client, place],
  );
  useEffect(() => () => steps.dispose(), [steps]);
  const seenTotal = useRef(0);
  useEffect(() => {
    if (total === 0) return;
    const shown = Math.min(step, total - 1);
    if (seenTotal.current !== 0 && seenTotal.current !== total) steps.invalidate();
    seenTotal.current = total;
    steps.show(shown, Math.min(total - 1, shown + ahead));
  }, [steps, step, total]);
  useSyncExternalStore(steps.subscribe, steps.getVersion);
  return { place, opened, steps, lastStep: total - 1 };
}
