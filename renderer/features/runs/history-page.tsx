// History: every run of the workspace, newest first, read page by page from the index.
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { RunListItem } from '#contract/run.ts';
import { formatAddress, home } from '../../store/address.ts';
import { isActive } from '../../store/run-session.ts';
import { useAddress, useStudio, useStudioState } from '../../store/use-studio.tsx';
import { DataGrid } from '../../ui/data-grid.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatPlural } from '../../ui/format.ts';
import { nextSort } from '../../ui/next-sort.ts';
import { EmptyState, PageHead, Skeleton } from '../../ui/page.tsx';
import { recall, remember } from '../../ui/storage.ts';
import { useAction, type Action } from '../../ui/use-request.ts';
import { DeleteRuns } from './delete-runs.tsx';
import { EditRun } from './edit-run.tsx';
import { historyColumns } from './history-columns.tsx';
import { HistoryMenu, MenuButton, type MenuTarget } from './history-menu.tsx';
import { HistoryToolbar } from './history-toolbar.tsx';
import { PagedRows } from '../../ui/paged-rows.ts';
import { QueueList } from './queue-list.tsx';

const newestFirst = { column: 'createdAt', descending: true } as const;

export function HistoryPage() {
  const { client, navigation } = useStudio();
  const address = useAddress();
  const list = useRunList();
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [editing, setEditing] = useState<RunListItem | null>(null);
  const [deleting, setDeleting] = useState<readonly RunListItem[]>([]);
  const [active, setActive] = useState<string | null>(recallSelected);
  const itemAt = useFreshItems(list);
  const tick = useCallback((runId: string) => {
    setTicked((before) => {
      const next = new Set(before);
      if (!next.delete(runId)) next.add(runId);
      return next;
    });
  }, []);
  const action = useAction();
  const [target, setTarget] = useState<MenuTarget | null>(null);
  const { run } = action;
  const resume = useCallback(
    (item: RunListItem) =>
      run(async () => {
        await client.request('runs.resume', { runId: item.runId });
        navigation.go({ page: 'evaluate', run: item.runId });
      }),
    [run, client, navigation],
  );
  const columns = useMemo(
    () =>
      historyColumns({
        ticked,
        onTick: tick,
        onTag: (tag) => navigation.change({ search: tag }),
        onResume: resume,
        menu: (item) => <MenuButton item={item} onMenu={setTarget} />,
      }),
    [ticked, tick, navigation, resume],
  );
  const mark = useCallback(
    (position: number) => {
      const runId = list.get(position)?.runId ?? null;
      setActive(runId);
      remember('history.selected', runId);
    },
    [list],
  );
  const open = useCallback(
    (position: number) => {
      const item = list.get(position);
      if (item) navigation.go({ page: 'history', run: item.runId });
    },
    [list, navigation],
  );
  const sort = [address.runSort ?? newestFirst];
  const tickedItems = [...ticked].map((runId) => itemAt(list.find((row) => row.runId === runId)));
  return (
    <>
      <PageHead
        title="History"
        sub={list.total === null ? 'All runs of the workspace' : formatPlural(list.total, 'run')}
      >
        <TickedActions
          ticked={[...ticked]}
          onDelete={() => setDeleting(tickedItems.filter((item) => item !== undefined))}
          onClear={() => setTicked(new Set())}
        />
      </PageHead>
      <QueueList />
      <HistoryTrouble list={list} action={action} />
      <DataGrid<RunListItem>
        label="Runs"
        storageKey="history"
        columns={columns}
        count={list.total ?? 0}
        itemAt={(position) => {
          const item = itemAt(position);
          return item ? { kind: 'row', key: item.runId, row: item } : undefined;
        }}
        version={list.version}
        sort={sort}
        onSort={(column) =>
          navigation.change({ runSort: nextSort(address.runSort ? sort : [], column, false)[0] ?? null })
        }
        selected={active === null ? -1 : list.find((row) => row.runId === active)}
        onSelect={mark}
        onOpen={open}
        onTick={(position) => {
          const item = list.get(position);
          if (item) tick(item.runId);
        }}
        onWindow={(first, last) => list.show(first, last)}
        toolbar={(menu) => <HistoryToolbar columnMenu={menu} />}
        empty={
          <NoRuns
            isKnown={list.total !== null}
            isFiltered={address.search !== '' || address.runStatuses.length > 0}
          />
        }
      />
      {target ? (
        <HistoryMenu
          target={target}
          action={action}
          onEdit={setEditing}
          onDelete={(item) => setDeleting([item])}
          onClose={() => setTarget(null)}
        />
      ) : null}
      {editing ? <EditRun run={editing} onClose={() => setEditing(null)} /> : null}
      <DeleteRuns runs={deleting} onClose={() => setDeleting([])} onDeleted={() => setTicked(new Set())} />
    </>
  );
}

/** The list the address asks for; a new one when the question changes. */
function useRunList(): PagedRows<RunListItem> {
  const { client } = useStudio();
  const { search, runStatuses, runSort } = useAddress();
  const listVersion = useStudioState((state) => state.listVersion);
  const question = JSON.stringify({ search, statuses: runStatuses, sort: runSort ?? newestFirst });
  const list = useMemo(
    () =>
      new PagedRows<RunListItem>((offset, limit, signal) =>
        client.request('runs.list', { offset, limit, ...JSON.parse(question) }, signal),
      ),
    [client, question],
  );
  const seen = useRef(listVersion);
  useEffect(() => {
    list.show(0, 0);
    return () => list.dispose();
  }, [list]);
  useEffect(() => {
    if (seen.current !== listVersion) list.invalidate();
    seen.current = listVersion;
  }, [list, listVersion]);
  useSyncExternalStore(list.subscribe, list.getVersion);
  return list;
}

/** Lines of the list, with what events told since they were read. */
function useFreshItems(list: PagedRows<RunListItem>): (position: number) => RunListItem | undefined {
  const items = useStudioState((state) => state.items);
  const progress = useStudioState((state) => state.progress);
  return (position) => {
    const item = list.get(position);
    const known = item ? (items[item.runId] ?? item) : undefined;
    return known && progress?.runId === known.runId && isActive(known.status)
      ? { ...known, counts: progress.counts }
      : known;
  };
}

function recallSelected(): string | null {
  const value = recall('history.selected');
  return typeof value === 'string' ? value : null;
}

/** The list's failure and that of an action on one of its lines, dismissed by hand. */
function HistoryTrouble({
  list,
  action,
}: {
  readonly list: PagedRows<RunListItem>;
  readonly action: Action;
}) {
  if (!list.error && !action.error) return null;
  return (
    <div className="run-trouble stack">
      {list.error ? (
        <ErrorCallout title="The runs could not be listed." error={list.error}>
          <button type="button" className="button" onClick={() => list.invalidate()}>
            Try again
          </button>
        </ErrorCallout>
      ) : null}
      {action.error ? (
        <ErrorCallout error={action.error}>
          <button type="button" className="button" onClick={action.clear}>
            Dismiss
          </button>
        </ErrorCallout>
      ) : null}
    </div>
  );
}

interface TickedActionsProps {
  readonly ticked: readonly string[];
  readonly onDelete: () => void;
  readonly onClear: () => void;
}

function TickedActions({ ticked, onDelete, onClear }: TickedActionsProps) {
  if (ticked.length === 0) return <span className="small muted">Tick two or more runs to compare them</span>;
  return (
    <div className="row">
      <span className="small muted">{ticked.length} ticked</span>
      {ticked.length >= 2 ? (
        <a className="button primary" href={formatAddress({ ...home, page: 'compare', runs: ticked })}>
          Compare
        </a>
      ) : null}
      <button type="button" className="button danger" onClick={onDelete}>
        Delete
      </button>
      <button type="button" className="button plain" onClick={onClear}>
        Untick all
      </button>
    </div>
  );
}

function NoRuns({ isKnown, isFiltered }: { readonly isKnown: boolean; readonly isFiltered: boolean }) {
  const { navigation } = useStudio();
  if (!isKnown)
    return (
      <div className="padded">
        <Skeleton lines={10} label="Reading the runs" />
      </div>
    );
  if (isFiltered)
    return (
      <EmptyState
        title="No run matches"
        actions={
          <button
            type="button"
            className="button primary"
            onClick={() => navigation.change({ search: '', runStatuses: [] })}
          >
            Show all runs
          </button>
        }
      />
    );
  return (
    <EmptyState
      title="No runs yet"
      actions={
        <a className="button primary" href={formatAddress(home)}>
          Start the first one
        </a>
      }
    >
      <p>
        Every run you start, here or on the command line, is kept in the workspace and listed on this page.
      </p>
    </EmptyState>
  );
}
