// Shortest paths: an exact visibility graph over the corners of inflated obstacles. Distances are true shortest
// lengths for the agent's centre, hence symmetric and never below the straight line.
import { contains, distanceBetween, inflated, segmentCrosses, type Box, type Point } from './geometry.ts';

/** Distances and paths to one fixed point. */
export interface DistanceField {
  readonly origin: Point;
  /** Shortest length from (x, y) to the origin, metres; Infinity when unreachable. */
  distance(x: number, y: number): number;
  /** The shortest polyline from (x, y) to the origin, both included; empty when unreachable. */
  path(x: number, y: number): Point[];
}

export interface Navigation {
  /** Whether the agent's centre may be here with the clearance of this graph. */
  isFree(x: number, y: number): boolean;
  fieldTo(origin: Point): DistanceField;
}

interface Obstacle {
  readonly soft: Box;
  readonly hard: Box;
}

/**
 * `hardMargin` is what collisions use; `softMargin` >= `hardMargin` keeps paths off the walls. A point that stands
 * between the two (it slid along a wall) is judged by the hard box of the obstacles it is that close to.
 */
export function createNavigation(
  solids: readonly Box[],
  hardMargin: number,
  softMargin: number = hardMargin,
): Navigation {
  const obstacles = solids.map((solid) => ({
    soft: inflated(solid, softMargin),
    hard: inflated(solid, hardMargin),
  }));
  const isFree = (x: number, y: number): boolean =>
    !obstacles.some((obstacle) => contains(obstacle.soft, x, y));
  const vertices = obstacles
    .flatMap(({ soft }) => cornersOf(soft))
    .filter((corner) => isFree(corner.x, corner.y));
  const links = linkVertices(vertices, obstacles);
  return { isFree, fieldTo: (origin) => createField(origin, { vertices, obstacles, links }) };
}

function cornersOf(box: Box): Point[] {
  return [
    { x: box.minX, y: box.minY },
    { x: box.maxX, y: box.minY },
    { x: box.maxX, y: box.maxY },
    { x: box.minX, y: box.maxY },
  ];
}

function isVisible(obstacles: readonly Obstacle[], a: Point, b: Point): boolean {
  for (const { soft, hard } of obstacles) {
    if (!segmentCrosses(soft, a.x, a.y, b.x, b.y)) continue;
    const near = soft !== hard && (contains(soft, a.x, a.y) || contains(soft, b.x, b.y));
    if (!near || segmentCrosses(hard, a.x, a.y, b.x, b.y)) return false;
  }
  return true;
}

type Links = readonly (readonly { readonly to: number; readonly length: number }[])[];

function linkVertices(vertices: readonly Point[], obstacles: readonly Obstacle[]): Links {
  const links: { to: number; length: number }[][] = vertices.map(() => []);
  vertices.forEach((from, i) => {
    for (let j = i + 1; j < vertices.length; j++) {
      const to = vertices[j]!;
      if (!isVisible(obstacles, from, to)) continue;
      const length = distanceBetween(from, to);
      links[i]!.push({ to: j, length });
      links[j]!.push({ to: i, length });
    }
  });
  return links;
}

interface Graph {
  readonly vertices: readonly Point[];
  readonly obstacles: readonly Obstacle[];
  readonly links: Links;
}

function createField(origin: Point, graph: Graph): DistanceField {
  const { vertices, obstacles } = graph;
  const { lengths, next } = shortestLengths(origin, graph);
  const keys = new Float64Array(vertices.length);

  /** Index of the first vertex of the shortest path, -1 for a straight line, undefined when unreachable. */
  const firstHop = (from: Point): number | undefined => {
    if (isVisible(obstacles, from, origin)) return -1;
    for (let i = 0; i < keys.length; i++) keys[i] = distanceBetween(from, vertices[i]!) + lengths[i]!;
    for (;;) {
      let best = -1;
      let bestKey = Infinity;
      for (let i = 0; i < keys.length; i++) {
        if (keys[i]! < bestKey) {
          best = i;
          bestKey = keys[i]!;
        }
      }
      if (best < 0) return undefined;
      if (isVisible(obstacles, from, vertices[best]!)) return best;
      keys[best] = Infinity;
    }
  };
  return {
    origin,
    distance(x, y) {
      const from = { x, y };
      const hop = firstHop(from);
      if (hop === undefined) return Infinity;
      return hop < 0 ? distanceBetween(from, origin) : distanceBetween(from, vertices[hop]!) + lengths[hop]!;
    },
    path(x, y) {
      const from = { x, y };
      const hop = firstHop(from);
      if (hop === undefined) return [];
      const points = [from];
      for (let i = hop; i >= 0; i = next[i]!) points.push(vertices[i]!);
      return [...points, origin];
    },
  };
}

/** Dijkstra over the dense graph: length to the origin, and the next vertex towards it (-1: the origin itself). */
function shortestLengths(origin: Point, graph: Graph): { lengths: Float64Array; next: Int32Array } {
  const { vertices, obstacles, links } = graph;
  const lengths = new Float64Array(vertices.length).fill(Infinity);
  const next = new Int32Array(vertices.length).fill(-1);
  const done = new Uint8Array(vertices.length);
  vertices.forEach((vertex, i) => {
    if (isVisible(obstacles, vertex, origin)) lengths[i] = distanceBetween(vertex, origin);
  });
  for (;;) {
    let nearest = -1;
    let nearestLength = Infinity;
    for (let i = 0; i < lengths.length; i++) {
      if (!done[i] && lengths[i]! < nearestLength) {
        nearest = i;
        nearestLength = lengths[i]!;
      }
    }
    if (nearest < 0) return { lengths, next };
    done[nearest] = 1;
    for (const { to, length } of links[nearest]!) {
      if (nearestLength + length < lengths[to]!) {
        lengths[to] = nearestLength + length;
        next[to] = nearest;
      }
    }
  }
}
