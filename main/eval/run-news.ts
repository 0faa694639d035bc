// What is told of a run whenever its line of History changes, and when it ends, also one that never began.
import type { ErrorInfo } from '../contract/error.ts';
import type { RunRecord, RunStatus, RunSummary } from '../contract/run.ts';
import type { RunStore } from '../store/ports.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { EventSink } from './ports.ts';
import { runListItemOf } from './run-list-item.ts';

/** News that cannot be told are logged: whoever listens must not decide over a run. */
export function tolerantEvents(events: EventSink, logger: Logger): EventSink {
  return {
    publish(name, payload) {
      try {
        events.publish(name, payload);
      } catch (error) {
        logger.error('news could not be told', { name, error: messageOf(error) });
      }
    },
  };
}

export function tellChanged(events: EventSink, record: RunRecord, summary: RunSummary): void {
  events.publish('run.changed', { runId: record.runId, item: runListItemOf(record, summary) });
}

export interface RunEnding {
  readonly status: RunStatus;
  readonly error: ErrorInfo | null;
}

export function tellEnded(
  events: EventSink,
  record: RunRecord,
  summary: RunSummary,
  ending: RunEnding,
): void {
  const { runId } = record;
  const item = runListItemOf({ ...record, status: ending.status }, summary);
  events.publish('run.changed', { runId, item });
  events.publish('run.finished', { runId, ...ending, item });
}

/** Ends a run that waited in the queue. */
export async function endQueuedRun(
  { store, events }: { readonly store: RunStore; readonly events: EventSink },
  runId: string,
  ending: { readonly status: 'cancelled' | 'failed'; readonly error: ErrorInfo | null },
): Promise<void> {
  await using handle = await store.open(runId);
  const summary = await handle.finish(ending.status, { error: ending.error }).catch((error: unknown) => {
    // Told as recorded: what is missing beside the record is made again.
    if (handle.record.status !== ending.status) throw error;
    return handle.live(0);
  });
  tellEnded(events, handle.record, summary, ending);
}
