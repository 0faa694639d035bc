// Replay: recorded episodes of a run, watched step by step, alone or two side by side. The address says which.
import { useState } from 'react';
import { formatAddress, home } from '../../store/address.ts';
import { useAddress, useStudio } from '../../store/use-studio.tsx';
import { EmptyState, PageHead } from '../../ui/page.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { ChooseRun } from '../../ui/choose-run.tsx';
import { NoRecording } from './no-recording.tsx';
import { Player } from './player.tsx';
import { RecordedList, useRecordedEpisodes } from './recorded-list.tsx';

export function ReplayPage() {
  const { client, navigation } = useStudio();
  const { run, episode, attempt, other, otherEpisode, otherAttempt, statuses } = useAddress();
  const [isChoosing, setChoosing] = useState(false);
  const record = useLoad(run, (signal) => client.request('runs.get', { runId: run ?? '' }, signal));
  const list = useRecordedEpisodes(run);
  const name = record.value?.record;
  return (
    <>
      <PageHead title="Replay" sub={name ? [name.name, name.split, run].filter(Boolean).join(' · ') : run}>
        <button type="button" className="button" onClick={() => setChoosing(true)}>
          {run === null ? 'Choose a run' : 'Another run'}
        </button>
      </PageHead>
      {run === null ? (
        <NoRun onChoose={() => setChoosing(true)} />
      ) : list.total === 0 && statuses.length === 0 && episode === null ? (
        <NoRecording runId={run} ordinal={null} />
      ) : (
        <div className="replay">
          <RecordedList list={list} />
          {episode === null ? (
            <EmptyState title="Choose an episode">
              <p>
                The list has every episode of the run that was recorded. A click, or N for the first one,
                opens it.
              </p>
            </EmptyState>
          ) : (
            <Player
              key={`${run} ${episode} ${attempt}`}
              first={{ runId: run, ordinal: episode, attempt }}
              second={{ runId: other, ordinal: other === null ? null : otherEpisode, attempt: otherAttempt }}
            />
          )}
        </div>
      )}
      {isChoosing ? (
        <ChooseRun
          title="Run to replay"
          without={[]}
          onChoose={(runId) => {
            setChoosing(false);
            navigation.go({ page: 'replay', run: runId });
          }}
          onClose={() => setChoosing(false)}
        />
      ) : null}
    </>
  );
}

function NoRun({ onChoose }: { readonly onChoose: () => void }) {
  return (
    <div className="page-body">
      <EmptyState
        title="Choose a run to replay"
        actions={
          <>
            <button type="button" className="button primary" onClick={onChoose}>
              Choose a run
            </button>
            <a className="button" href={formatAddress({ ...home, page: 'history' })}>
              Open History
            </a>
          </>
        }
      >
        <p>
          Recordings keep frames, the inputs and outputs of every node, and logs. Which episodes are recorded
          is set when a run starts: failures (the default), a sample, all or none.
        </p>
      </EmptyState>
    </div>
  );
}
