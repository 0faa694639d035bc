// What went wrong with a run as a whole: what happened, what was lost, and what to do about it.
import { isActive } from '../../store/run-session.ts';
import { ErrorCallout, Warning } from '../../ui/error-callout.tsx';
import { formatCount, formatPlural } from '../../ui/format.ts';
import type { LoadedState } from './run-page.tsx';
import { useRunActions } from './use-run-actions.ts';

export function RunTrouble({ state }: { readonly state: LoadedState }) {
  const { record, status } = state;
  const active = isActive(status);
  const down = active ? (state.live?.workers.filter(({ phase }) => phase === 'down') ?? []) : [];
  const isPaused = record.pausedBecause !== null && status === 'paused';
  const isShown =
    (record.error !== null && !active) ||
    state.error !== null ||
    isPaused ||
    status === 'interrupted' ||
    down.length > 0;
  if (!isShown) return null;
  const missing = missingText(state);
  return (
    <div className="run-trouble stack">
      {state.error ? <ErrorCallout title="The run could not be read anew." error={state.error} /> : null}
      {record.error && !active ? (
        <ErrorCallout title="The run ended with an error." error={record.error} />
      ) : null}
      {isPaused ? (
        <Warning>
          Paused: {record.pausedBecause} {missing}
        </Warning>
      ) : null}
      {status === 'interrupted' ? (
        <Warning>AgentCanvas ended while this run was going on. {missing}</Warning>
      ) : null}
      {down.length > 0 ? <SlotsDown runId={record.runId} down={down} state={state} /> : null}
    </div>
  );
}

function missingText({ summary }: LoadedState): string {
  const counts = summary?.counts;
  if (!counts) return 'Nothing that was finished is lost.';
  const share = `${formatCount(counts.notRun)} of ${formatPlural(counts.planned, 'episode')}`;
  const verb = counts.notRun === 1 ? 'is' : 'are';
  return `Nothing that was finished is lost; ${share} ${verb} missing. Resume runs exactly those.`;
}

type Workers = NonNullable<LoadedState['live']>['workers'];

/** A worker that is down stays so until the run begins its next session. */
function SlotsDown({
  runId,
  down,
  state,
}: {
  readonly runId: string;
  readonly down: Workers;
  readonly state: LoadedState;
}) {
  const { action, stop } = useRunActions(runId);
  const all = state.live?.workers.length ?? down.length;
  const reason = down.find(({ downReason }) => downReason)?.downReason;
  return (
    <Warning>
      <div className="stack">
        <div>
          {formatCount(down.length)} of {formatPlural(all, 'worker')} {down.length === 1 ? 'is' : 'are'} down:
          its process ended again and again
          {reason ? ` (${reason})` : ''}. Nothing is lost; the run goes on with the others. To have every
          worker again, pause the run and resume it.
        </div>
        {state.status === 'running' ? (
          <div className="row wrap">
            <button type="button" className="button" disabled={action.isBusy} onClick={stop}>
              Pause for fresh workers
            </button>
          </div>
        ) : null}
      </div>
    </Warning>
  );
}
