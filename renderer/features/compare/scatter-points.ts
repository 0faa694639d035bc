// What the scatter of paired values draws: at most 800 marks whatever the number of pairs; marks at one place are one
// mark with a count. Pure.
import type { Scatter } from '#contract/compare.ts';

export const greatestMarks = 800;

export interface Mark {
  readonly baseline: number;
  readonly other: number;
  readonly count: number;
  /** Episode of a mark that stands for one pair. */
  readonly episodeId: string | null;
}

export interface ScatterMarks {
  readonly marks: readonly Mark[];
  /** Both axes have this range, so that the diagonal is the diagonal. */
  readonly low: number;
  readonly high: number;
  /** True when marks are cells of a grid and not exact places. */
  readonly isBinned: boolean;
}

export function scatterMarks(scatter: Scatter): ScatterMarks {
  if (scatter.kind === 'bins') {
    const { low, high, cellsPerSide } = scatter;
    const width = (high - low) / Math.max(1, cellsPerSide);
    const marks = scatter.cells.map(({ column, row, count }) => ({
      baseline: low + (column + 0.5) * width,
      other: low + (row + 0.5) * width,
      count,
      episodeId: null,
    }));
    return { ...bounded(marks, low, high), isBinned: true };
  }
  const marks = merged(scatter.points.map((point) => ({ ...point, count: 1 })));
  const values = marks.flatMap((mark) => [mark.baseline, mark.other]);
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (marks.length === 0) return { marks, low: 0, high: 1, isBinned: false };
  return bounded(marks, low, high);
}

/** Coarser and coarser grids until few enough marks are left. */
function bounded(exact: readonly Mark[], low: number, high: number): ScatterMarks {
  let marks = exact;
  let isBinned = false;
  for (let cells = 64; marks.length > greatestMarks && cells >= 8; cells /= 2) {
    const width = (high - low) / cells;
    const centre = (value: number): number =>
      low + (Math.min(cells - 1, Math.floor((value - low) / width)) + 0.5) * width;
    marks = merged(
      exact.map((mark) => ({ ...mark, baseline: centre(mark.baseline), other: centre(mark.other) })),
    );
    isBinned = true;
  }
  return { marks, low, high, isBinned };
}

function merged(marks: readonly Mark[]): Mark[] {
  const byPlace = new Map<string, Mark>();
  for (const { baseline, other, count, episodeId } of marks) {
    const place = `${baseline} ${other}`;
    const before = byPlace.get(place);
    byPlace.set(
      place,
      before
        ? { ...before, count: before.count + count, episodeId: null }
        : { baseline, other, count, episodeId },
    );
  }
  return [...byPlace.values()];
}

/** Ends of an axis at round numbers; zero is kept when it is near. */
export function roundRange(low: number, high: number): [number, number] {
  if (!(high > low)) return [low, low + 1];
  const from = low >= 0 && low < high / 4 ? 0 : low;
  const power = 10 ** Math.floor(Math.log10(high - from));
  const unit = (high - from) / power < 3 ? power / 4 : power;
  const rounded = (value: number): number => Number(value.toPrecision(12));
  return [rounded(Math.floor(from / unit) * unit), rounded(Math.ceil(high / unit) * unit)];
}

/** Area grows with the count, bounded so that no mark hides the chart. */
export const markSize = (count: number): number => Math.min(1200, 24 + 12 * (count - 1));
