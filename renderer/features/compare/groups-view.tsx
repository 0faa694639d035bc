// Where the difference comes from: per scene, task (the same instruction), length of the instruction, steps, repeat.
import { useMemo, useState } from 'react';
import { comparisonGroup, type ComparisonGroup } from '#contract/compare.ts';
import type { RequestOutput } from '#contract/api.ts';
import type { MetricDefinition } from '#contract/nodeset.ts';
import { useAddress, useStudio } from '../../store/use-studio.tsx';
import { DataGrid } from '../../ui/data-grid.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { Segments } from '../../ui/field.tsx';
import { formatCount, formatMetricValue } from '../../ui/format.ts';
import type { GridColumn } from '../../ui/grid-types.ts';
import { Skeleton } from '../../ui/page.tsx';
import { formatMean, toneOf } from './difference-text.ts';
import { Toned } from './difference.tsx';
import { PairBar } from './pair-bar.tsx';
import type { PairView } from './pair.ts';
import { usePages } from './use-pages.ts';

type Group = RequestOutput<'runs.compareGroups'>['rows'][number];

const words: Readonly<Record<ComparisonGroup, { readonly [of in 'one' | 'several' | 'none']: string }>> = {
  scene: { one: 'Scene', several: 'Scenes', none: 'No pair names its scene.' },
  task: { one: 'Task', several: 'Tasks', none: 'No pair has an instruction.' },
  length: { one: 'Instruction', several: 'Instruction length', none: 'No pair has an instruction.' },
  steps: { one: 'Steps of the baseline', several: 'Steps', none: 'No pair says how many steps it took.' },
  repeat: { one: 'Repeat', several: 'Repeats', none: 'There are no pairs.' },
};

export function GroupsView({ pair }: { readonly pair: PairView }) {
  if (!pair.metric) return <p className="padded muted">The runs have no metric in common.</p>;
  return <Groups pair={pair} metric={pair.metric} />;
}

function Groups({ pair, metric }: { readonly pair: PairView; readonly metric: MetricDefinition }) {
  const { client, navigation } = useStudio();
  const asked = useAddress().by;
  const by = comparisonGroup.options.find((name) => name === asked) ?? 'scene';
  const [groupings, setGroupings] = useState<readonly ComparisonGroup[]>([]);
  const [selected, setSelected] = useState(-1);
  const question = { baselineRun: pair.baseline.runId, otherRun: pair.other.runId, metric: metric.name, by };
  const list = usePages<Group>(JSON.stringify(question), async (offset, limit, signal) => {
    const found = await client.request('runs.compareGroups', { ...question, offset, limit }, signal);
    setGroupings(found.groupings);
    return found;
  });
  const offered = comparisonGroup.options.filter((name) => name === by || groupings.includes(name));
  const columns = useMemo(() => groupColumns(metric, by), [metric, by]);
  return (
    <DataGrid<Group>
      label={words[by].several}
      storageKey={`compare-${by}`}
      columns={columns}
      count={list.total ?? 0}
      itemAt={(position) => {
        const row = list.get(position);
        return row ? { kind: 'row', key: row.group, row } : undefined;
      }}
      version={list.version}
      sort={[]}
      onSort={() => undefined}
      selected={selected}
      onSelect={setSelected}
      onOpen={() => undefined}
      onWindow={(first, last) => list.show(first, last)}
      toolbar={(menu) => (
        <PairBar pair={pair} withMetric>
          <Segments<ComparisonGroup>
            label="Group by"
            value={by}
            options={offered.map((name) => ({ value: name, label: words[name].several }))}
            onChange={(next) => navigation.change({ by: next === 'scene' ? null : next })}
          />
          <span className="grow" />
          {menu}
        </PairBar>
      )}
      empty={
        <div className="padded">
          {list.error ? (
            <ErrorCallout title="The groups could not be read." error={list.error} />
          ) : list.total === null ? (
            <Skeleton lines={8} label="Grouping the pairs" />
          ) : (
            <p className="muted">{words[by].none}</p>
          )}
        </div>
      }
    />
  );
}

function groupColumns(metric: MetricDefinition, by: ComparisonGroup): GridColumn<Group>[] {
  // Always as many decimals, so that the column lines up.
  const number = (value: number): string =>
    metric.kind === 'rate' ? formatMean(value, metric) : formatMetricValue(value, metric).text;
  const difference = (row: Group): string =>
    `${row.difference > 0 ? '+' : row.difference < 0 ? '−' : ''}${number(Math.abs(row.difference))}`;
  const count = (id: 'pairs' | 'won' | 'lost', header: string): GridColumn<Group> => ({
    id,
    header,
    width: 70,
    align: 'end',
    cell: (row) => formatCount(row[id]),
    text: (row) => String(row[id]),
  });
  const mean = (id: 'baselineMean' | 'otherMean', header: string): GridColumn<Group> => ({
    id,
    header,
    unit: metric.kind === 'rate' ? '%' : metric.unit,
    width: 110,
    align: 'end',
    cell: (row) => number(row[id]),
    text: (row) => String(row[id]),
  });
  return [
    {
      id: 'group',
      header: words[by].one,
      width: 200,
      grows: true,
      cell: (row) => <span title={row.group}>{row.group}</span>,
      text: (row) => row.group,
    },
    count('pairs', 'Pairs'),
    mean('baselineMean', 'A, baseline'),
    mean('otherMean', 'Other'),
    {
      id: 'difference',
      header: 'Difference',
      unit: metric.kind === 'rate' ? 'points' : metric.unit,
      width: 130,
      align: 'end',
      cell: (row) => <Toned tone={toneOf(row.difference, metric)}>{difference(row)}</Toned>,
      text: (row) => String(row.difference),
    },
    count('won', 'Won'),
    count('lost', 'Lost'),
  ];
}
