// Furniture: the landmarks instructions name. Each piece stands with its back to a wall, leaves doors free, keeps
// its distance from other pieces, and is the only one of its colour and name in the room.
import type { Random } from 'agentcanvas';
import { colourNames, type Colour } from './appearance.ts';
import { gapBetween, inflated, overlaps, type Box } from './geometry.ts';
import type { Door } from './doors.ts';
import { shapes, shapeNames, type LocalPart, type Part, type ShapeName } from './shapes.ts';

/** Two pieces are never closer than this, so that one cannot be reached while standing at the other. */
const minGap = 1.6;
/** A piece leaves a way past it at least this wide. */
const minPassage = 0.9;
const doorClearance = 0.95;

export interface Landmark {
  readonly index: number;
  readonly room: number;
  readonly noun: ShapeName;
  readonly colour: Colour;
  readonly footprint: Box;
  readonly parts: readonly Part[];
}

type Side = 'minX' | 'maxX' | 'minY' | 'maxY';
const sides: readonly Side[] = ['minX', 'maxX', 'minY', 'maxY'];

/** Two to four pieces per room; undefined when a room does not take two. */
export function furnish(
  rooms: readonly Box[],
  doors: readonly Door[],
  random: Random,
): Landmark[] | undefined {
  const landmarks: Landmark[] = [];
  for (const [room, box] of rooms.entries()) {
    const keepFree = doors.filter((door) => door.rooms.includes(room)).map((door) => doorZone(door));
    const area = (box.maxX - box.minX) * (box.maxY - box.minY);
    const wanted = area > 19 ? 4 : area > 13 ? 3 : 2 + random.integer(2);
    const placed: Landmark[] = [];
    for (let attempt = 0; attempt < 60 && placed.length < wanted; attempt++) {
      const piece = proposePiece(box, random);
      if (!fits(piece, { box, keepFree, placed })) continue;
      placed.push({ ...piece, index: landmarks.length + placed.length, room });
    }
    if (placed.length < 2) return undefined;
    landmarks.push(...placed);
  }
  return landmarks;
}

type Piece = Omit<Landmark, 'index' | 'room'>;

function doorZone(door: Door): Box {
  const { opening } = door;
  return door.axis === 'x'
    ? { ...opening, minX: opening.minX - doorClearance, maxX: opening.maxX + doorClearance }
    : { ...opening, minY: opening.minY - doorClearance, maxY: opening.maxY + doorClearance };
}

function proposePiece(box: Box, random: Random): Piece {
  const noun = shapeNames[random.integer(shapeNames.length)] ?? 'table';
  const colour = colourNames[random.integer(colourNames.length)] ?? 'red';
  const side = sides[random.integer(sides.length)] ?? 'minX';
  const { width, depth, parts } = shapes[noun];
  const alongX = side === 'minY' || side === 'maxY';
  const length = alongX ? box.maxX - box.minX : box.maxY - box.minY;
  const start = (alongX ? box.minX : box.minY) + 0.05 + random.next() * Math.max(0, length - width - 0.1);
  const place = placer(box, side, start);
  return {
    noun,
    colour,
    footprint: place(0, 0, width, depth),
    parts: parts.map((part) => placePart(part, place)),
  };
}

type Place = (fromU: number, fromV: number, toU: number, toV: number) => Box;

/** Local to world: u along the wall from `start`, v away from it. */
function placer(box: Box, side: Side, start: number): Place {
  return (fromU, fromV, toU, toV) => {
    switch (side) {
      case 'minX':
        return { minX: box.minX + fromV, maxX: box.minX + toV, minY: start + fromU, maxY: start + toU };
      case 'maxX':
        return { minX: box.maxX - toV, maxX: box.maxX - fromV, minY: start + fromU, maxY: start + toU };
      case 'minY':
        return { minX: start + fromU, maxX: start + toU, minY: box.minY + fromV, maxY: box.minY + toV };
      default:
        return { minX: start + fromU, maxX: start + toU, minY: box.maxY - toV, maxY: box.maxY - fromV };
    }
  };
}

function placePart({ shape, fromU, fromV, toU, toV, ...rest }: LocalPart, place: Place): Part {
  return { ...rest, isRound: shape === 'cylinder', ...place(fromU, fromV, toU, toV) };
}

interface RoomState {
  readonly box: Box;
  readonly keepFree: readonly Box[];
  readonly placed: readonly Landmark[];
}

function fits({ footprint, noun, colour }: Piece, { box, keepFree, placed }: RoomState): boolean {
  const { minX, minY, maxX, maxY } = footprint;
  if (minX < box.minX || minY < box.minY || maxX > box.maxX || maxY > box.maxY) return false;
  const acrossX = Math.max(minX - box.minX, box.maxX - maxX);
  const acrossY = Math.max(minY - box.minY, box.maxY - maxY);
  if (acrossX < minPassage || acrossY < minPassage) return false;
  if (keepFree.some((zone) => overlaps(inflated(zone, 0.1), footprint))) return false;
  return placed.every(
    (other) =>
      gapBetween(other.footprint, footprint) >= minGap && (other.noun !== noun || other.colour !== colour),
  );
}
