// The recorded episodes of a run: outcome first, the headline metric beside it.
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { RecordedEpisode } from '#contract/replay.ts';
import { useAddress, useCommand, useStudio } from '../../store/use-studio.tsx';
import { DataGrid } from '../../ui/data-grid.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount, formatMetricValue, formatWord } from '../../ui/format.ts';
import type { GridColumn } from '../../ui/grid-types.ts';
import { Skeleton } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { episodeOutcome } from '#contract/run.ts';
import { PagedRows } from '../../ui/paged-rows.ts';

/** Address of an episode on its own. */
export const nothingBeside = { other: null, otherEpisode: null, otherAttempt: null } as const;

export function useRecordedEpisodes(runId: string | null): PagedRows<RecordedEpisode> {
  const { client } = useStudio();
  const { statuses } = useAddress();
  const wanted = statuses.join(',');
  const list = useMemo(
    () =>
      new PagedRows<RecordedEpisode>(async (offset, limit, signal) =>
        runId === null
          ? { rows: [], total: 0 }
          : client.request(
              'replay.episodes',
              { runId, offset, limit, statuses: wanted === '' ? [] : wanted.split(',') },
              signal,
            ),
      ),
    [client, runId, wanted],
  );
  useEffect(() => {
    list.show(0, 0);
    return () => list.dispose();
  }, [list]);
  useSyncExternalStore(list.subscribe, list.getVersion);
  return list;
}

export function RecordedList({ list }: { readonly list: PagedRows<RecordedEpisode> }) {
  const { navigation } = useStudio();
  const { episode, statuses } = useAddress();
  const first = list.get(0);
  const metric = first ? Object.keys(first.metrics)[0] : undefined;
  const columns = useMemo(() => columnsOf(metric), [metric]);
  const selected = episode === null ? -1 : list.find((row) => row.ordinal === episode);
  const choose = useCallback(
    (position: number) => {
      const row = list.get(position);
      if (row) navigation.change({ episode: row.ordinal, attempt: null, step: null, ...nothingBeside });
    },
    [list, navigation],
  );
  useCommand('player.previousEpisode', selected > 0 ? () => choose(selected - 1) : null);
  useCommand('player.nextEpisode', selected + 1 < (list.total ?? 0) ? () => choose(selected + 1) : null);
  return (
    <div className="recorded-list">
      <DataGrid<RecordedEpisode>
        label="Recorded episodes"
        storageKey="replay"
        columns={columns}
        count={list.total ?? 0}
        itemAt={(position) => {
          const row = list.get(position);
          return row ? { kind: 'row', key: row.ordinal, row } : undefined;
        }}
        version={list.version}
        sort={[]}
        onSort={() => undefined}
        selected={selected}
        onSelect={choose}
        onOpen={choose}
        onWindow={(from, to) => list.show(from, to)}
        toolbar={() => (
          <div className="toolbar">
            <select
              className="select small-select"
              aria-label="Outcome"
              value={statuses[0] ?? ''}
              onChange={(event) =>
                navigation.change({
                  statuses: episodeOutcome.options.filter((status) => status === event.target.value),
                })
              }
            >
              <option value="">All outcomes</option>
              {episodeOutcome.options.map((status) => (
                <option key={status} value={status}>
                  {formatWord(status)}
                </option>
              ))}
            </select>
            <span className="small muted">
              {list.total === null ? '' : `${formatCount(list.total)} recorded`}
            </span>
          </div>
        )}
        empty={<Nothing list={list} isFiltered={statuses.length > 0} />}
      />
    </div>
  );
}

interface NothingProps {
  readonly list: PagedRows<RecordedEpisode>;
  readonly isFiltered: boolean;
}

function Nothing({ list, isFiltered }: NothingProps) {
  return (
    <div className="padded">
      {list.error ? (
        <ErrorCallout title="The recordings could not be listed." error={list.error}>
          <button type="button" className="button" onClick={() => list.invalidate()}>
            Try again
          </button>
        </ErrorCallout>
      ) : list.total === null ? (
        <Skeleton lines={8} label="Reading the recordings" />
      ) : (
        <p className="muted">{isFiltered ? 'None with this outcome.' : 'Nothing was recorded.'}</p>
      )}
    </div>
  );
}

function columnsOf(metric: string | undefined): GridColumn<RecordedEpisode>[] {
  const name = (row: RecordedEpisode): string =>
    `${row.episodeId ?? row.ordinal}${row.repeat > 0 ? ` (repeat ${row.repeat})` : ''}`;
  return [
    {
      id: 'status',
      header: 'Outcome',
      width: 112,
      cell: (row) => <Status status={row.status} />,
      text: (row) => row.status,
    },
    { id: 'episode', header: 'Episode', width: 96, grows: true, cell: name, text: name },
    ...(metric === undefined
      ? []
      : [
          {
            id: 'metric',
            header: metric,
            width: 62,
            align: 'end',
            cell: (row: RecordedEpisode) => formatMetricValue(row.metrics[metric]).text,
            text: (row: RecordedEpisode) => formatMetricValue(row.metrics[metric]).text,
          } as const,
        ]),
  ];
}
