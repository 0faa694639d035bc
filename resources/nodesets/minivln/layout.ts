// An apartment from a seed: a rectangle split into rooms, doors between neighbours, walls and furniture as solid
// boxes. Room types are unique in an apartment; the doors of a room all have different colours.
import { createRandom, deriveSeed, shuffled } from 'agentcanvas';
import { roomKinds, type RoomKind } from './appearance.ts';
import { placeDoors, type Door } from './doors.ts';
import { furnish, type Landmark } from './furniture.ts';
import { inflated, type Box } from './geometry.ts';
import { agentRadius } from './motion.ts';
import { createNavigation, type Navigation } from './navigation.ts';
import { splitIntoRooms, wallThickness, type Wall } from './partition.ts';

/** Paths keep this much more room than a collision needs. */
const comfort = 0.12;
const fewestRooms = 6;

export interface Room {
  readonly index: number;
  readonly kind: RoomKind;
  /** Inner faces of the walls. */
  readonly box: Box;
  readonly doors: readonly number[];
  readonly landmarks: readonly number[];
}

export interface Layout {
  readonly seed: number;
  readonly bounds: Box;
  readonly rooms: readonly Room[];
  readonly doors: readonly Door[];
  readonly landmarks: readonly Landmark[];
  /** Walls and furniture as they stand. */
  readonly solids: readonly Box[];
  /** The same, inflated by the agent's radius: what its centre cannot enter. */
  readonly obstacles: readonly Box[];
  /** Exact shortest paths of the agent's centre. */
  readonly navigation: Navigation;
  /** Shortest paths with some clearance: reference paths, and what the expert follows. */
  readonly comfortable: Navigation;
}

/** Seeds that cannot be furnished or coloured are replaced by derived ones, so every seed has a layout. */
export function createLayout(seed: number): Layout {
  for (let attempt = 0; attempt < 200; attempt++) {
    const layout = tryLayout(deriveSeed('layout', seed, attempt), seed);
    if (layout) return layout;
  }
  throw new Error(`minivln could not furnish an apartment for layout seed ${seed}; please report this seed`);
}

function tryLayout(attemptSeed: number, seed: number): Layout | undefined {
  const random = createRandom(attemptSeed);
  const { bounds, regions, walls } = splitIntoRooms(random);
  if (regions.length < fewestRooms) return undefined;
  const doors = placeDoors(regions, walls, random);
  if (!doors) return undefined;
  const kinds = shuffled(roomKinds, random);
  const boxes = regions.map((region) => inflated(region, -wallThickness / 2));
  const landmarks = furnish(boxes, doors, random);
  if (!landmarks) return undefined;
  const rooms = boxes.map((box, index) => ({
    index,
    kind: kinds[index] ?? 'hall',
    box,
    doors: doors.filter((door) => door.rooms.includes(index)).map((door) => door.index),
    landmarks: landmarks.filter((landmark) => landmark.room === index).map((landmark) => landmark.index),
  }));
  const solids = [...wallSolids(bounds, walls, doors), ...landmarks.map((landmark) => landmark.footprint)];
  return {
    seed,
    bounds,
    rooms,
    doors,
    landmarks,
    solids,
    obstacles: solids.map((solid) => inflated(solid, agentRadius)),
    navigation: createNavigation(solids, agentRadius),
    comfortable: createNavigation(solids, agentRadius, agentRadius + comfort),
  };
}

/** Outer walls, and inner walls cut at the doors. */
function wallSolids(bounds: Box, walls: readonly Wall[], doors: readonly Door[]): Box[] {
  const half = wallThickness / 2;
  const { minX, minY, maxX, maxY } = bounds;
  const solids: Box[] = [
    { minX: minX - half, maxX: minX + half, minY: minY - half, maxY: maxY + half },
    { minX: maxX - half, maxX: maxX + half, minY: minY - half, maxY: maxY + half },
    { minX: minX - half, maxX: maxX + half, minY: minY - half, maxY: minY + half },
    { minX: minX - half, maxX: maxX + half, minY: maxY - half, maxY: maxY + half },
  ];
  for (const { axis, at, low, high } of walls) {
    const piece = (from: number, to: number): Box =>
      axis === 'x'
        ? { minX: at - half, maxX: at + half, minY: from, maxY: to }
        : { minX: from, maxX: to, minY: at - half, maxY: at + half };
    const gaps = doors
      .filter((door) => door.axis === axis)
      .map(({ opening }) =>
        axis === 'x'
          ? { at: (opening.minX + opening.maxX) / 2, from: opening.minY, to: opening.maxY }
          : { at: (opening.minY + opening.maxY) / 2, from: opening.minX, to: opening.maxX },
      )
      .filter((gap) => Math.abs(gap.at - at) < half && gap.from >= low && gap.to <= high)
      .sort((first, second) => first.from - second.from);
    let from = low - half;
    for (const gap of gaps) {
      solids.push(piece(from, gap.from));
      from = gap.to;
    }
    solids.push(piece(from, high + half));
  }
  return solids;
}

/** The room a point is in, or undefined in a doorway or a wall. */
export function roomAt(layout: Layout, x: number, y: number): Room | undefined {
  return layout.rooms.find(({ box }) => x >= box.minX && x <= box.maxX && y >= box.minY && y <= box.maxY);
}
