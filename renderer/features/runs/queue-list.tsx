// Runs that wait for the guard, in the order they will start.
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { formatAddress, home } from '../../store/address.ts';
import { useStudio, useStudioState } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatPlural } from '../../ui/format.ts';
import { useAction, useLoad } from '../../ui/use-request.ts';

export function QueueList() {
  const { client } = useStudio();
  const queue = useStudioState((state) => state.queue);
  const holder = useStudioState((state) => state.guard.holder);
  const action = useAction();
  const items = useLoad(queue.length === 0 ? null : queue.join(' '), (signal) =>
    client.request('runs.list', { statuses: ['queued'], limit: 1000 }, signal),
  );
  if (queue.length === 0) return null;
  const swap = (from: number, to: number): void =>
    action.run(async () => {
      const runIds = [...queue];
      [runIds[from], runIds[to]] = [runIds[to] ?? '', runIds[from] ?? ''];
      await client.request('runs.reorderQueue', { runIds });
    });
  const remove = (runId: string): void =>
    action.run(async () => void (await client.request('runs.cancel', { runId })));
  return (
    <section className="queue" aria-label="Queue">
      <h2>
        {formatPlural(queue.length, 'run')} in the queue
        {holder ? <span className="muted small"> starting when {holder.label} ends</span> : null}
      </h2>
      {action.error ? <ErrorCallout title="The queue was not changed." error={action.error} /> : null}
      <ol>
        {queue.map((runId, at) => {
          const item = items.value?.rows.find((candidate) => candidate.runId === runId);
          const name = item?.name ?? runId;
          return (
            <li key={runId} className="row">
              <span className="faint figures">{at + 1}</span>
              <a className="clip" href={formatAddress({ ...home, page: 'history', run: runId })}>
                {name}
              </a>
              <span className="grow small muted clip">
                {item
                  ? [
                      item.graphName,
                      item.split,
                      item.counts.planned > 0 ? formatPlural(item.counts.planned, 'episode') : null,
                    ]
                      .filter(Boolean)
                      .join(' · ')
                  : ''}
              </span>
              <button
                type="button"
                className="button plain icon"
                aria-label={`Move ${name} up`}
                disabled={at === 0 || action.isBusy}
                onClick={() => swap(at, at - 1)}
              >
                <ArrowUp size={14} aria-hidden="true" />
              </button>
              <button
                type="button"
                className="button plain icon"
                aria-label={`Move ${name} down`}
                disabled={at === queue.length - 1 || action.isBusy}
                onClick={() => swap(at, at + 1)}
              >
                <ArrowDown size={14} aria-hidden="true" />
              </button>
              <button
                type="button"
                className="button plain icon"
                aria-label={`Take ${name} out of the queue`}
                disabled={action.isBusy}
                onClick={() => remove(runId)}
              >
                <X size={14} aria-hidden="true" />
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
