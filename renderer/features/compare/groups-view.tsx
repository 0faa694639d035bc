// Where the difference comes from: per scene, and per task (episodes with the same instruction).
import { useMemo, useState } from 'react';
import type { RequestOutput } from '#contract/api.ts';
import type { MetricDefinition } from '#contract/nodeset.ts';
import { useStudio } from '../../store/use-studio.tsx';
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

export function GroupsView({ pair }: { readonly pair: PairView }) {
  if (!pair.metric) return <p className="padded muted">The runs have no metric in common.</p>;
  return <Groups pair={pair} metric={pair.metric} />;
}

function Groups({ pair, metric }: { readonly pair: PairView; readonly metric: MetricDefinition }) {
  const { client } = useStudio();
  const [by, setBy] = useState<'scene' | 'task'>('scene');
  const [selected, setSelected] = useState(-1);
  const question = { baselineRun: pair.baseline.runId, otherRun: pair.other.runId, metric: metric.name, by };
  const list = usePages<Group>(JSON.stringify(question), (offset, limit, signal) =>
    client.request('runs.compareGroups', { ...question, offset, limit }, signal),
  );
  const columns = useMemo(() => groupColumns(metric, by), [metric, by]);
  return (
    <DataGrid<Group>
      label={by === 'scene' ? 'Scenes' : 'Tasks'}
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
          <Segments<'scene' | 'task'>
            label="Group by"
            value={by}
            options={[
              { value: 'scene', label: 'Scenes' },
              { value: 'task', label: 'Tasks' },
            ]}
            onChange={setBy}
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
            <p className="muted">No pair names its {by}.</p>
          )}
        </div>
      }
    />
  );
}

function groupColumns(metric: MetricDefinition, by: 'scene' | 'task'): GridColumn<Group>[] {
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
      header: by === 'scene' ? 'Scene' : 'Task',
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
