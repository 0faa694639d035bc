// Requests about runs: start and stop, lists and tables, exports.
import type { CompareRequests } from './compare-handlers.ts';
import type { Handlers } from './dispatch.ts';
import type { ParsedInput, RequestOutput } from './contract/api.ts';
import { runStatus } from './contract/run.ts';
import { exportTypes } from './store/run-document.ts';
import { StudioError, messageOf } from './base/errors.ts';
import { refuseUntrustedHooks } from './code-trust.ts';
import type { HandlerServices } from './request-handlers.ts';
import type { TransferRequests } from './transfer-handlers.ts';

type RunRequests = Exclude<Extract<keyof Handlers, `runs.${string}`>, CompareRequests | TransferRequests>;

export function createRunHandlers(
  services: HandlerServices,
  writable: () => void,
): Pick<Handlers, RunRequests> {
  const { access, store, graphs, runs } = services;
  return {
    'runs.preflight': async ({ config }, signal) => runs.preflight(config, signal),
    'runs.start': async (input) => {
      writable();
      return startRun(services, input);
    },
    'runs.resume': async ({ runId, acceptDifferences }) => {
      writable();
      const record = await store.readRecord(runId);
      await refuseUntrustedHooks(
        graphs.parse(await store.readGraphText(runId)),
        record.graphPath,
        access.trust,
      );
      return runs.resume(runId, { acceptDifferences });
    },
    'runs.stop': async ({ runId }) => {
      await runs.stop(runId);
      return {};
    },
    'runs.cancel': async ({ runId }) => {
      await runs.cancel(runId);
      return {};
    },
    'runs.live': async ({ runId }) => runs.live(runId),
    'runs.queue': async () => ({ runIds: [...runs.queue()] }),
    'runs.reorderQueue': async ({ runIds }) => {
      await runs.reorderQueue(runIds);
      return {};
    },
    'runs.frame': async ({ runId, worker }) =>
      runs.activeRunId === runId ? services.recordings.frame(runId, worker) : null,
    ...tableHandlers(services),
    ...keepingHandlers(services, writable),
  };
}

/** Refuses a graph whose commands nobody trusts. */
export async function startRun(
  { access, graphs, runs, layout }: HandlerServices,
  { config, whenBusy, parentRun }: ParsedInput<'runs.start'>,
): ReturnType<HandlerServices['runs']['start']> {
  const { item, definition } = await graphs.load(config.graph);
  const file = item.origin === 'library' ? layout.resources : item.ref;
  await refuseUntrustedHooks(definition, file, access.trust);
  return runs.start({ config, whenBusy, parentRun });
}

type TableRequests = 'runs.list' | 'runs.get' | 'runs.episodes' | 'runs.attempts' | 'runs.export';

function tableHandlers({ store, runs, agentCanvasRuns }: HandlerServices): Pick<Handlers, TableRequests> {
  return {
    'runs.list': async ({ offset, limit, search, statuses, sort }) => {
      await agentCanvasRuns?.beforeListing();
      const known = statuses.map((status) => runStatus.parse(status));
      const { items, total } = await store.list({ offset, limit, search, statuses: known, sort: [sort] });
      return { rows: [...items], total };
    },
    'runs.get': async ({ runId }) => {
      const { plan: _plan, ...record } = await store.readRecord(runId);
      const live = runs.live(runId);
      return {
        record: live ? { ...record, status: live.status } : record,
        summary: live?.summary ?? (await store.readSummary(runId)),
        folder: store.folderOf(runId),
      };
    },
    'runs.episodes': async (query) => {
      const { items, total } = await store.listEpisodes(query.runId, {
        offset: query.offset,
        limit: query.limit,
        sort: query.sort.map(({ column, descending }) => ({
          column: column.replace(/^metrics\./, ''),
          descending,
        })),
        expression: query.filter,
        filters: query.statuses.length > 0 ? [{ column: 'status', in: query.statuses }] : [],
      });
      return { rows: [...items], total };
    },
    'runs.attempts': async ({ runId, ordinal }) => {
      const attempts: RequestOutput<'runs.attempts'>['attempts'] = [];
      for await (const attempt of store.readAttempts(runId))
        if (attempt.ordinal === ordinal) attempts.push(attempt);
      return { attempts };
    },
    'runs.export': async ({ runId, format, filter }) => {
      const { mimeType, extension } = exportTypes[format];
      let content = '';
      for await (const part of store.export({ runId, format, query: { expression: filter } }))
        content += part;
      return { fileName: `${runId}.${extension}`, mimeType, content };
    },
  };
}

type KeepingRequests = 'runs.update' | 'runs.delete' | 'runs.rebuildIndex';

function keepingHandlers(
  { store, runs, feed }: HandlerServices,
  writable: () => void,
): Pick<Handlers, KeepingRequests> {
  return {
    'runs.update': async ({ runId, name, tags, note }) => {
      writable();
      await store.annotate(runId, {
        ...(name !== undefined && { name }),
        ...(tags && { tags }),
        ...(note !== undefined && { note }),
      });
      const { items } = await store.list({ search: runId, limit: 10 });
      const item = items.find((candidate) => candidate.runId === runId);
      if (item) feed.publish('run.changed', { runId, item });
      return {};
    },
    'runs.delete': async ({ runIds }) => {
      writable();
      const deleted: string[] = [];
      for (const runId of runIds) {
        if (runs.activeRunId === runId)
          throw new StudioError('conflict', `${runId} is running. Cancel it first.`);
        await store.delete(runId);
        deleted.push(runId);
        feed.publish('run.deleted', { runId });
      }
      return { deleted };
    },
    'runs.rebuildIndex': async () => {
      writable();
      const report = await store.rebuildIndex().catch((error: unknown) => {
        throw new StudioError('io_failed', `The index could not be built: ${messageOf(error)}`, {
          cause: error,
        });
      });
      return {
        runs: report.runs,
        problems: report.unreadable.map(({ runId, message }) => `${runId}: ${message}`),
      };
    },
  };
}
