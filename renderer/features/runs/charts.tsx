// Four charts of a run. Numeric axes, no dots, no animation, at most 800 points; each can be read as a table.
import { useMemo, useState } from 'react';
import {
  Bar,
  BarChart,
  CartesianGrid,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { MetricDefinition } from '#contract/nodeset.ts';
import { isActive, type RunSession } from '../../store/run-session.ts';
import { throughputOfRows, throughputOfSamples } from '../../store/throughput.ts';
import { useRowsVersion } from '../../store/use-studio.tsx';
import { decimalsOf, formatCount, formatDecimal } from '../../ui/format.ts';
import { useThrottled } from '../../ui/use-throttled.ts';
import { ChartFrame } from '../../ui/chart-frame.tsx';
import type { LoadedState } from './run-page.tsx';
import { histogram, metricSeries, metricValues, stepValues, windowOf, type Bin } from './series.ts';

const refreshMs = 1000;
const axis = {
  stroke: 'var(--text-faint)',
  fontSize: 11,
  tickLine: false,
  axisLine: { stroke: 'var(--line-strong)' },
} as const;
const number = (value: number): string => formatDecimal(value, decimalsOf(value));
const percent = (value: number): string => `${number(Number((value * 100).toPrecision(3)))} %`;
/** Whole seconds, with one decimal while a run is that short. */
const seconds = (value: number): string =>
  `${formatDecimal(value, value < 10 && !Number.isInteger(value) ? 1 : 0)} s`;
/** Rates from nothing to all of it, also when every value is the same. */
const rateAxis = { domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1] };
const ownAxis = { domain: ['auto', 'auto'] };

export function Charts({ session, state }: { readonly session: RunSession; readonly state: LoadedState }) {
  const version = useThrottled(useRowsVersion(session), refreshMs);
  const metrics =
    state.record.metrics.length > 0
      ? state.record.metrics
      : (state.summary?.metrics ?? []).map((metric) => metric.definition);
  const [chosen, setChosen] = useState<string | null>(null);
  const metric = metrics.find((candidate) => candidate.name === chosen) ?? metrics[0];
  // `version` stands for the rows, which change in place.
  // oxlint-disable-next-line react/exhaustive-deps
  const rows = useMemo(() => [...session.index.rows()], [session, version]);
  const throughput = useMemo(
    () => throughputOfRows(rows) ?? throughputOfSamples(state.samples),
    [rows, state.samples],
  );
  const picker = (
    <select
      className="select small-select"
      aria-label="Metric of the charts"
      value={metric?.name ?? ''}
      onChange={(event) => setChosen(event.target.value)}
    >
      {metrics.map((candidate) => (
        <option key={candidate.name}>{candidate.name}</option>
      ))}
    </select>
  );
  return (
    <section className="charts" aria-label="Charts">
      {metric ? (
        <>
          <MetricChart rows={rows} metric={metric} picker={picker} />
          <HistogramChart
            title={`Distribution of ${metric.name}`}
            unit={metric.unit}
            bins={histogram(metricValues(rows, metric.name))}
            empty="No episode has a value yet."
          />
        </>
      ) : null}
      <HistogramChart
        title="Steps per episode"
        unit="steps"
        bins={histogram(stepValues(rows))}
        empty="No episode has ended yet."
      />
      <ChartFrame
        title="Throughput"
        unit="episodes/min"
        columns={['Time in s', 'Episodes per minute']}
        rows={(throughput.length < 2 ? [] : throughput).map((point) => [
          number(Math.round(point.atSec)),
          formatDecimal(point.perMinute, 1),
        ])}
        empty={
          isActive(state.status)
            ? 'Shows once a few episodes have ended.'
            : 'Two episodes with a known start are needed; imported rows may have none.'
        }
      >
        <ResponsiveContainer width="100%" height="100%">
          <LineChart
            data={throughput}
            margin={{ top: 6, right: 12, bottom: 0, left: 0 }}
            accessibilityLayer={false}
          >
            <CartesianGrid stroke="var(--line)" vertical={false} />
            <XAxis
              dataKey="atSec"
              type="number"
              domain={['dataMin', 'dataMax']}
              tickFormatter={seconds}
              {...axis}
            />
            <YAxis width={44} tickFormatter={number} {...axis} />
            <Tooltip content={<ChartTip x="at" xUnit=" s" />} isAnimationActive={false} />
            <Line
              name="per minute"
              dataKey="perMinute"
              stroke="var(--chart-1)"
              strokeWidth={1.5}
              dot={false}
              isAnimationActive={false}
            />
          </LineChart>
        </ResponsiveContainer>
      </ChartFrame>
    </section>
  );
}

interface MetricChartProps {
  readonly rows: Parameters<typeof metricSeries>[0];
  readonly metric: MetricDefinition;
  readonly picker: React.ReactNode;
}

function MetricChart({ rows, metric, picker }: MetricChartProps) {
  const { name, unit, kind } = metric;
  const points = useMemo(() => metricSeries(rows, name), [rows, name]);
  const isRate = kind === 'rate';
  const show = isRate ? percent : number;
  const moving = `mean of last ${formatCount(windowOf(points.at(-1)?.at ?? 0))}`;
  return (
    <ChartFrame
      title="Over episodes"
      unit={isRate ? '' : unit}
      action={picker}
      columns={['Episode', moving, 'Running mean']}
      rows={points.map((point) => [formatCount(point.at), show(point.movingMean), show(point.runningMean)])}
      empty="No episode has a value yet."
      legend={[
        { name: moving, className: 'value' },
        { name: 'running mean', className: 'mean' },
      ]}
    >
      <ResponsiveContainer width="100%" height="100%">
        <LineChart
          data={points}
          margin={{ top: 6, right: 12, bottom: 0, left: 0 }}
          accessibilityLayer={false}
        >
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis
            dataKey="at"
            type="number"
            domain={[0, 'dataMax']}
            allowDecimals={false}
            tickFormatter={formatCount}
            {...axis}
          />
          <YAxis width={44} tickFormatter={show} {...(isRate ? rateAxis : ownAxis)} {...axis} />
          <Tooltip content={<ChartTip x="episode" xUnit="" show={show} />} isAnimationActive={false} />
          <Line
            name={moving}
            dataKey="movingMean"
            stroke="var(--chart-2)"
            strokeWidth={1}
            dot={false}
            isAnimationActive={false}
          />
          <Line
            name="running mean"
            dataKey="runningMean"
            stroke="var(--chart-1)"
            strokeWidth={2}
            dot={false}
            isAnimationActive={false}
          />
        </LineChart>
      </ResponsiveContainer>
    </ChartFrame>
  );
}

interface HistogramChartProps {
  readonly title: string;
  readonly unit: string;
  readonly bins: readonly Bin[];
  readonly empty: string;
}

function HistogramChart({ title, unit, bins, empty }: HistogramChartProps) {
  const data = bins.map((bin) => ({
    ...bin,
    name: bin.from === bin.to ? number(bin.from) : `${number(bin.from)} – ${number(bin.to)}`,
  }));
  return (
    <ChartFrame
      title={title}
      unit={unit}
      columns={['Value', 'Episodes']}
      rows={data.map((bin) => [bin.name, formatCount(bin.count)])}
      empty={empty}
    >
      <ResponsiveContainer width="100%" height="100%">
        <BarChart
          data={data}
          margin={{ top: 6, right: 12, bottom: 0, left: 0 }}
          barCategoryGap={1}
          accessibilityLayer={false}
        >
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis dataKey="from" tickFormatter={number} minTickGap={16} {...axis} />
          <YAxis width={44} allowDecimals={false} tickFormatter={formatCount} {...axis} />
          <Tooltip
            content={<ChartTip x="" xUnit="" />}
            cursor={{ fill: 'var(--hover)' }}
            isAnimationActive={false}
          />
          <Bar
            name="episodes"
            dataKey="count"
            fill="var(--chart-1)"
            maxBarSize={48}
            isAnimationActive={false}
          />
        </BarChart>
      </ResponsiveContainer>
    </ChartFrame>
  );
}

interface ChartTipProps {
  readonly x: string;
  readonly xUnit: string;
  /** How a value of the y axis reads. */
  readonly show?: (value: number) => string;
  readonly active?: boolean;
  readonly label?: unknown;
  readonly payload?: readonly {
    readonly name?: unknown;
    readonly value?: unknown;
    readonly payload?: unknown;
  }[];
}

function ChartTip({ x, xUnit, show = number, active, label, payload }: ChartTipProps) {
  if (!active || !payload || payload.length === 0) return null;
  return (
    <div className="tooltip">
      <div className="faint">
        {x} {typeof label === 'number' ? number(label) : null}
        {xUnit}
      </div>
      {payload.map((line) => (
        <div key={String(line.name)}>
          {String(line.name)} {typeof line.value === 'number' ? show(line.value) : null}
        </div>
      ))}
    </div>
  );
}
