// Instructions over a true path: per door one clause, then where to stop. Fixed vocabulary, fixed token length.
// A clause is emitted only when it fits exactly one door of the room it is read in (see docs/minivln.md for the
// meaning of every phrase).
import { Tensor, type Random } from 'agentcanvas';
import { colourNames, roomKinds } from './appearance.ts';
import type { Door } from './doors.ts';
import { centreOf, type Point } from './geometry.ts';
import { roomAt, type Layout } from './layout.ts';
import { headingRadians, type AgentPose } from './motion.ts';
import { shapeNames } from './shapes.ts';

export const tokenCount = 48;

const grammarWords =
  '<pad> . turn left right around straight and then go walk leave enter through into to the door stop at'.split(
    ' ',
  );

/** Index = token id; 0 pads. */
export const vocabulary: readonly string[] = [...grammarWords, ...colourNames, ...roomKinds, ...shapeNames];

const idOf = new Map(vocabulary.map((word, id) => [word, id]));

export function tokenise(text: string): number[] {
  const words = text.toLowerCase().match(/[a-z]+|\./g) ?? [];
  return words.map((word) => {
    const id = idOf.get(word);
    if (id === undefined) throw new Error(`minivln: "${word}" is not in the vocabulary`);
    return id;
  });
}

/** int32 tensor of `tokenCount` ids. */
export function tokenTensor(text: string): Tensor {
  const data = new Int32Array(tokenCount);
  const ids = tokenise(text);
  if (ids.length > tokenCount)
    throw new Error(`minivln: an instruction of ${ids.length} tokens does not fit ${tokenCount}`);
  data.set(ids);
  return Tensor.of('int32', [tokenCount], data);
}

export type Side = 'straight' | 'left' | 'right' | 'around';

/** Degrees counter-clockwise from a reference direction to a point, in (-180, 180]. */
export function bearingDegrees(from: Point, headingRad: number, to: Point): number {
  const degrees = ((Math.atan2(to.y - from.y, to.x - from.x) - headingRad) * 180) / Math.PI;
  const wrapped = ((degrees % 360) + 360) % 360;
  return wrapped > 180 ? wrapped - 360 : wrapped;
}

/** straight within 30 degrees, around beyond 135, else left or right. */
export function sideOf(bearing: number): Side {
  const size = Math.abs(bearing);
  if (size <= 30) return 'straight';
  if (size > 135) return 'around';
  return bearing > 0 ? 'left' : 'right';
}

/** Where a clause is read: the start pose, or the doorway just passed and the direction it was passed in. */
export interface Viewpoint {
  readonly position: Point;
  readonly headingRad: number;
}

/** The viewpoint after walking through a door out of `fromRoom`. */
export function viewpointAfter(door: Door, fromRoom: number): Viewpoint {
  const isForward = door.rooms[0] === fromRoom;
  const along = door.axis === 'x' ? 0 : Math.PI / 2;
  return { position: centreOf(door.opening), headingRad: isForward ? along : along + Math.PI };
}

export interface Route {
  readonly start: AgentPose;
  /** Doors passed, in order. */
  readonly doors: readonly number[];
  readonly landmark: number;
}

/** The instruction's text; the random source chooses among phrases that are unambiguous here. */
export function describeRoute(layout: Layout, { start, doors, landmark }: Route, random: Random): string {
  let room = roomAt(layout, start.x, start.y)?.index ?? 0;
  let viewpoint: Viewpoint = { position: start, headingRad: headingRadians(start.heading) };
  const sentences: string[] = [];
  for (const index of doors) {
    const door = layout.doors[index]!;
    sentences.push(describeDoor(layout, { door, room, viewpoint }, random));
    viewpoint = viewpointAfter(door, room);
    room = otherRoom(door, room);
  }
  sentences.push(describeStop(layout, { landmark, viewpoint }, random));
  return sentences.map((sentence) => `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`).join(' ');
}

export function otherRoom(door: Door, room: number): number {
  return door.rooms[0] === room ? door.rooms[1] : door.rooms[0];
}

interface DoorClause {
  readonly door: Door;
  readonly room: number;
  readonly viewpoint: Viewpoint;
}

function describeDoor(layout: Layout, { door, room, viewpoint }: DoorClause, random: Random): string {
  const side = sideOf(bearingDegrees(viewpoint.position, viewpoint.headingRad, centreOf(door.opening)));
  const target = layout.rooms[otherRoom(door, room)]!.kind;
  const verb = random.next() < 0.5 ? 'go' : 'walk';
  const choice = random.next();
  if (choice < 0.2 && isOnlyDoorOnSide(layout, { door, room, viewpoint }, side))
    return turning(side, `${verb} through the door`);
  if (choice < 0.55) return turning(side, `${verb} through the ${door.colour} door`);
  if (choice < 0.7) return turning(side, `${verb} through the ${door.colour} door into the ${target}`);
  if (choice < 0.8)
    return turning(side, `leave the ${layout.rooms[room]!.kind} through the ${door.colour} door`);
  return turning(side, random.next() < 0.5 ? `enter the ${target}` : `${verb} into the ${target}`);
}

function turning(side: Side, rest: string): string {
  if (side !== 'straight') return `turn ${side} and ${rest}`;
  return /^(go|walk) /.test(rest) ? rest.replace(' ', ' straight ') : rest;
}

/** Degrees another door may not come near the side's sector when the side alone names the door. */
const sideMargin = 20;

function isOnlyDoorOnSide(layout: Layout, { door, room, viewpoint }: DoorClause, side: Side): boolean {
  const bearingTo = (index: number): number =>
    bearingDegrees(viewpoint.position, viewpoint.headingRad, centreOf(layout.doors[index]!.opening));
  const own = bearingTo(door.index);
  const isClear = [-10, 10].every((shift) => sideOf(own + shift) === side);
  // The door just come through is behind; "turn around" is read only at the start.
  const others = layout.rooms[room]!.doors.filter(
    (index) => index !== door.index && !isAt(layout, index, viewpoint),
  );
  return (
    isClear &&
    others.every((index) =>
      [-sideMargin, 0, sideMargin].every((shift) => sideOf(bearingTo(index) + shift) !== side),
    )
  );
}

function isAt(layout: Layout, door: number, { position }: Viewpoint): boolean {
  const centre = centreOf(layout.doors[door]!.opening);
  return centre.x === position.x && centre.y === position.y;
}

function describeStop(
  layout: Layout,
  at: { landmark: number; viewpoint: Viewpoint },
  random: Random,
): string {
  const { colour, noun, footprint } = layout.landmarks[at.landmark]!;
  const { position, headingRad } = at.viewpoint;
  const side = sideOf(bearingDegrees(position, headingRad, centreOf(footprint)));
  const choice = random.next();
  const rest =
    choice < 0.5
      ? `stop at the ${colour} ${noun}`
      : `${choice < 0.75 ? 'go' : 'walk'} to the ${colour} ${noun} and stop`;
  const sentence = turning(side, rest);
  return random.next() < 0.3 ? `then ${sentence}` : sentence;
}
