// The episode table of a run, live or finished, with the open episode beside it.
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { EpisodeRow } from '#contract/run.ts';
import type { RunSession } from '../../store/run-session.ts';
import { useAddress, useStudio } from '../../store/use-studio.tsx';
import { DataGrid } from '../../ui/data-grid.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount } from '../../ui/format.ts';
import type { GridItem } from '../../ui/grid-types.ts';
import { EmptyState, Skeleton } from '../../ui/page.tsx';
import { nextSort } from '../../ui/next-sort.ts';
import { episodeColumns } from './episode-columns.tsx';
import { EpisodeDetail } from './episode-detail.tsx';
import { EpisodeFooter, EpisodeToolbar } from './episode-toolbar.tsx';
import type { LoadedState } from './run-page.tsx';
import { useEpisodeRows, type EpisodeRows } from './use-episode-rows.ts';

export function EpisodesView({
  session,
  state,
}: {
  readonly session: RunSession;
  readonly state: LoadedState;
}) {
  const { navigation } = useStudio();
  const address = useAddress();
  const { metrics } = state.record;
  const hasUsage = state.summary?.usage != null;
  const columns = useMemo(() => episodeColumns(metrics, hasUsage), [metrics, hasUsage]);
  const metricNames = useMemo(() => metrics.map((metric) => metric.name), [metrics]);
  const rows = useEpisodeRows(session, metricNames);
  const [active, setActive] = useState<number | null>(address.episode);
  const ordinal = address.episode ?? active;
  const selected = ordinal === null ? -1 : rows.placeOfOrdinal(ordinal);

  const latest = useRef(rows);
  useEffect(() => {
    latest.current = rows;
  });
  const isOpen = address.episode !== null;
  const open = useCallback(
    (at: number) => {
      const row = latest.current.rowAt(at);
      if (!row) return;
      setActive(row.ordinal);
      navigation.change({ episode: row.ordinal });
    },
    [navigation],
  );
  const mark = useCallback(
    (at: number) => {
      const row = latest.current.rowAt(at);
      if (!row) return;
      setActive(row.ordinal);
      if (isOpen) navigation.change({ episode: row.ordinal });
    },
    [navigation, isOpen],
  );
  const row = address.episode === null ? undefined : session.index.get(address.episode);
  return (
    <div className="episodes">
      <DataGrid<EpisodeRow>
        label="Episodes"
        storageKey="episodes"
        columns={columns}
        count={rows.count}
        itemAt={(at) => gridItem(session, rows, at)}
        version={rows.version}
        sort={address.sort}
        onSort={(column, isAdditional) =>
          navigation.change({ sort: nextSort(address.sort, column, isAdditional) })
        }
        selected={selected}
        onSelect={mark}
        onOpen={open}
        onWindow={rows.onWindow}
        onPointer={rows.onPointer}
        aside={
          address.episode !== null ? (
            <EpisodeDetail
              session={session}
              state={state}
              ordinal={address.episode}
              row={row}
              onStep={(by) => {
                for (let at = selected + by; at >= 0 && at < rows.count; at += by)
                  if (rows.rowAt(at)) return open(at);
              }}
              onClose={() => navigation.change({ episode: null })}
            />
          ) : null
        }
        footer={<EpisodeFooter session={session} state={state} />}
        toolbar={(menu) => (
          <EpisodeToolbar session={session} state={state} compiled={rows.compiled} columnMenu={menu} />
        )}
        empty={
          <NothingToDraw
            state={state}
            isFiltered={address.filter !== '' || address.statuses.length > 0}
            onReload={() => void session.refresh()}
          />
        }
      />
    </div>
  );
}

function gridItem(session: RunSession, rows: EpisodeRows, at: number): GridItem<EpisodeRow> | undefined {
  const item = rows.itemAt(at);
  if (item?.kind === 'head') {
    const { key, title, count, isFolded } = item.group;
    const Arrow = isFolded ? ChevronRight : ChevronDown;
    const label = (
      <button
        type="button"
        className="group-head"
        aria-expanded={!isFolded}
        onClick={() => rows.toggleGroup(title)}
      >
        <Arrow size={14} aria-hidden="true" />
        <span className="clip">{title}</span>
        <span className="faint">{formatCount(count)}</span>
      </button>
    );
    return { kind: 'group', key: `group ${key}`, label };
  }
  const row = item ? session.index.at(item.position) : undefined;
  return row ? { kind: 'row', key: row.ordinal, row } : undefined;
}

interface NothingToDrawProps {
  readonly state: LoadedState;
  readonly isFiltered: boolean;
  readonly onReload: () => void;
}

function NothingToDraw({ state, isFiltered, onReload }: NothingToDrawProps) {
  const { navigation } = useStudio();
  if (state.rowsError)
    return (
      <div className="padded">
        <ErrorCallout title="The episodes could not be read." error={state.rowsError}>
          <button type="button" className="button" onClick={onReload}>
            Try again
          </button>
        </ErrorCallout>
      </div>
    );
  if (state.rows === null)
    return (
      <div className="padded">
        <Skeleton lines={10} label="Reading the episodes" />
      </div>
    );
  if (isFiltered)
    return (
      <EmptyState
        title="No episode passes the filter"
        actions={
          <button
            type="button"
            className="button primary"
            onClick={() => navigation.change({ filter: '', statuses: [] })}
          >
            Show all episodes
          </button>
        }
      />
    );
  return (
    <EmptyState title="No episodes yet">
      <p>They appear once the environment has told which ones there are.</p>
    </EmptyState>
  );
}
