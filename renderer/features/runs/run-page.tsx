// One run, live or finished: the same page for both. Head and progress stay; the views below are the address's.
import { Tabs } from '@base-ui/react/tabs';
import { useEffect, useMemo, useState } from 'react';
import { formatAddress, home, runViews, type RunViewName } from '../../store/address.ts';
import { isActive, type RunSession, type RunSessionState } from '../../store/run-session.ts';
import { useAddress, useCommand, useSessionState, useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount, formatWord } from '../../ui/format.ts';
import { EmptyState, PageHead, Skeleton } from '../../ui/page.tsx';
import { ConfigurationView } from './configuration-view.tsx';
import { EpisodesView } from './episodes-view.tsx';
import { OverviewView } from './overview-view.tsx';
import { RunHeader } from './run-header.tsx';
import { RunProgress } from './run-progress.tsx';
import { RunTrouble } from './run-trouble.tsx';

const viewTitles: Readonly<Record<RunViewName, string>> = {
  overview: 'Overview',
  episodes: 'Episodes',
  configuration: 'Configuration',
};

export function RunPage({ runId }: { readonly runId: string }) {
  const studio = useStudio();
  const session = useMemo(() => studio.session(runId), [studio, runId]);
  const state = useSessionState(session);
  const { record } = state;
  if (state.isDeleted) return <Gone title="This run was deleted" />;
  if (state.error && !record)
    return (
      <>
        <PageHead title={runId} />
        <div className="page-body padded">
          <ErrorCallout title="The run could not be opened." error={state.error}>
            <button type="button" className="button" onClick={() => void session.refresh()}>
              Try again
            </button>
            <a className="button" href={formatAddress({ ...home, page: 'history' })}>
              Go to History
            </a>
          </ErrorCallout>
        </div>
      </>
    );
  if (!record)
    return (
      <>
        <PageHead title={runId} />
        <div className="page-body padded">
          <Skeleton lines={8} label="Opening the run" />
        </div>
      </>
    );
  return <LoadedRun session={session} state={{ ...state, record }} />;
}

export type LoadedState = RunSessionState & { readonly record: NonNullable<RunSessionState['record']> };

function LoadedRun({ session, state }: { readonly session: RunSession; readonly state: LoadedState }) {
  const { navigation } = useStudio();
  const { view } = useAddress();
  const show = (next: RunViewName): void => navigation.change({ view: next });
  useCommand('run.view.next', () =>
    show(runViews[(runViews.indexOf(view) + 1) % runViews.length] ?? 'overview'),
  );
  const total = state.rows?.total ?? state.summary?.counts.planned ?? 0;
  return (
    <>
      <RunHeader session={session} state={state} />
      <RunProgress state={state} />
      <Announcer state={state} />
      <RunTrouble state={state} />
      <Tabs.Root className="run-tabs" value={view} onValueChange={(next: RunViewName) => show(next)}>
        <Tabs.List className="tabs" aria-label="Views of the run">
          {runViews.map((name) => (
            <Tabs.Tab key={name} className="tab" value={name}>
              {viewTitles[name]}
              {name === 'episodes' && total > 0 ? <span className="faint"> {formatCount(total)}</span> : null}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel className="run-panel" value="overview">
          <OverviewView session={session} state={state} />
        </Tabs.Panel>
        <Tabs.Panel className="run-panel" value="episodes" tabIndex={-1}>
          <EpisodesView session={session} state={state} />
        </Tabs.Panel>
        <Tabs.Panel className="run-panel" value="configuration">
          <ConfigurationView state={state} />
        </Tabs.Panel>
      </Tabs.Root>
    </>
  );
}

const announceEveryMs = 15_000;

/** For those who do not see the bar: progress now and then, the end at once. */
function Announcer({ state }: { readonly state: LoadedState }) {
  const counts = state.summary?.counts;
  const status = state.status ?? 'queued';
  const said = counts
    ? `${formatWord(status)}, ${counts.planned - counts.notRun} of ${counts.planned} episodes done`
    : formatWord(status);
  const [shown, setShown] = useState(said);
  const [isDue, setDue] = useState(true);
  useEffect(() => {
    const timer = setInterval(() => setDue(true), announceEveryMs);
    return () => clearInterval(timer);
  }, []);
  if (said !== shown && (isDue || !isActive(state.status))) {
    setShown(said);
    setDue(false);
  }
  return (
    <div className="visually-hidden" aria-live="polite">
      {shown}
    </div>
  );
}

function Gone({ title }: { readonly title: string }) {
  return (
    <>
      <PageHead title="Run" />
      <div className="page-body">
        <EmptyState
          title={title}
          actions={
            <a className="button primary" href={formatAddress({ ...home, page: 'history' })}>
              Go to History
            </a>
          }
        />
      </div>
    </>
  );
}
