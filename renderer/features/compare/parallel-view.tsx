// Is a parallel number right? What should be equal when only the number of workers changed, and a run that checks it.
import { useState } from 'react';
import type { RequestOutput } from '#contract/api.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout, Warning } from '../../ui/error-callout.tsx';
import { formatCount, formatPlural, formatRate } from '../../ui/format.ts';
import { Skeleton } from '../../ui/page.tsx';
import { useAction, useLoad } from '../../ui/use-request.ts';
import { PairBar } from './pair-bar.tsx';
import type { PairView } from './pair.ts';

const mostShown = 50;

export function ParallelView({ pair }: { readonly pair: PairView }) {
  const { client } = useStudio();
  const question = { baselineRun: pair.baseline.runId, otherRun: pair.other.runId };
  const loaded = useLoad(JSON.stringify(question), (signal) =>
    client.request('runs.parallelDifferences', { ...question, limit: mostShown }, signal),
  );
  return (
    <>
      {pair.others.length > 1 ? <PairBar pair={pair} /> : null}
      <div className="compare-scroll">
        {loaded.error ? (
          <ErrorCallout title="The results could not be compared." error={loaded.error} />
        ) : null}
        {!loaded.value && !loaded.error ? <Skeleton lines={6} label="Comparing the results" /> : null}
        {loaded.value ? <Differences found={loaded.value} onReload={loaded.reload} /> : null}
        <CheckForm pair={pair} />
      </div>
    </>
  );
}

type Found = RequestOutput<'runs.parallelDifferences'>;

function Differences({ found, onReload }: { readonly found: Found; readonly onReload: () => void }) {
  const rate = found.episodesPerSecond;
  return (
    <section className="stack" aria-label="Differences between the results">
      {found.finished ? null : (
        <Warning>
          One of the runs is still going on.{' '}
          <button type="button" className="link" onClick={onReload}>
            Look again
          </button>
        </Warning>
      )}
      <p>
        {found.total === 0
          ? `All ${formatPlural(found.pairs, 'pair')} are equal: status, steps, limits and every metric.`
          : `${formatPlural(found.total, 'difference')} in ${formatPlural(found.pairs, 'pair')}.`}{' '}
        <span className="muted figures">
          A {formatRate(rate.baseline)}, other {formatRate(rate.other)}
        </span>
      </p>
      {found.rows.length > 0 ? (
        <table className="compare-table fields">
          <thead>
            <tr>
              <th scope="col">Episode</th>
              <th scope="col">Field</th>
              <th scope="col" className="number">
                A, baseline
              </th>
              <th scope="col" className="number">
                Other
              </th>
            </tr>
          </thead>
          <tbody>
            {found.rows.map((row) => (
              <tr key={`${row.episodeId} ${row.episodeIndex} ${row.repeat} ${row.field}`}>
                <th scope="row">
                  {row.episodeId ?? row.episodeIndex}
                  {row.repeat > 0 ? ` (repeat ${row.repeat})` : ''}
                </th>
                <td>{row.field}</td>
                <td className="number">{row.baseline ?? '–'}</td>
                <td className="number">{row.other ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
      {found.total > found.rows.length ? (
        <p className="small muted">The first {formatCount(found.rows.length)} are shown.</p>
      ) : null}
    </section>
  );
}

const defaultEpisodes = 10;

/** The configuration of the baseline, the same episodes, once with one worker and once with as many as it had. */
function CheckForm({ pair }: { readonly pair: PairView }) {
  const { client, navigation } = useStudio();
  const action = useAction();
  const [episodes, setEpisodes] = useState(String(defaultEpisodes));
  const [workers, setWorkers] = useState('2');
  const [count, many] = [Number(episodes), Number(workers)];
  const isUsable =
    Number.isInteger(count) && count >= 1 && Number.isInteger(many) && many >= 2 && many <= 256;
  if (pair.baseline.importedFrom !== null) return null;
  const start = (): void =>
    action.run(async () => {
      const { record } = await client.request('runs.get', { runId: pair.baseline.runId });
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
