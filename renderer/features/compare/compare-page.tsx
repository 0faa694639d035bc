// Compare: two or more runs, the first one the baseline. What was chosen, whether it may be compared, and the views.
import { Tabs } from '@base-ui/react/tabs';
import { useEffect, useRef } from 'react';
import type { Comparison } from '#contract/compare.ts';
import { formatAddress, home } from '../../store/address.ts';
import { useAddress, useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { EmptyState, PageHead, Skeleton } from '../../ui/page.tsx';
import { useLoad } from '../../ui/use-request.ts';
import { Comparability } from './comparability.tsx';
import { ChosenRuns } from './chosen-runs.tsx';
import { useComparisonExport } from './comparison-export.tsx';
import { FlipsView } from './flips-view.tsx';
import { GraphsView } from './graphs-view.tsx';
import { GroupsView } from './groups-view.tsx';
import { MetricsView } from './metrics-view.tsx';
import { ParallelCheckForm } from './parallel-check-form.tsx';
import { ParallelView } from './parallel-view.tsx';
import { ProvenanceView } from './provenance-view.tsx';
import type { PairView } from './pair.ts';
import { useStanding } from './use-standing.ts';

const views = [
  { name: 'metrics', label: 'Metrics' },
  { name: 'episodes', label: 'Episodes' },
  { name: 'groups', label: 'Groups' },
  { name: 'graph', label: 'Graph' },
  { name: 'provenance', label: 'Provenance' },
  { name: 'parallel', label: 'Same results?' },
] as const;

export function ComparePage() {
  const { client, navigation } = useStudio();
  const { runs, common } = useAddress();
  const isReady = runs.length >= 2;
  const loaded = useLoad(isReady ? `${runs.join(',')} ${common}` : null, (signal) =>
    client.request('runs.compare', { runIds: [...runs], commonOnly: common }, signal),
  );
  const { reload } = loaded;
  const standing = useStanding(runs);
  const seen = useRef(standing);
  useEffect(() => {
    if (seen.current !== standing) reload();
    seen.current = standing;
  }, [standing, reload]);
  const { menu, trouble } = useComparisonExport(runs, common);
  const comparison = loaded.value;
  return (
    <>
      <PageHead
        title="Compare"
        sub="The first run is the baseline; differences are the other run minus the baseline"
      >
        {comparison && !comparison.refused ? menu : null}
      </PageHead>
      <ChosenRuns
        runIds={runs}
        comparison={comparison}
        onChange={(next) => navigation.change({ runs: next })}
      />
      {trouble}
      {!isReady ? (
        <div className="page-body">
          {runs[0] === undefined ? null : (
            <div className="compare-scroll">
              <ParallelCheckForm runId={runs[0]} />
            </div>
          )}
          <EmptyState
            title={runs.length === 0 ? 'Choose two or more runs' : 'Choose a run to compare with'}
            actions={
              <a className="button" href={formatAddress({ ...home, page: 'history' })}>
                Tick runs in History
              </a>
            }
          >
            <p>
              Runs are compared pair by pair: the same episode and repeat in both. Add them with the button
              above, or tick them in History.
            </p>
          </EmptyState>
        </div>
      ) : loaded.error ? (
        <div className="padded">
          <ErrorCallout title="The runs could not be compared." error={loaded.error}>
            <button type="button" className="button" onClick={loaded.reload}>
              Try again
            </button>
          </ErrorCallout>
        </div>
      ) : comparison ? (
        <Compared comparison={comparison} />
      ) : (
        <div className="padded">
          <Skeleton lines={8} label="Comparing the runs" />
        </div>
      )}
    </>
  );
}

function Compared({ comparison }: { readonly comparison: Comparison }) {
  const { navigation } = useStudio();
  const { tab, metric, other, differing } = useAddress();
  const [baseline, ...others] = comparison.runs;
  const against = others.find((run) => run.runId === other) ?? others[0];
  const definition =
    comparison.sharedMetrics.find((candidate) => candidate.name === metric) ?? comparison.sharedMetrics[0];
  if (!baseline || !against) return null;
  const view = views.find((candidate) => candidate.name === tab)?.name ?? 'metrics';
  const pair: PairView = { comparison, baseline, other: against, others, metric: definition ?? null };
  const only = {
    isOnlyDifferent: differing,
    onOnlyDifferent: (is: boolean) => navigation.change({ differing: is }),
  };
  return (
    <>
      <Comparability comparison={comparison} />
      <Tabs.Root
        className="run-tabs"
        value={view}
        onValueChange={(next: string) => navigation.change({ tab: next === 'metrics' ? null : next })}
      >
        <Tabs.List className="tabs" aria-label="Views of the comparison">
          {views.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name} className="tab">
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {views.map(({ name }) => (
          <Tabs.Panel key={name} value={name} className="run-panel">
            {name === view ? <View name={name} pair={pair} only={only} /> : null}
          </Tabs.Panel>
        ))}
      </Tabs.Root>
    </>
  );
}

interface ViewProps {
  readonly name: (typeof views)[number]['name'];
  readonly pair: PairView;
  readonly only: { readonly isOnlyDifferent: boolean; readonly onOnlyDifferent: (is: boolean) => void };
}

function View({ name, pair, only }: ViewProps) {
  const isRefused = pair.comparison.refused;
  if (isRefused && (name === 'metrics' || name === 'episodes' || name === 'groups'))
    return (
      <p className="padded muted">Nothing is compared until you choose to use the episodes in common.</p>
    );
  switch (name) {
    case 'metrics':
      return <MetricsView pair={pair} {...only} />;
    case 'episodes':
      return <FlipsView pair={pair} />;
    case 'groups':
      return <GroupsView pair={pair} />;
    case 'graph':
      return <GraphsView pair={pair} />;
    case 'provenance':
      return <ProvenanceView pair={pair} {...only} />;
    case 'parallel':
      return <ParallelView pair={pair} />;
  }
}
