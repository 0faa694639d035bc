import { createRandom, type Random } from 'agentcanvas';
import { describe, expect, it } from 'vitest';
import { contains, distanceBetween, lengthOf, segmentCrosses, type Point } from './geometry.ts';
import { createLayout, type Layout } from './layout.ts';
import { createNavigation } from './navigation.ts';

function freePoints(layout: Layout, random: Random, count: number): Point[] {
  const points: Point[] = [];
  while (points.length < count) {
    const x = random.next() * layout.bounds.maxX;
    const y = random.next() * layout.bounds.maxY;
    const isInRoom = layout.rooms.some(({ box }) => contains(box, x, y));
    if (isInRoom && layout.navigation.isFree(x, y)) points.push({ x, y });
  }
  return points;
}

describe('navigation', () => {
  it('goes round one corner by the exact length', () => {
    const navigation = createNavigation([{ minX: 0, minY: 0, maxX: 10, maxY: 1 }], 0);
    const field = navigation.fieldTo({ x: -1, y: 2 });
    expect(field.distance(-1, -1)).toBe(3);
    expect(field.distance(1, -1)).toBeCloseTo(Math.SQRT2 + Math.sqrt(5), 12);
    expect(field.path(1, -1)).toEqual([
      { x: 1, y: -1 },
      { x: 0, y: 0 },
      { x: -1, y: 2 },
    ]);
  });

  it('says Infinity and no path where a closed wall is between', () => {
    const walls = [
      { minX: -1, minY: -1, maxX: 1, maxY: -0.9 },
      { minX: -1, minY: 0.9, maxX: 1, maxY: 1 },
      { minX: -1, minY: -1, maxX: -0.9, maxY: 1 },
      { minX: 0.9, minY: -1, maxX: 1, maxY: 1 },
    ];
    const field = createNavigation(walls, 0.1).fieldTo({ x: 0, y: 0 });
    expect(field.distance(5, 5)).toBe(Infinity);
    expect(field.path(5, 5)).toEqual([]);
  });

  it('is symmetric, at least the straight line, and obeys the triangle inequality', () => {
    for (let seed = 0; seed < 8; seed++) {
      const layout = createLayout(seed);
      const points = freePoints(layout, createRandom(seed), 8);
      const fields = points.map((point) => layout.navigation.fieldTo(point));
      const distance = (i: number, j: number): number => fields[i]!.distance(points[j]!.x, points[j]!.y);
      for (let i = 0; i < points.length; i++) {
        for (let j = 0; j < points.length; j++) {
          expect(distance(i, j)).toBeCloseTo(distance(j, i), 9);
          expect(distance(i, j)).toBeGreaterThanOrEqual(distanceBetween(points[i]!, points[j]!) - 1e-9);
          expect(distance(i, j)).toBeLessThanOrEqual(distance(i, 0) + distance(0, j) + 1e-9);
        }
      }
    }
  });

  it('returns paths that are clear of obstacles and as long as it says', () => {
    for (let seed = 20; seed < 26; seed++) {
      const layout = createLayout(seed);
      const [goal, ...others] = freePoints(layout, createRandom(seed), 20);
      const field = layout.navigation.fieldTo(goal!);
      for (const { x, y } of others) {
        const path = field.path(x, y);
        expect(lengthOf(path)).toBeCloseTo(field.distance(x, y), 9);
        for (let i = 1; i < path.length; i++) {
          const [a, b] = [path[i - 1]!, path[i]!];
          expect(layout.obstacles.some((box) => segmentCrosses(box, a.x, a.y, b.x, b.y))).toBe(false);
        }
      }
    }
  });

  it('is never longer than the best path of a fine grid, and hardly shorter', () => {
    for (let seed = 40; seed < 43; seed++) {
      const layout = createLayout(seed);
      const pitch = 0.1;
      const [goal, ...others] = freePoints(layout, createRandom(seed), 10).map(({ x, y }) => ({
        x: Math.round(x / pitch) * pitch,
        y: Math.round(y / pitch) * pitch,
      }));
      if (!layout.navigation.isFree(goal!.x, goal!.y)) continue;
      const grid = gridDistances(layout, goal!, pitch);
      const field = layout.navigation.fieldTo(goal!);
      for (const { x, y } of others) {
        if (!layout.navigation.isFree(x, y)) continue;
        const onGrid = grid(x, y);
        expect(field.distance(x, y)).toBeLessThanOrEqual(onGrid + 1e-9);
        // Eight directions cost at most 8.2 %, and corners up to a cell each.
        expect(field.distance(x, y)).toBeGreaterThan(onGrid / 1.083 - 10 * pitch);
      }
    }
  });

  it('keeps the comfortable graph off the walls but never loses an agent that slid along one', () => {
    const layout = createLayout(5);
    const { minX, minY } = layout.rooms[0]!.box;
    const field = layout.comfortable.fieldTo(freePoints(layout, createRandom(9), 1)[0]!);
    expect(layout.comfortable.isFree(minX + 0.2, minY + 1)).toBe(false);
    const alongTheWall = Array.from({ length: 18 }, (_unused, i) => minY + 0.2 + i * 0.1).filter((y) =>
      layout.navigation.isFree(minX + 0.18, y),
    );
    expect(alongTheWall.length).toBeGreaterThan(3);
    for (const y of alongTheWall) expect(field.distance(minX + 0.18, y)).toBeLessThan(Infinity);
  });
});

/** Dijkstra on an eight-connected grid whose edges are checked against the obstacles: an independent upper bound. */
function gridDistances(layout: Layout, goal: Point, pitch: number): (x: number, y: number) => number {
  const columns = Math.ceil(layout.bounds.maxX / pitch) + 1;
  const rows = Math.ceil(layout.bounds.maxY / pitch) + 1;
  const at = (c: number, r: number): number => r * columns + c;
  const free = Array.from({ length: columns * rows }, (_u, i) =>
    layout.navigation.isFree((i % columns) * pitch, Math.floor(i / columns) * pitch),
  );
  const lengths = new Float64Array(columns * rows).fill(Infinity);
  const start = at(Math.round(goal.x / pitch), Math.round(goal.y / pitch));
  lengths[start] = 0;
  let changed = new Set([start]);
  while (changed.size > 0) {
    const next = new Set<number>();
    for (const cell of changed) {
      const [c, r] = [cell % columns, Math.floor(cell / columns)];
      for (let dc = -1; dc <= 1; dc++) {
        for (let dr = -1; dr <= 1; dr++) {
          if (c + dc < 0 || c + dc >= columns || r + dr < 0 || r + dr >= rows) continue;
          const to = at(c + dc, r + dr);
          const length = lengths[cell]! + pitch * Math.hypot(dc, dr);
          if (!free[to] || length >= lengths[to]! - 1e-12) continue;
          const crosses = layout.obstacles.some((box) =>
            segmentCrosses(box, c * pitch, r * pitch, (c + dc) * pitch, (r + dr) * pitch),
          );
          if (crosses) continue;
          lengths[to] = length;
          next.add(to);
        }
      }
    }
    changed = next;
  }
  return (x, y) => lengths[at(Math.round(x / pitch), Math.round(y / pitch))]!;
}
