// Every shared metric of every other run against the baseline: both values, difference with interval, test, pairs.
import type { MetricComparisonView } from '#contract/compare.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { Check } from '../../ui/field.tsx';
import { formatCount } from '../../ui/format.ts';
import { Difference } from './difference.tsx';
import { formatMean, unitOf } from './difference-text.ts';
import { EpisodesNeeded } from './episodes-needed.tsx';
import { formatPValue, intervalNamesOf, isSignificant, testName } from './p-value.ts';
import { letterOf, type PairView } from './pair.ts';

export interface MetricsViewProps {
  readonly pair: PairView;
  readonly isOnlyDifferent: boolean;
  readonly onOnlyDifferent: (is: boolean) => void;
}

export function MetricsView({ pair, isOnlyDifferent, onOnlyDifferent }: MetricsViewProps) {
  const { comparison, others } = pair;
  const tests = comparison.metrics.filter((row) => row.pValue !== null).length;
  return (
    <div className="compare-scroll">
      <div className="row wrap compare-tools">
        <Check label="Only differences" isChecked={isOnlyDifferent} onChange={onOnlyDifferent} />
        <span className="small muted">
          Intervals are 95 %, {intervalNamesOf(comparison.metrics)}. Adjusted: Holm over all{' '}
          {formatCount(tests)} tests.
        </span>
      </div>
      {others.map((other, at) => (
        <MetricTable
          key={other.runId}
          title={others.length > 1 ? `${letterOf(at + 1)}  ${other.name}` : null}
          letter={letterOf(at + 1)}
          rows={comparison.metrics.filter(
            (row) => row.runId === other.runId && (!isOnlyDifferent || row.difference !== 0),
          )}
        />
      ))}
      {comparison.sharedMetrics.length === 0 ? (
        <p className="muted">The runs have no metric in common.</p>
      ) : null}
      {pair.metric ? <EpisodesNeeded pair={pair} /> : null}
    </div>
  );
}

interface MetricTableProps {
  readonly title: string | null;
  readonly letter: string;
  readonly rows: readonly MetricComparisonView[];
}

function MetricTable({ title, letter, rows }: MetricTableProps) {
  if (rows.length === 0) return <p className="muted">{title} No metric differs.</p>;
  return (
    <section aria-label={title ?? 'Metrics'}>
      {title ? <h2 className="compare-title">{title}</h2> : null}
      {/* A table that scrolls sideways must be reachable without a mouse. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role */}
      <div className="wide-table" tabIndex={0} role="group" aria-label={`Table of ${title ?? 'metrics'}`}>
        <table className="compare-table">
          <thead>
            <tr>
              <th scope="col">Metric</th>
              <th scope="col" className="number">
                A, baseline
              </th>
              <th scope="col" className="number">
                {letter}
              </th>
              <th scope="col" className="number">
                Difference
              </th>
              <th scope="col" className="number">
                95 % interval
              </th>
              <th scope="col" className="number">
                p
              </th>
              <th scope="col" className="number">
                Adjusted
              </th>
              <th scope="col" className="number">
                Pairs
              </th>
              <th scope="col" className="number">
                Won
              </th>
              <th scope="col" className="number">
                Lost
              </th>
              <th scope="col" className="number">
                Same
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <MetricLine key={row.metric.name} row={row} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function MetricLine({ row }: { readonly row: MetricComparisonView }) {
  const { navigation } = useStudio();
  const { metric } = row;
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          className="link"
          title={`Episodes by ${metric.name}`}
          onClick={() => navigation.change({ metric: metric.name, other: row.runId, tab: 'episodes' })}
        >
          {metric.name}
        </button>
        <span className="faint"> {unitOf(metric)}</span>
        {row.basis === 'completed_only' ? <div className="small faint">completed episodes only</div> : null}
      </th>
      <td className="number">{formatMean(row.baselineMean, metric)}</td>
      <td className="number">{formatMean(row.otherMean, metric)}</td>
      <Difference row={row} />
      <td className="number" title={testName(row.test)}>
        {formatPValue(row.pValue)}
        <div className="small faint test-name">{testName(row.test)}</div>
      </td>
      <td className="number">
        {isSignificant(row) ? (
          <strong>{formatPValue(row.adjustedPValue)}</strong>
        ) : (
          formatPValue(row.adjustedPValue)
        )}
      </td>
      <td className="number">
        {formatCount(row.pairs)}
        {row.leftOut > 0 ? <div className="small faint">{formatCount(row.leftOut)} left out</div> : null}
      </td>
      <td className="number">{formatCount(row.won)}</td>
      <td className="number">{formatCount(row.lost)}</td>
      <td className="number">{formatCount(row.same)}</td>
    </tr>
  );
}
