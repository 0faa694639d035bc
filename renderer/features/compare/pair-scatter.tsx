// Paired values as points around the diagonal: above it the other run has the larger value.
import { useMemo } from 'react';
import {
  CartesianGrid,
  ReferenceLine,
  ResponsiveContainer,
  Scatter,
  ScatterChart,
  Tooltip,
  XAxis,
  YAxis,
  ZAxis,
} from 'recharts';
import type { MetricDefinition } from '#contract/nodeset.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { decimalsOf, formatCount, formatDecimal } from '../../ui/format.ts';
import { useLoad } from '../../ui/use-request.ts';
import { ChartFrame } from '../../ui/chart-frame.tsx';
import type { PairView } from './pair.ts';
import { markSize, roundRange, scatterMarks, type Mark } from './scatter-points.ts';

const number = (value: number): string => formatDecimal(value, Math.min(3, decimalsOf(value)));
const axis = {
  type: 'number',
  stroke: 'var(--text-faint)',
  fontSize: 11,
  tickLine: false,
  axisLine: { stroke: 'var(--line-strong)' },
  tickFormatter: number,
} as const;

export interface PairScatterProps {
  readonly pair: PairView;
  readonly metric: MetricDefinition;
}

export function PairScatter({ pair, metric }: PairScatterProps) {
  const { client } = useStudio();
  const question = { baselineRun: pair.baseline.runId, otherRun: pair.other.runId, metric: metric.name };
  const loaded = useLoad(JSON.stringify(question), (signal) =>
    client.request('runs.compareScatter', question, signal),
  );
  const drawn = useMemo(() => (loaded.value ? scatterMarks(loaded.value) : null), [loaded.value]);
  if (loaded.error) return <ErrorCallout title="The pairs could not be read." error={loaded.error} />;
  const domain = roundRange(drawn?.low ?? 0, drawn?.high ?? 1);
  const [low, high] = domain;
  const data = (drawn?.marks ?? []).map((mark) => ({ ...mark, size: markSize(mark.count) }));
  return (
    <>
      <ChartFrame
        title={`${metric.name}, pair by pair`}
        unit={metric.unit}
        columns={['A, baseline', 'Other', 'Pairs']}
        rows={(drawn?.marks ?? []).map((mark) => [
          number(mark.baseline),
          number(mark.other),
          formatCount(mark.count),
        ])}
        empty={drawn ? 'No pair has a value on both sides.' : 'Reading the pairs.'}
      >
        <ResponsiveContainer width="100%" height="100%">
          <ScatterChart margin={{ top: 6, right: 12, bottom: 0, left: 0 }} accessibilityLayer={false}>
            <CartesianGrid stroke="var(--line)" />
            <XAxis dataKey="baseline" domain={domain} {...axis} />
            <YAxis dataKey="other" domain={domain} width={44} {...axis} />
            <ZAxis
              dataKey="size"
              range={[markSize(1), markSize(100)]}
              domain={[markSize(1), markSize(100)]}
            />
            <ReferenceLine
              segment={[
                { x: low, y: low },
                { x: high, y: high },
              ]}
              stroke="var(--line-strong)"
              strokeDasharray="4 3"
            />
            <Tooltip content={<MarkTip />} isAnimationActive={false} />
            <Scatter data={data} fill="var(--chart-1)" fillOpacity={0.55} isAnimationActive={false} />
          </ScatterChart>
        </ResponsiveContainer>
      </ChartFrame>
      <p className="small muted">
        Across: A, the baseline. Up: the other run. On the dashed line both are equal; larger dots are more
        pairs.
        {drawn?.isBinned ? ' Dots are cells of a grid.' : ''}
      </p>
    </>
  );
}

interface MarkTipProps {
  readonly active?: boolean;
  readonly payload?: readonly { readonly payload?: Mark }[];
}

function MarkTip({ active, payload }: MarkTipProps) {
  const mark = payload?.[0]?.payload;
  if (!active || !mark) return null;
  return (
    <div className="tooltip">
      <div>A {number(mark.baseline)}</div>
      <div>Other {number(mark.other)}</div>
      <div className="faint">
        {mark.episodeId === null ? `${formatCount(mark.count)} pairs` : `episode ${mark.episodeId}`}
      </div>
    </div>
  );
}
