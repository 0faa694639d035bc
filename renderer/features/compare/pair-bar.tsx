// Which other run and which metric the view is about.
import { useStudio } from '../../store/use-studio.tsx';
import { letterOf, type PairView } from './pair.ts';

export interface PairBarProps {
  readonly pair: PairView;
  readonly withMetric?: boolean;
  readonly children?: React.ReactNode;
}

export function PairBar({ pair, withMetric = false, children }: PairBarProps) {
  const { navigation } = useStudio();
  const { others, other, metric, comparison } = pair;
  return (
    <div className="toolbar">
      {others.length > 1 ? (
        <label className="row">
          <span className="muted">A against</span>
          <select
            className="select small-select"
            value={other.runId}
            onChange={(event) => navigation.change({ other: event.target.value })}
          >
            {others.map((run, at) => (
              <option key={run.runId} value={run.runId}>
                {letterOf(at + 1)} {run.name}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {withMetric && metric ? (
        <label className="row">
          <span className="muted">Metric</span>
          <select
            className="select small-select"
            value={metric.name}
            onChange={(event) => navigation.change({ metric: event.target.value })}
          >
            {comparison.sharedMetrics.map((option) => (
              <option key={option.name}>{option.name}</option>
            ))}
          </select>
        </label>
      ) : null}
      {children}
    </div>
  );
}
