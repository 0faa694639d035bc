// Episodes won and lost by the other run, largest difference first; Enter opens both replays side by side.
import { Circle, Equal, TrendingDown, TrendingUp } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { FlipView } from '#contract/compare.ts';
import type { MetricDefinition } from '#contract/nodeset.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { DataGrid } from '../../ui/data-grid.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount, formatMetricValue } from '../../ui/format.ts';
import type { GridColumn } from '../../ui/grid-types.ts';
import { Skeleton } from '../../ui/page.tsx';
import { toneOf } from './difference-text.ts';
import { Toned } from './difference.tsx';
import { PairBar } from './pair-bar.tsx';
import type { PairView } from './pair.ts';
import { replayOfFlip } from './replay-of-flip.ts';
import { PairScatter } from './pair-scatter.tsx';
import { usePages } from './use-pages.ts';

type Outcome = FlipView['outcome'];
type Counts = Readonly<Record<Outcome, number>>;

const outcomes: readonly Outcome[] = ['won', 'lost', 'same'];
const outcomeGlyphs = { won: TrendingUp, lost: TrendingDown, same: Equal } as const;

export function FlipsView({ pair }: { readonly pair: PairView }) {
  if (!pair.metric) return <p className="padded muted">The runs have no metric in common.</p>;
  return <Flips pair={pair} metric={pair.metric} />;
}

function Flips({ pair, metric }: { readonly pair: PairView; readonly metric: MetricDefinition }) {
  const { client, navigation } = useStudio();
  const { baseline, other } = pair;
  const [shown, setShown] = useState<readonly Outcome[]>(['won', 'lost']);
  const [counts, setCounts] = useState<Counts | null>(null);
  const [selected, setSelected] = useState(-1);
  const question = {
    baselineRun: baseline.runId,
    otherRun: other.runId,
    metric: metric.name,
    outcomes: shown,
  };
  const list = usePages<FlipView>(JSON.stringify(question), async (offset, limit, signal) => {
    const page = await client.request(
      'runs.compareFlips',
      { ...question, outcomes: [...shown], offset, limit },
      signal,
    );
    setCounts(page.counts);
    return page;
  });
  const columns = useMemo(() => flipColumns(metric), [metric]);
  const open = (position: number): void => {
    const flip = list.get(position);
    if (flip) navigation.go({ page: 'replay', ...replayOfFlip(flip, baseline.runId, other.runId) });
  };
  const chosen = list.get(selected);
  return (
    <DataGrid<FlipView>
      label="Paired episodes"
      storageKey="flips"
      columns={columns}
      count={list.total ?? 0}
      itemAt={(position) => {
        const row = list.get(position);
        return row ? { kind: 'row', key: `${row.baselineOrdinal} ${row.otherOrdinal}`, row } : undefined;
      }}
      version={list.version}
      sort={[]}
      onSort={() => undefined}
      selected={selected}
      onSelect={setSelected}
      onOpen={open}
      onWindow={(first, last) => list.show(first, last)}
      toolbar={(menu) => (
        <PairBar pair={pair} withMetric>
          <OutcomeChips
            shown={shown}
            counts={counts}
            onChange={(next) => {
              setSelected(-1);
              setShown(next);
            }}
          />
          <span className="grow" />
          <button
            type="button"
            className="button"
            disabled={chosen === undefined}
            onClick={() => open(selected)}
          >
            Watch both
          </button>
          {menu}
        </PairBar>
      )}
      aside={
        <aside className="compare-aside" aria-label="Paired values">
          <PairScatter pair={pair} metric={metric} />
        </aside>
      }
      footer={
        <span>
          Sorted by the size of the difference. Enter or a double click watches both episodes side by side.
        </span>
      }
      empty={<Nothing error={list.error} isKnown={list.total !== null} onReload={() => list.invalidate()} />}
    />
  );
}

interface OutcomeChipsProps {
  readonly shown: readonly Outcome[];
  readonly counts: Counts | null;
  readonly onChange: (shown: readonly Outcome[]) => void;
}

function OutcomeChips({ shown, counts, onChange }: OutcomeChipsProps) {
  return (
    <fieldset className="chips">
      <legend className="visually-hidden">Outcomes</legend>
      {outcomes.map((outcome) => {
        const Glyph = outcomeGlyphs[outcome];
        const isShown = shown.includes(outcome);
        return (
          <button
            key={outcome}
            type="button"
            className="chip"
            aria-pressed={isShown}
            disabled={isShown && shown.length === 1}
            onClick={() => onChange(isShown ? shown.filter((one) => one !== outcome) : [...shown, outcome])}
          >
            <Glyph size={11} aria-hidden="true" /> {outcome}
            {counts ? <span className="figures"> {formatCount(counts[outcome])}</span> : null}
          </button>
        );
      })}
    </fieldset>
  );
}

interface NothingProps {
  readonly error: Parameters<typeof ErrorCallout>[0]['error'] | null;
  readonly isKnown: boolean;
  readonly onReload: () => void;
}

function Nothing({ error, isKnown, onReload }: NothingProps) {
  return (
    <div className="padded">
      {error ? (
        <ErrorCallout title="The episodes could not be compared." error={error}>
          <button type="button" className="button" onClick={onReload}>
            Try again
          </button>
        </ErrorCallout>
      ) : isKnown ? (
        <p className="muted">No pair with these outcomes.</p>
      ) : (
        <Skeleton lines={8} label="Pairing the episodes" />
      )}
    </div>
  );
}

function flipColumns(metric: MetricDefinition): GridColumn<FlipView>[] {
  const number = (value: number): string => formatMetricValue(value, metric).text;
  const name = (row: FlipView): string =>
    `${row.episodeId ?? row.episodeIndex ?? row.baselineOrdinal}${row.repeat > 0 ? ` (repeat ${row.repeat})` : ''}`;
  const difference = (row: FlipView): string =>
    `${row.difference > 0 ? '+' : row.difference < 0 ? '−' : ''}${number(Math.abs(row.difference))}`;
  const recorded = (row: FlipView): string =>
    row.baselineRecorded && row.otherRecorded
      ? 'both'
      : row.baselineRecorded
        ? 'A'
        : row.otherRecorded
          ? 'B'
          : 'none';
  return [
    {
      id: 'outcome',
      header: 'Outcome',
      width: 76,
      cell: ({ outcome }) => {
        const Glyph = outcomeGlyphs[outcome];
        return (
          <span className={`flip ${outcome}`}>
            <Glyph size={13} aria-hidden="true" /> {outcome}
          </span>
        );
      },
      text: (row) => row.outcome,
    },
    { id: 'episode', header: 'Episode', width: 104, cell: name, text: name },
    {
      id: 'scene',
      header: 'Scene',
      width: 90,
      cell: (row) => row.sceneId ?? '–',
      text: (row) => row.sceneId ?? '',
    },
    {
      id: 'baseline',
      header: 'A',
      unit: metric.unit,
      width: 72,
      align: 'end',
      cell: (row) => number(row.baselineValue),
      text: (row) => String(row.baselineValue),
    },
    {
      id: 'other',
      header: 'Other',
      unit: metric.unit,
      width: 72,
      align: 'end',
      cell: (row) => number(row.otherValue),
      text: (row) => String(row.otherValue),
    },
    {
      id: 'difference',
      header: 'Difference',
      unit: metric.unit,
      width: 96,
      align: 'end',
      cell: (row) => <Toned tone={toneOf(row.difference, metric)}>{difference(row)}</Toned>,
      text: (row) => String(row.difference),
    },
    {
      id: 'recorded',
      header: 'Recorded',
      width: 72,
      cell: (row) => (
        <span className="muted">
          <Circle size={8} aria-hidden="true" fill={recorded(row) === 'none' ? 'none' : 'currentColor'} />{' '}
          {recorded(row)}
        </span>
      ),
      text: recorded,
    },
    {
      id: 'instruction',
      header: 'Instruction',
      width: 160,
      grows: true,
      cell: (row) => <span title={row.instruction ?? ''}>{row.instruction ?? '–'}</span>,
      text: (row) => row.instruction ?? '',
    },
  ];
}
