// A signed difference with its interval: coloured by the direction of better, told by glyph and word as well.
import { Equal, TrendingDown, TrendingUp, type LucideIcon } from 'lucide-react';
import type { MetricComparisonView } from '#contract/compare.ts';
import { differenceUnitOf, formatDifference, toneOf, type Tone } from './difference-text.ts';

const glyphs: Readonly<Record<Tone, LucideIcon | null>> = {
  better: TrendingUp,
  worse: TrendingDown,
  changed: null,
  equal: Equal,
};

export function Difference({ row }: { readonly row: MetricComparisonView }) {
  const tone = toneOf(row.difference, row.metric);
  const text = formatDifference(row, row.metric);
  return (
    <>
      <td className="number">
        <Toned tone={tone}>
          {text.value}
          {row.difference === null ? null : <span className="unit"> {differenceUnitOf(row.metric)}</span>}
        </Toned>
      </td>
      <td className="number">{text.interval === '' ? '–' : text.interval}</td>
    </>
  );
}

export function Toned({ tone, children }: { readonly tone: Tone; readonly children: React.ReactNode }) {
  const Glyph = glyphs[tone];
  return (
    <span className={`tone ${tone}`}>
      {Glyph ? <Glyph size={12} aria-hidden="true" /> : null}
      {children}
      <span className="visually-hidden"> {tone}</span>
    </span>
  );
}
