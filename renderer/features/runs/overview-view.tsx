// A run at a glance: metrics, workers while it lives, charts.
import { lazy, Suspense } from 'react';
import { isActive, type RunSession } from '../../store/run-session.ts';
import { Skeleton } from '../../ui/page.tsx';
import { BatchStrip } from './batch-strip.tsx';
import { MetricCards } from './metric-cards.tsx';
import type { LoadedState } from './run-page.tsx';
import { WorkerLanes } from './worker-lanes.tsx';

const Charts = lazy(() => import('./charts.tsx').then((module) => ({ default: module.Charts })));

export function OverviewView({
  session,
  state,
}: {
  readonly session: RunSession;
  readonly state: LoadedState;
}) {
  const { live, summary } = state;
  const batching = live?.batching ?? [];
  return (
    <div className="overview">
      {summary ? <MetricCards summary={summary} /> : <Skeleton lines={4} label="Reading the metrics" />}
      {isActive(state.status) && live && live.workers.length > 0 ? (
        <WorkerLanes runId={session.runId} workers={live.workers} />
      ) : null}
      {batching.length > 0 ? <BatchStrip batches={batching} /> : null}
      <Suspense fallback={<Skeleton lines={4} label="Drawing charts" />}>
        <Charts session={session} state={state} />
      </Suspense>
    </div>
  );
}
