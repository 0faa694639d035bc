// Axis-aligned boxes on the floor plan and segments against them; metres. Hot path: no allocation in the tests.
// A box blocks only its open interior, so moving along a face or through a corner is free.

export interface Box {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Rounding slack of the interior tests, metres. */
const slack = 1e-9;

export function inflated(box: Box, by: number): Box {
  return { minX: box.minX - by, minY: box.minY - by, maxX: box.maxX + by, maxY: box.maxY + by };
}

export function contains(box: Box, x: number, y: number): boolean {
  return x > box.minX + slack && x < box.maxX - slack && y > box.minY + slack && y < box.maxY - slack;
}

export function overlaps(a: Box, b: Box): boolean {
  return a.minX < b.maxX && b.minX < a.maxX && a.minY < b.maxY && b.minY < a.maxY;
}

/** Euclidean distance from a point to a box; 0 inside. */
export function distanceToBox(box: Box, x: number, y: number): number {
  return Math.hypot(Math.max(box.minX - x, 0, x - box.maxX), Math.max(box.minY - y, 0, y - box.maxY));
}

/** Euclidean gap between two boxes; 0 when they touch or overlap. */
export function gapBetween(a: Box, b: Box): number {
  return Math.hypot(
    Math.max(a.minX - b.maxX, 0, b.minX - a.maxX),
    Math.max(a.minY - b.maxY, 0, b.minY - a.maxY),
  );
}

export function centreOf(box: Box): Point {
  return { x: (box.minX + box.maxX) / 2, y: (box.minY + box.maxY) / 2 };
}

export function distanceBetween(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** True when the segment passes through the open interior of the box. */
export function segmentCrosses(box: Box, x0: number, y0: number, x1: number, y1: number): boolean {
  const minX = box.minX + slack;
  const maxX = box.maxX - slack;
  if ((x0 <= minX && x1 <= minX) || (x0 >= maxX && x1 >= maxX)) return false;
  const minY = box.minY + slack;
  const maxY = box.maxY - slack;
  if ((y0 <= minY && y1 <= minY) || (y0 >= maxY && y1 >= maxY)) return false;
  let enter = 0;
  let leave = 1;
  const dx = x1 - x0;
  if (dx !== 0) {
    const a = (minX - x0) / dx;
    const b = (maxX - x0) / dx;
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  const dy = y1 - y0;
  if (dy !== 0) {
    const a = (minY - y0) / dy;
    const b = (maxY - y0) / dy;
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  return enter < leave - slack;
}

/** Total length of a polyline. */
export function lengthOf(points: readonly Point[]): number {
  let total = 0;
  for (let i = 1; i < points.length; i++) total += distanceBetween(points[i - 1]!, points[i]!);
  return total;
}

/** Points every `spacing` metres along a polyline, both ends included. */
export function resampled(points: readonly Point[], spacing: number): Point[] {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return [];
  const result: Point[] = [first];
  let untilNext = spacing;
  for (let i = 1; i < points.length; i++) {
    const from = points[i - 1]!;
    const to = points[i]!;
    const span = distanceBetween(from, to);
    let along = untilNext;
    for (; along < span; along += spacing) {
      result.push({
        x: from.x + ((to.x - from.x) * along) / span,
        y: from.y + ((to.y - from.y) * along) / span,
      });
    }
    untilNext = along - span;
  }
  if (distanceBetween(result.at(-1) ?? first, last) > 1e-6) result.push(last);
  return result;
}
