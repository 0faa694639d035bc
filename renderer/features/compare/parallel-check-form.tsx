// Starts two runs that should be equal: the configuration of one run, the same episodes, one worker and several.
import { useState } from 'react';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { useAction } from '../../ui/use-request.ts';

const defaultEpisodes = 10;

export function ParallelCheckForm({ runId }: { readonly runId: string }) {
  const { client, navigation } = useStudio();
  const action = useAction();
  const [episodes, setEpisodes] = useState(String(defaultEpisodes));
  const [workers, setWorkers] = useState('2');
  const [count, many] = [Number(episodes), Number(workers)];
  const isUsable =
    Number.isInteger(count) && count >= 1 && Number.isInteger(many) && many >= 2 && many <= 256;
  const start = (): void =>
    action.run(async () => {
      const { record } = await client.request('runs.get', { runId: runId });
      const { runIds } = await client.request('runs.parallelCheck', {
        config: record.config,
        episodes: count,
        workerCounts: [1, many],
      });
      navigation.go({ page: 'compare', runs: runIds, tab: 'parallel' });
    });
  return (
    <section className="needed" aria-label="Check a parallel number">
      <h2>Is a parallel number right?</h2>
      <p className="muted">
        Runs the same episodes of the baseline’s configuration with one worker and with several, one run after
        the other, and lists what differs.
      </p>
      <div className="row wrap">
        <label className="row">
          Episodes
          <input
            className="input number"
            inputMode="numeric"
            value={episodes}
            onChange={(event) => setEpisodes(event.target.value)}
          />
        </label>
        <label className="row">
          Workers
          <input
            className="input number"
            inputMode="numeric"
            value={workers}
            onChange={(event) => setWorkers(event.target.value)}
          />
        </label>
        <button type="button" className="button" disabled={!isUsable || action.isBusy} onClick={start}>
          Start both runs
        </button>
      </div>
      {action.error ? <ErrorCallout title="The check did not start." error={action.error} /> : null}
    </section>
  );
}
