// An episode from (split, index): apartment, start, goal, reference path, instruction. Pure and lazy: nothing is
// stored. The goal is where the path first reaches the named landmark; other landmarks are out of its radius.
import { createRandom, deriveSeed, type Random } from 'agentcanvas';
import type { Landmark } from './furniture.ts';
import { distanceToBox, inflated, lengthOf, resampled, type Point } from './geometry.ts';
import { describeRoute, otherRoom } from './instruction.ts';
import { createLayout, roomAt, type Layout } from './layout.ts';
import { headingCount, type AgentPose } from './motion.ts';
import type { DistanceField } from './navigation.ts';
import { episodeIdOf, sceneOf, type EpisodeAddress } from './splits.ts';

export const successRadius = 1;
export const stepBudget = 200;
/** Gap between a landmark and the goal in front of it. */
const reach = 0.5;
const shortestPath = 3.5;
const longestPath = 16;
const mostDoors = 3;
/** An episode starts where at least this many goals are possible: the instruction must decide. */
const leastChoice = 4;
/** Starts tried before any number of doors will do. */
const patience = 10;
/** Share of episodes that pass 1, 2 and 3 doors, where the apartment allows. */
const doorShares = [0.3, 0.4, 0.3] as const;
/** A comfortable path this much longer than the shortest one is not taken as a reference. */
const longestDetour = 1.06;
/** Distance between points of the reference path: one forward step. */
const referenceSpacing = 0.25;

export interface Episode extends EpisodeAddress {
  readonly episodeId: string;
  readonly sceneId: string;
  readonly layout: Layout;
  readonly start: AgentPose;
  readonly goal: Point;
  readonly landmark: number;
  readonly doors: readonly number[];
  readonly referencePath: readonly Point[];
  /** Shortest length from start to goal, metres: the ruler of SPL. */
  readonly shortestLength: number;
  readonly instruction: string;
}

/** `layoutOf` may cache; it must return `createLayout(seed)`. */
export function createEpisode(
  address: EpisodeAddress,
  layoutOf: (seed: number) => Layout = createLayout,
): Episode {
  const { sceneId, layoutSeed } = sceneOf(address);
  const layout = layoutOf(layoutSeed);
  const random = createRandom(deriveSeed('minivln episode', address.split, address.index));
  const wantedDoors = drawDoorCount(random);
  for (let attempt = 0; attempt < 500; attempt++) {
    const start = drawStart(layout, random);
    if (!start) continue;
    const routes = plausibleRoutes(layout, start);
    if (routes.length < leastChoice) continue;
    const fitting = routes.filter(
      (candidate) => attempt >= patience || candidate.doors.length === wantedDoors,
    );
    const route = fitting[random.integer(fitting.length)];
    if (!route) continue;
    const instruction = describeRoute(
      layout,
      { start, doors: route.doors, landmark: route.landmark },
      random,
    );
    return { ...address, episodeId: episodeIdOf(address), sceneId, layout, start, instruction, ...route };
  }
  throw new Error(`minivln could not place episode ${episodeIdOf(address)}; please report this id`);
}

function drawDoorCount(random: Random): number {
  const draw = random.next();
  return draw < doorShares[0] ? 1 : draw < doorShares[0] + doorShares[1] ? 2 : 3;
}

function drawStart(layout: Layout, random: Random): AgentPose | undefined {
  const room = layout.rooms[random.integer(layout.rooms.length)]!;
  const { minX, minY, maxX, maxY } = room.box;
  const x = minX + random.next() * (maxX - minX);
  const y = minY + random.next() * (maxY - minY);
  const heading = random.integer(headingCount);
  const isClear = room.landmarks.every(
    (index) => distanceToBox(layout.landmarks[index]!.footprint, x, y) > reach,
  );
  return isClear && layout.comfortable.isFree(x, y) ? { x, y, heading } : undefined;
}

export type RouteToLandmark = Pick<
  Episode,
  'goal' | 'landmark' | 'doors' | 'referencePath' | 'shortestLength'
>;

/** Every landmark that could be the goal from this start: what an agent without the instruction must guess among. */
export function plausibleRoutes(layout: Layout, start: AgentPose): RouteToLandmark[] {
  const field = layout.comfortable.fieldTo(start);
  return layout.landmarks.flatMap((landmark) => routeTo(layout, { start, field, landmark }) ?? []);
}

interface RouteRequest {
  readonly start: AgentPose;
  /** Comfortable distances to the start. */
  readonly field: DistanceField;
  readonly landmark: Landmark;
}

function routeTo(layout: Layout, { start, field, landmark }: RouteRequest): RouteToLandmark | undefined {
  const goal = nearestStop(layout, field, landmark);
  if (!goal || !isApart(layout, goal, landmark)) return undefined;
  const path = field.path(goal.x, goal.y).toReversed();
  const length = lengthOf(path);
  if (length < shortestPath || length > longestPath) return undefined;
  const doors = doorsAlong(layout, path);
  if (doors.length < 1 || doors.length > mostDoors || !leadsTo(layout, { start, doors, room: landmark.room }))
    return undefined;
  const shortestLength = layout.navigation.fieldTo(goal).distance(start.x, start.y);
  if (length > shortestLength * longestDetour) return undefined;
  return {
    goal,
    landmark: landmark.index,
    doors,
    referencePath: resampled(path, referenceSpacing),
    shortestLength,
  };
}

/** The place beside the landmark, in its room, that is the shortest way from the field's origin. */
function nearestStop(layout: Layout, field: DistanceField, landmark: Landmark): Point | undefined {
  const room = layout.rooms[landmark.room]!.box;
  let best: Point | undefined;
  let bestDistance = Infinity;
  for (const point of ringAround(landmark)) {
    const isInside = point.x > room.minX && point.x < room.maxX && point.y > room.minY && point.y < room.maxY;
    if (!isInside || !layout.comfortable.isFree(point.x, point.y)) continue;
    const distance = field.distance(point.x, point.y);
    if (distance >= bestDistance) continue;
    best = point;
    bestDistance = distance;
  }
  return best;
}

/** Points `reach` away from the footprint: along its sides and at its rounded corners. */
function ringAround({ footprint }: Landmark): Point[] {
  const outer = inflated(footprint, reach);
  const { minX, minY, maxX, maxY } = footprint;
  const sides = [0.1, 0.3, 0.5, 0.7, 0.9].flatMap((share) => {
    const x = minX + (maxX - minX) * share;
    const y = minY + (maxY - minY) * share;
    return [
      { x, y: outer.minY },
      { x, y: outer.maxY },
      { x: outer.minX, y },
      { x: outer.maxX, y },
    ];
  });
  const diagonal = reach * Math.SQRT1_2;
  const corners = [minX - diagonal, maxX + diagonal].flatMap((x) =>
    [minY - diagonal, maxY + diagonal].map((y) => ({ x, y })),
  );
  return [...sides, ...corners];
}

/** Standing as near to any other landmark of the room is outside the success radius of this goal. */
function isApart(layout: Layout, goal: Point, landmark: Landmark): boolean {
  return layout.rooms[landmark.room]!.landmarks.every((index) => {
    const other = layout.landmarks[index]!;
    return other === landmark || distanceToBox(other.footprint, goal.x, goal.y) > reach + successRadius;
  });
}

/** Doors a polyline passes, in order: where it crosses the middle of the wall inside the opening. */
export function doorsAlong(layout: Layout, path: readonly Point[]): number[] {
  return path.slice(1).flatMap((to, i) => {
    const from = path[i]!;
    return layout.doors
      .map((door) => ({ index: door.index, at: crossingShare(door, from, to) }))
      .filter((hit) => hit.at !== undefined)
      .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
      .map((hit) => hit.index);
  });
}

function crossingShare(
  { axis, opening }: Layout['doors'][number],
  from: Point,
  to: Point,
): number | undefined {
  const other = axis === 'x' ? 'y' : 'x';
  const [low, high] = axis === 'x' ? [opening.minY, opening.maxY] : [opening.minX, opening.maxX];
  const plane = axis === 'x' ? (opening.minX + opening.maxX) / 2 : (opening.minY + opening.maxY) / 2;
  if (from[axis] < plane === to[axis] < plane) return undefined;
  const share = (plane - from[axis]) / (to[axis] - from[axis]);
  const along = from[other] + (to[other] - from[other]) * share;
  return along > low && along < high ? share : undefined;
}

/** Whether the doors chain from the start's room to the landmark's, each room entered once. */
function leadsTo(
  layout: Layout,
  { start, doors, room }: { start: AgentPose; doors: readonly number[]; room: number },
): boolean {
  let current = roomAt(layout, start.x, start.y)?.index;
  const visited = new Set([current]);
  for (const index of doors) {
    const door = layout.doors[index]!;
    if (current === undefined || !door.rooms.includes(current)) return false;
    current = otherRoom(door, current);
    if (visited.has(current)) return false;
    visited.add(current);
  }
  return current === room;
}
