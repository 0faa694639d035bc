// Columns of the episode table: the row's own, and one per metric of the environment, never a fixed list of metrics.
import type { MetricDefinition } from '#contract/nodeset.ts';
import type { EpisodeRow } from '#contract/run.ts';
import { accessorOf } from '../../store/row-columns.ts';
import { formatCost, formatCount, formatDuration, formatMetricValue, formatWord } from '../../ui/format.ts';
import type { GridColumn } from '../../ui/grid-types.ts';
import { Status } from '../../ui/status.tsx';

const notKnown = (
  <span className="faint" aria-label="not known">
    –
  </span>
);

/** What copying gives: the value as it is, not as it is drawn. */
const plain =
  (column: string) =>
  (row: EpisodeRow): string =>
    String(accessorOf(column)(row) ?? '');

const whole = (value: number | null) => (value === null ? notKnown : value);
const clipped = (value: string | null) => (value === null ? notKnown : <span className="clip">{value}</span>);

const before: readonly GridColumn<EpisodeRow>[] = [
  {
    id: 'ordinal',
    header: '#',
    width: 60,
    align: 'end',
    description: 'Place in the plan',
    cell: (row) => row.ordinal,
    text: plain('ordinal'),
  },
  {
    id: 'episode',
    header: 'Episode',
    width: 110,
    grows: true,
    cell: (row) => clipped(row.episodeId ?? (row.episodeIndex === null ? null : String(row.episodeIndex))),
    text: plain('episode'),
  },
  {
    id: 'scene',
    header: 'Scene',
    width: 96,
    isHiddenAtFirst: true,
    cell: (row) => clipped(row.sceneId),
    text: plain('scene'),
  },
  {
    id: 'instruction',
    header: 'Instruction',
    width: 240,
    isHiddenAtFirst: true,
    cell: (row) => clipped(row.instruction),
    text: plain('instruction'),
  },
  {
    id: 'repeat',
    header: 'Repeat',
    width: 64,
    align: 'end',
    isHiddenAtFirst: true,
    cell: (row) => row.repeat,
    text: plain('repeat'),
  },
  { id: 'status', header: 'Status', width: 116, cell: statusCell, text: plain('status') },
];

const after: readonly GridColumn<EpisodeRow>[] = [
  {
    id: 'steps',
    header: 'Steps',
    width: 60,
    align: 'end',
    cell: (row) => whole(row.steps),
    text: plain('steps'),
  },
  {
    id: 'duration',
    header: 'Time',
    width: 80,
    align: 'end',
    description: 'Duration of the last attempt',
    cell: (row) => (row.durationMs === null ? notKnown : formatDuration(row.durationMs)),
    text: plain('duration'),
  },
  {
    id: 'attempts',
    header: 'Tries',
    width: 52,
    align: 'end',
    description: 'Attempts',
    cell: (row) => (row.attempts === 0 ? notKnown : row.retried ? `${row.attempts} ↻` : row.attempts),
    text: plain('attempts'),
  },
  {
    id: 'worker',
    header: 'Worker',
    width: 68,
    align: 'end',
    isHiddenAtFirst: true,
    cell: (row) => whole(row.worker),
    text: plain('worker'),
  },
  {
    id: 'limit',
    header: 'Limit',
    width: 108,
    isHiddenAtFirst: true,
    description: 'A cap that was hit: a result, not an error',
    cell: (row) => (row.limit === null ? notKnown : <Status status="limit" word={formatWord(row.limit)} />),
    text: plain('limit'),
  },
  {
    id: 'error',
    header: 'Error',
    width: 110,
    grows: true,
    description: 'Error of the last attempt',
    cell: (row) => (row.errorCode === null ? null : clipped(`${row.errorCode}: ${row.errorMessage ?? ''}`)),
    text: (row) => [row.errorCode, row.errorMessage].filter(Boolean).join(': '),
  },
];

function statusCell(row: EpisodeRow) {
  return (
    <span className="row">
      <Status status={row.status} />
      {row.limit === null ? null : <Status status="limit" word="" />}
    </span>
  );
}

function metricColumn(metric: MetricDefinition): GridColumn<EpisodeRow> {
  return {
    id: `metrics.${metric.name}`,
    header: metric.name,
    ...(metric.unit ? { unit: metric.unit } : {}),
    width: Math.min(140, Math.max(72, metric.name.length * 7 + metric.unit.length * 6 + 20)),
    align: 'end',
    yields: true,
    cell: (row) => {
      const { text, kind } = formatMetricValue(row.metrics[metric.name], metric);
      if (kind === 'value') return text;
      const label = kind === 'not_measured' ? 'not measured' : 'not a finite number';
      return (
        <span className={kind === 'not_measured' ? 'faint' : 'non-finite'} aria-label={label} title={label}>
          {text}
        </span>
      );
    },
    text: (row) => String(row.metrics[metric.name] ?? ''),
  };
}

/** Of runs that asked language models. */
const usage: readonly GridColumn<EpisodeRow>[] = [
  {
    id: 'calls',
    header: 'Calls',
    width: 60,
    align: 'end',
    isHiddenAtFirst: true,
    description: 'Calls of language models',
    cell: (row) => whole(accessorNumber(row, 'calls')),
    text: plain('calls'),
  },
  {
    id: 'tokens',
    header: 'Tokens',
    width: 76,
    align: 'end',
    description: 'Input and output tokens of language models',
    cell: (row) => {
      const tokens = accessorNumber(row, 'tokens');
      return tokens === null ? notKnown : formatCount(tokens);
    },
    text: plain('tokens'),
  },
  {
    id: 'cost',
    header: 'Cost',
    unit: '$',
    width: 84,
    align: 'end',
    description: 'US dollars; – where a price is unknown',
    cell: (row) => {
      const cost = accessorNumber(row, 'cost');
      return cost === null ? notKnown : formatCost(cost);
    },
    text: plain('cost'),
  },
];

function accessorNumber(row: EpisodeRow, column: string): number | null {
  const value = accessorOf(column)(row);
  return typeof value === 'number' ? value : null;
}

export function episodeColumns(
  metrics: readonly MetricDefinition[],
  hasUsage = false,
): GridColumn<EpisodeRow>[] {
  return [...before, ...metrics.map(metricColumn), ...(hasUsage ? usage : []), ...after];
}
