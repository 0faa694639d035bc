// Name, status and what can be done with the run. What each button does is written on it.
import { useState } from 'react';
import { formatAddress, home } from '../../store/address.ts';
import { isActive, type RunSession } from '../../store/run-session.ts';
import { useAddress, useCommand, useStudio, useStudioState } from '../../store/use-studio.tsx';
import { ActionMenu } from '../../ui/action-menu.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount, formatDate, formatPlural } from '../../ui/format.ts';
import { PageHead } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { Tip } from '../../ui/tip.tsx';
import { DeleteRuns } from './delete-runs.tsx';
import { EditRun } from './edit-run.tsx';
import type { LoadedState } from './run-page.tsx';
import { useRunActions, type RunActions } from './use-run-actions.ts';

export function RunHeader({ session, state }: { readonly session: RunSession; readonly state: LoadedState }) {
  const { navigation } = useStudio();
  const { page } = useAddress();
  const { record } = state;
  const status = state.status ?? record.status;
  const actions = useRunActions(session.runId);
  const [open, setOpen] = useState<'none' | 'edit' | 'delete'>('none');
  const canOpenFolder = useStudioState((studio) => studio.info?.capabilities.includes('openFolder') ?? false);
  const facts = [record.graphName, record.envName, record.split, formatDate(record.createdAt)]
    .filter(Boolean)
    .join(' · ');
  return (
    <>
      <PageHead title={record.name} sub={facts}>
        {record.parentRun ? (
          <a className="small" href={formatAddress({ ...home, page: 'history', run: record.parentRun })}>
            From an earlier run
          </a>
        ) : null}
        <span data-testid="run-status">
          <Status status={status} />
        </span>
        <RunButtons state={state} actions={actions} />
        <ActionMenu
          label="More actions"
          groups={[
            [
              { label: 'Rename, tags and note', run: () => setOpen('edit') },
              { label: 'Duplicate as new', run: actions.duplicate },
              ...(canOpenFolder ? [{ label: 'Open folder', run: actions.openFolder }] : []),
            ],
            [
              { label: 'Export CSV', run: () => actions.exportAs('csv') },
              { label: 'Export JSON', run: () => actions.exportAs('json') },
              { label: 'Export JSONL', run: () => actions.exportAs('jsonl') },
            ],
            [
              {
                label: 'Delete',
                isDangerous: true,
                isDisabled: isActive(status) && status !== 'queued',
                run: () => setOpen('delete'),
              },
            ],
          ]}
        />
      </PageHead>
      {actions.action.error ? (
        <div className="run-trouble">
          <ErrorCallout error={actions.action.error}>
            {actions.action.error.code === 'conflict' ? (
              <button type="button" className="button" onClick={() => actions.resume(true)}>
                Resume with these differences
              </button>
            ) : null}
          </ErrorCallout>
        </div>
      ) : null}
      {open === 'edit' ? <EditRun run={{ ...record }} onClose={() => setOpen('none')} /> : null}
      <DeleteRuns
        runs={open === 'delete' ? [{ runId: record.runId, name: record.name }] : []}
        onClose={() => setOpen('none')}
        onDeleted={() => navigation.go({ page: page === 'evaluate' ? 'evaluate' : 'history' })}
      />
    </>
  );
}

function RunButtons({ state, actions }: { readonly state: LoadedState; readonly actions: RunActions }) {
  const status = state.status ?? state.record.status;
  const missing = state.summary?.counts.notRun ?? 0;
  const inFlight = state.summary?.counts.running ?? 0;
  const canStop = status === 'running' || status === 'preparing';
  const canCancel = isActive(status);
  const canResume = !isActive(status) && (missing > 0 || status === 'interrupted' || status === 'paused');
  const { isBusy } = actions.action;
  useCommand('run.stop', canStop ? actions.stop : null);
  useCommand('run.cancel', canCancel ? actions.cancel : null);
  useCommand('run.resume', canResume ? () => actions.resume() : null);
  return (
    <div className="row">
      {canStop ? (
        <Tip text="Stop the run" command="run.stop">
          <button type="button" className="button tall" disabled={isBusy} onClick={actions.stop}>
            Stop
            <span className="says">
              {inFlight > 0
                ? `finish ${formatCount(inFlight)} in flight, resumable`
                : 'finish those in flight, resumable'}
            </span>
          </button>
        </Tip>
      ) : null}
      {canCancel ? (
        <Tip
          text={status === 'queued' ? 'Take the run out of the queue' : 'Cancel the run'}
          command="run.cancel"
        >
          <button type="button" className="button tall danger" disabled={isBusy} onClick={actions.cancel}>
            Cancel
            <span className="says">
              {status === 'queued' ? 'leave the queue' : 'end episodes now, resumable'}
            </span>
          </button>
        </Tip>
      ) : null}
      {canResume ? (
        <Tip text="Resume the run" command="run.resume">
          <button
            type="button"
            className="button tall primary"
            disabled={isBusy}
            onClick={() => actions.resume()}
          >
            Resume
            <span className="says">
              {missing > 0 ? `run the ${formatPlural(missing, 'missing episode')}` : 'finish the run'}
            </span>
          </button>
        </Tip>
      ) : null}
    </div>
  );
}
