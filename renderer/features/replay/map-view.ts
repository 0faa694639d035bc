// From metres of the environment to the picture of the map: y up becomes y down, everything known fits. Pure.
import type { RecordedMap } from '#contract/replay.ts';

export interface MapFrame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** A length that looks the same on every map: a hundredth of the larger side. */
  readonly unit: number;
}

/** What has to be seen, with a margin; null when nothing has a place. */
export function frameOf(map: RecordedMap): MapFrame | null {
  const xs: number[] = [];
  const ys: number[] = [];
  const see = (x: number | undefined, y: number | undefined): void => {
    if (x === undefined || y === undefined || !Number.isFinite(x) || !Number.isFinite(y)) return;
    xs.push(x);
    ys.push(y);
  };
  for (const box of [map.bounds, ...map.rooms.map((room) => room.box)]) {
    see(box?.[0], box?.[1]);
    see(box?.[2], box?.[3]);
  }
  for (const point of [map.start, map.goal, ...map.referencePath]) see(point?.[0], point?.[1]);
  for (const { x, y } of map.path) see(x, y);
  if (xs.length === 0) return null;
  const [left, right, low, high] = [least(xs), greatest(xs), least(ys), greatest(ys)];
  const size = Math.max(right - left, high - low, 1);
  const margin = size * 0.03;
  return {
    left: left - margin,
    top: -high - margin,
    width: Math.max(right - left, size * 0.2) + 2 * margin,
    height: Math.max(high - low, size * 0.2) + 2 * margin,
    unit: size / 100,
  };
}

const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Infinity);
const greatest = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), -Infinity);

/** `points` of a polyline. */
export const pointsOf = (points: readonly (readonly [number, number])[]): string =>
  points.map(([x, y]) => `${round(x)},${round(-y)}`).join(' ');

const round = (value: number): number => Number(value.toFixed(4));

/** The part of the path walked by a step: path entries carry their step, and long paths are thinned. */
export function walked(path: RecordedMap['path'], step: number): RecordedMap['path'] {
  const end = path.findIndex((entry) => entry.step > step);
  return end < 0 ? path : path.slice(0, end);
}
