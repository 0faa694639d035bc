// Doors between neighbouring rooms: a random spanning tree plus some more, so that there is usually a choice.
// The doors of one room all have different colours; a door has the same colour on both sides.
import { shuffled, type Random } from 'agentcanvas';
import { colourNames, type Colour } from './appearance.ts';
import type { Box } from './geometry.ts';
import { wallThickness, type Wall } from './partition.ts';

export const doorWidth = 1;
const cornerMargin = 0.4;
const extraDoorShare = 0.6;
const maxDoorsPerRoom = 4;

export interface Door {
  readonly index: number;
  /** Lower coordinate first. */
  readonly rooms: readonly [number, number];
  /** Axis one walks along to pass it. */
  readonly axis: 'x' | 'y';
  readonly opening: Box;
  readonly colour: Colour;
}

interface Passage {
  readonly rooms: readonly [number, number];
  readonly axis: 'x' | 'y';
  /** Where the wall's centre line is, on `axis`. */
  readonly at: number;
  /** Shared stretch of the wall, on the other axis. */
  readonly low: number;
  readonly high: number;
}

/** Every pair of rooms whose common wall has space for a door. */
function passagesBetween(regions: readonly Box[], walls: readonly Wall[]): Passage[] {
  const needed = doorWidth + 2 * cornerMargin;
  return walls.flatMap((wall) => {
    const ends = regions.map((region) =>
      wall.axis === 'x'
        ? { before: region.maxX, after: region.minX, low: region.minY, high: region.maxY }
        : { before: region.maxY, after: region.minY, low: region.minX, high: region.maxX },
    );
    return ends.flatMap((first, a) =>
      ends.flatMap((second, b) => {
        const low = Math.max(first.low, second.low, wall.low);
        const high = Math.min(first.high, second.high, wall.high);
        const adjacent = first.before === wall.at && second.after === wall.at && high - low >= needed;
        return adjacent ? [{ rooms: [a, b] as const, axis: wall.axis, at: wall.at, low, high }] : [];
      }),
    );
  });
}

/** A random spanning tree plus some more doors; undefined when the rooms cannot be connected or coloured. */
export function placeDoors(
  regions: readonly Box[],
  walls: readonly Wall[],
  random: Random,
): Door[] | undefined {
  const group = regions.map((_region, index) => index);
  const doors: Door[] = [];
  for (const passage of shuffled(passagesBetween(regions, walls), random)) {
    const [a, b] = passage.rooms;
    const isBridge = group[a] !== group[b];
    const neighbours = doors.filter((door) => door.rooms.includes(a) || door.rooms.includes(b));
    const isFull = [a, b].some(
      (room) => doors.filter((door) => door.rooms.includes(room)).length >= maxDoorsPerRoom,
    );
    const isWanted = random.next() < extraDoorShare;
    if (!isBridge && (isFull || !isWanted)) continue;
    const colour = shuffled(colourNames, random).find(
      (name) => !neighbours.some((door) => door.colour === name),
    );
    if (!colour) {
      if (isBridge) return undefined;
      continue;
    }
    doors.push({
      index: doors.length,
      rooms: passage.rooms,
      axis: passage.axis,
      opening: openingOf(passage, random),
      colour,
    });
    const merged = group[b];
    group.forEach((root, index) => {
      if (root === merged) group[index] = group[a] ?? 0;
    });
  }
  return new Set(group).size === 1 ? doors : undefined;
}

function openingOf({ axis, at, low, high }: Passage, random: Random): Box {
  const room = high - low - doorWidth - 2 * cornerMargin;
  const start = low + cornerMargin + random.next() * room;
  const half = wallThickness / 2;
  return axis === 'x'
    ? { minX: at - half, maxX: at + half, minY: start, maxY: start + doorWidth }
    : { minX: start, maxX: start + doorWidth, minY: at - half, maxY: at + half };
}
