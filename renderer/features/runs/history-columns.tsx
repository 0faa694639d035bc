// Columns of History.
import type { RunListItem } from '#contract/run.ts';
import { formatAddress, home } from '../../store/address.ts';
import {
  formatCount,
  formatDate,
  formatDuration,
  formatEstimate,
  formatShortDate,
  formatWord,
} from '../../ui/format.ts';
import type { GridColumn } from '../../ui/grid-types.ts';
import { Status } from '../../ui/status.tsx';

export interface HistoryColumnOptions {
  readonly ticked: ReadonlySet<string>;
  readonly onTick: (runId: string) => void;
  readonly onTag: (tag: string) => void;
  readonly onResume: (item: RunListItem) => void;
  readonly menu: (item: RunListItem) => React.ReactNode;
}

export function historyColumns({
  ticked,
  onTick,
  onTag,
  onResume,
  menu,
}: HistoryColumnOptions): GridColumn<RunListItem>[] {
  return [
    tickColumn(ticked, onTick),
    ...whoColumns,
    statusColumn(onResume),
    ...factColumns,
    tagsColumn(onTag),
    ...lateColumns,
    menuColumn(menu),
  ];
}

const whoColumns: readonly GridColumn<RunListItem>[] = [
  {
    id: 'name',
    header: 'Run',
    width: 138,
    grows: true,
    cell: (item) => (
      <a className="clip" href={formatAddress({ ...home, page: 'history', run: item.runId })}>
        {item.name}
      </a>
    ),
    text: (item) => item.name,
  },
  {
    id: 'graphName',
    header: 'Graph',
    width: 119,
    grows: true,
    cell: (item) => <span className="clip">{item.graphName}</span>,
    text: (item) => item.graphName,
  },
  {
    id: 'envName',
    header: 'Environment',
    width: 100,
    isHiddenAtFirst: true,
    cell: (item) => <span className="clip">{item.envName ?? '–'}</span>,
    text: (item) => item.envName ?? '',
  },
  {
    id: 'split',
    header: 'Split',
    width: 88,
    cell: (item) => <span className="clip">{item.split ?? '–'}</span>,
    text: (item) => item.split ?? '',
  },
];

const factColumns: readonly GridColumn<RunListItem>[] = [
  {
    id: 'done',
    header: 'Episodes',
    width: 102,
    align: 'end',
    isSortable: false,
    description: 'Episodes done of those planned',
    cell: (item) => <Done item={item} />,
    text: (item) => `${item.counts.planned - item.counts.notRun}/${item.counts.planned}`,
  },
  {
    id: 'headline',
    header: 'Headline',
    width: 164,
    align: 'end',
    isSortable: false,
    description: 'Leading metric with its 95 % interval',
    cell: (item) => <Headline item={item} />,
    text: (item) => headlineText(item),
  },
  {
    id: 'activeMs',
    header: 'Time',
    width: 84,
    align: 'end',
    cell: (item) => (item.activeMs > 0 ? formatDuration(item.activeMs) : '–'),
    text: (item) => String(item.activeMs / 1000),
  },
  {
    id: 'workerCount',
    header: 'Workers',
    width: 70,
    align: 'end',
    isHiddenAtFirst: true,
    cell: (item) => item.workerCount,
    text: (item) => String(item.workerCount),
  },
];

const lateColumns: readonly GridColumn<RunListItem>[] = [
  {
    id: 'note',
    header: 'Note',
    width: 140,
    isSortable: false,
    isHiddenAtFirst: true,
    cell: (item) => (
      <span className="clip muted" title={item.note}>
        {item.note}
      </span>
    ),
    text: (item) => item.note,
  },
  {
    id: 'createdAt',
    header: 'Started',
    width: 96,
    align: 'end',
    cell: (item) => <span title={formatDate(item.createdAt)}>{formatShortDate(item.createdAt)}</span>,
    text: (item) => item.createdAt,
  },
];

function tickColumn(ticked: ReadonlySet<string>, onTick: (runId: string) => void): GridColumn<RunListItem> {
  return {
    id: 'tick',
    header: 'Tick',
    isHeaderHidden: true,
    description: 'Tick to compare or delete',
    width: 32,
    isSortable: false,
    cell: (item) => (
      <input
        type="checkbox"
        aria-label={`Tick ${item.name}`}
        checked={ticked.has(item.runId)}
        onChange={() => onTick(item.runId)}
        onClick={(event) => event.stopPropagation()}
      />
    ),
    text: () => '',
  };
}

function statusColumn(onResume: HistoryColumnOptions['onResume']): GridColumn<RunListItem> {
  return {
    id: 'status',
    header: 'Status',
    width: 176,
    cell: (item) => <StatusCell item={item} onResume={onResume} />,
    text: (item) => formatWord(item.status),
  };
}

/** An interrupted or paused run says so and offers Resume. */
function StatusCell({
  item,
  onResume,
}: { readonly item: RunListItem } & Pick<HistoryColumnOptions, 'onResume'>) {
  const offersResume = item.status === 'interrupted' || item.status === 'paused';
  return (
    <>
      <Status
        status={item.status}
        {...(item.status === 'completed_with_errors' ? { word: 'with errors' } : {})}
      />
      {offersResume ? (
        <button
          type="button"
          className="button small-button"
          aria-label={`Resume ${item.name}, ${formatCount(item.counts.notRun)} episodes missing`}
          title={`Run the ${formatCount(item.counts.notRun)} missing episodes`}
          onClick={() => onResume(item)}
        >
          Resume
        </button>
      ) : null}
    </>
  );
}

function tagsColumn(onTag: (tag: string) => void): GridColumn<RunListItem> {
  return {
    id: 'tags',
    header: 'Tags',
    width: 60,
    yields: true,
    isSortable: false,
    cell: (item) => <Tags tags={item.tags} onTag={onTag} />,
    text: (item) => item.tags.join(', '),
  };
}

function menuColumn(menu: HistoryColumnOptions['menu']): GridColumn<RunListItem> {
  return {
    id: 'actions',
    header: 'Actions',
    isHeaderHidden: true,
    align: 'end',
    width: 40,
    isSortable: false,
    cell: menu,
    text: () => '',
  };
}

function Done({ item }: { readonly item: RunListItem }) {
  const done = item.counts.planned - item.counts.notRun;
  return (
    <span>
      {formatCount(done)}
      <span className="faint"> / {formatCount(item.counts.planned)}</span>
    </span>
  );
}

function Headline({ item }: { readonly item: RunListItem }) {
  const { headline } = item;
  if (!headline) return <span className="faint">–</span>;
  const leading =
    headline.headline === 'started' ? (headline.started ?? headline.completed) : headline.completed;
  const text = formatEstimate(leading, headline.definition);
  return (
    <span title={`${headline.definition.name}${headline.partial ? ', partial' : ''}: ${headlineText(item)}`}>
      {text.value}
      <span className="faint">
        {text.unit ? ` ${text.unit}` : ''}{' '}
        {headline.partial ? 'partial' : text.interval ? `[${text.interval.replaceAll(' ', '')}]` : ''}
      </span>
    </span>
  );
}

function headlineText(item: RunListItem): string {
  const { headline } = item;
  if (!headline) return '';
  const leading =
    headline.headline === 'started' ? (headline.started ?? headline.completed) : headline.completed;
  const text = formatEstimate(leading, headline.definition);
  return `${headline.definition.name} ${text.value} ${text.unit} ${text.interval ? `[${text.interval}]` : ''} n=${text.n}`.trim();
}

function Tags({ tags, onTag }: { readonly tags: readonly string[]; readonly onTag: (tag: string) => void }) {
  return (
    <span className="row tight">
      {tags.map((tag) => (
        <button
          key={tag}
          type="button"
          className="chip"
          title={`Show runs with ${tag}`}
          onClick={(event) => {
            event.stopPropagation();
            onTag(tag);
          }}
        >
          {tag}
        </button>
      ))}
    </span>
  );
}
