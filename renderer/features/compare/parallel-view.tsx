// Is a parallel number right? What should be equal when only the number of workers changed.
import { useEffect, useRef } from 'react';
import type { RequestOutput } from '#contract/api.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout, Warning } from '../../ui/error-callout.tsx';
import { formatCount, formatPlural, formatRate } from '../../ui/format.ts';
import { Skeleton } from '../../ui/page.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { PairBar } from './pair-bar.tsx';
import { ParallelCheckForm } from './parallel-check-form.tsx';
import type { PairView } from './pair.ts';
import { useStanding } from './use-standing.ts';

const mostShown = 50;

export function ParallelView({ pair }: { readonly pair: PairView }) {
  const { client } = useStudio();
  const question = { baselineRun: pair.baseline.runId, otherRun: pair.other.runId };
  const loaded = useLoad(JSON.stringify(question), (signal) =>
    client.request('runs.parallelDifferences', { ...question, limit: mostShown }, signal),
  );
  const { reload } = loaded;
  const standing = useStanding([pair.baseline.runId, pair.other.runId]);
  const seen = useRef(standing);
  useEffect(() => {
    if (seen.current !== standing) reload();
    seen.current = standing;
  }, [standing, reload]);
  return (
    <>
      {pair.others.length > 1 ? <PairBar pair={pair} /> : null}
      <div className="compare-scroll">
        {loaded.error ? (
          <ErrorCallout title="The results could not be compared." error={loaded.error} />
        ) : null}
        {!loaded.value && !loaded.error ? <Skeleton lines={6} label="Comparing the results" /> : null}
        {loaded.value ? <Differences found={loaded.value} onReload={loaded.reload} /> : null}
        {pair.baseline.importedFrom === null ? <ParallelCheckForm runId={pair.baseline.runId} /> : null}
      </div>
    </>
  );
}

type Found = RequestOutput<'runs.parallelDifferences'>;

function verdict({ pairs, total }: Found): string {
  // Nothing compared is nothing proved.
  if (pairs === 0) return 'No episode has a result in both runs.';
  const compared = formatPlural(pairs, 'pair');
  return total === 0
    ? `All ${compared} are equal: status, steps, limits and every metric.`
    : `${formatPlural(total, 'difference')} in ${compared}.`;
}

function Differences({ found, onReload }: { readonly found: Found; readonly onReload: () => void }) {
  const rate = found.episodesPerSecond;
  return (
    <section className="stack" aria-label="Differences between the results">
      {found.finished ? null : (
        <Warning>
          One of the runs is still going on; this list is made anew when it ends.{' '}
          <button type="button" className="link" onClick={onReload}>
            Look again
          </button>
        </Warning>
      )}
      <p>
        {verdict(found)}{' '}
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
