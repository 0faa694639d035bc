// A second recording beside the first: the same episode of another run, or any other of its recordings by address.
import { Columns2, X } from 'lucide-react';
import { useState } from 'react';
import type { OpenedRecording, RecordedEpisode } from '#contract/replay.ts';
import type { Client } from '../../api/client.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { useAction } from '../../ui/use-request.ts';
import { ChooseRun } from '../../ui/choose-run.tsx';
import { nothingBeside } from './recorded-list.tsx';

export interface BesidePickerProps {
  readonly opened: OpenedRecording;
  readonly isBeside: boolean;
}

export function BesidePicker({ opened, isBeside }: BesidePickerProps) {
  const { client, navigation } = useStudio();
  const [isChoosing, setChoosing] = useState(false);
  const [missing, setMissing] = useState<string | null>(null);
  const action = useAction();
  const choose = (runId: string): void => {
    setChoosing(false);
    setMissing(null);
    action.run(async () => {
      const found = await sameEpisode(client, runId, opened);
      if (found) navigation.change({ other: runId, otherEpisode: found.ordinal, otherAttempt: null });
      else setMissing(`Run ${runId} has no recording of this episode.`);
    });
  };
  return (
    <div className="row">
      {isBeside ? (
        <button type="button" className="button" onClick={() => navigation.change(nothingBeside)}>
          <X size={14} aria-hidden="true" /> Close the second episode
        </button>
      ) : (
        <button type="button" className="button" disabled={action.isBusy} onClick={() => setChoosing(true)}>
          <Columns2 size={14} aria-hidden="true" /> Same episode of another run
        </button>
      )}
      {missing ? <output className="small muted">{missing}</output> : null}
      {action.error ? <ErrorCallout error={action.error} /> : null}
      {isChoosing ? (
        <ChooseRun
          title="Run to watch beside this one"
          without={[opened.runId]}
          onChoose={choose}
          onClose={() => setChoosing(false)}
        />
      ) : null}
    </div>
  );
}

const pageSize = 1000;

async function sameEpisode(
  client: Client,
  runId: string,
  { episodeId, ordinal }: Pick<OpenedRecording, 'episodeId' | 'ordinal'>,
): Promise<RecordedEpisode | null> {
  for (let offset = 0; ; offset += pageSize) {
    const { rows, total } = await client.request('replay.episodes', { runId, offset, limit: pageSize });
    const found = rows.find((row) =>
      episodeId === null ? row.ordinal === ordinal : row.episodeId === episodeId,
    );
    if (found) return found;
    if (offset + pageSize >= total) return null;
  }
}
