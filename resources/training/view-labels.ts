// What can be seen in each of 16 columns of a view: the training signal of the image encoder. Read off a second
// rendering in which every surface carries a code instead of its colour, so occlusion is exact.
import { colourNames, roomKinds, type Rgb } from '../nodesets/minivln/appearance.ts';
import { otherRoom } from '../nodesets/minivln/instruction.ts';
import { headingCosines, headingSines, type AgentPose } from '../nodesets/minivln/motion.ts';
import { createCamera, createScene, type Scene } from '../nodesets/minivln/render.ts';
import { shapeNames } from '../nodesets/minivln/shapes.ts';
import type { Layout } from '../nodesets/minivln/layout.ts';

export const viewSize = { width: 64, height: 48 } as const;
export const columnCount = 16;
const pixelsPerColumn = viewSize.width / columnCount;
export const landmarkClasses = colourNames.length * shapeNames.length;
/** Fewer pixels than this are not worth a label. */
const leastPixels = 2;

/** Per column; depths in 0.1 m, 0 = not visible. */
export interface ViewLabels {
  /** Bit k: a wall of `roomKinds[k]` is visible. (16) */
  readonly walls: Uint16Array;
  /** Nearest visible frame of a door of this colour. (16, 6) */
  readonly doors: Uint8Array;
  /** Nearest visible piece; class = shape x 6 + colour. (16, 48) */
  readonly landmarks: Uint8Array;
  /** Nearest upright surface. (16) */
  readonly space: Uint8Array;
  /** Colour of the door of the agent's own room that this column looks through; 6 = none. (16) */
  readonly portalColour: Uint8Array;
  /** Kind of the room behind that door; 9 = none. (16) */
  readonly portalRoom: Uint8Array;
}

const floorCode = 0;
const wallCodes = 1;
const doorCodes = wallCodes + roomKinds.length;
const landmarkCodes = doorCodes + colourNames.length;
const codeCount = landmarkCodes + landmarkClasses;
/** Codes are ratios of channels in sixteenths, which shading leaves alone; the ceiling's ratios are above 14. */
const levels = 15;

function paintOf(code: number): Rgb {
  const full = 230;
  return [full, (full * (code % levels)) / 16, (full * Math.floor(code / levels)) / 16];
}

function codeOf(rgb: Uint8Array, at: number): number {
  const red = Math.max(1, rgb[at]! + 0.5);
  const low = Math.round(((rgb[at + 1]! + 0.5) * 16) / red);
  const high = Math.round(((rgb[at + 2]! + 0.5) * 16) / red);
  return low < levels && high < levels ? high * levels + low : codeCount;
}

/** The same apartment with codes for colours. */
function codedScene(scene: Scene): Scene {
  const { layout } = scene;
  const rooms = layout.rooms.length;
  const frameOf = (door: number): Rgb => paintOf(doorCodes + colourNames.indexOf(layout.doors[door]!.colour));
  const floor = paintOf(floorCode);
  const cells = scene.cells.map((cell, index) => {
    const room = layout.rooms[index];
    const wall = room ? paintOf(wallCodes + roomKinds.indexOf(room.kind)) : frameOf(index - rooms);
    const codes = room?.landmarks.flatMap((landmark) => landmarkPaints(layout, landmark)) ?? [];
    const [minX, maxX, minY, maxY] = cell.portals;
    const recoloured = [minX, maxX, minY, maxY].map((side) =>
      side.map((portal) => ({ ...portal, frame: frameOf(room ? portal.cell - rooms : index - rooms) })),
    );
    return {
      ...cell,
      look: { ...cell.look, wall, accent: wall, floor, floorAccent: floor },
      portals: [recoloured[0]!, recoloured[1]!, recoloured[2]!, recoloured[3]!] as const,
      parts: cell.parts.map((part, i) => ({ ...part, paint: codes[i]! })),
    };
  });
  return { layout, cells };
}

function landmarkPaints(layout: Layout, index: number): Rgb[] {
  const { colour, noun, parts } = layout.landmarks[index]!;
  const code = landmarkCodes + shapeNames.indexOf(noun) * colourNames.length + colourNames.indexOf(colour);
  return parts.map(() => paintOf(code));
}

/** A labeller of one apartment. */
export function createViewLabeller(layout: Layout): (pose: AgentPose) => ViewLabels {
  const scene = codedScene(createScene(layout));
  const camera = createCamera(viewSize);
  return (pose) => {
    const { rgb, depth } = camera(scene, pose);
    const image = { codes: codesOf(rgb.data), depth: depth.data };
    return { ...surfaces(image), ...portals(scene, pose, image.depth) };
  };
}

function codesOf(rgb: ArrayLike<unknown>): Uint8Array {
  if (!(rgb instanceof Uint8Array)) throw new Error('the camera no longer gives uint8 images');
  return Uint8Array.from({ length: rgb.length / 3 }, (_unused, pixel) => codeOf(rgb, pixel * 3));
}

interface CodedImage {
  readonly codes: Uint8Array;
  readonly depth: ArrayLike<number | bigint>;
}

function decimetres(depth: number): number {
  return Math.max(1, Math.min(255, Math.round(depth * 10)));
}

function surfaces({ codes, depth }: CodedImage): Pick<ViewLabels, 'walls' | 'doors' | 'landmarks' | 'space'> {
  const walls = new Uint16Array(columnCount);
  const doors = new Uint8Array(columnCount * colourNames.length);
  const landmarks = new Uint8Array(columnCount * landmarkClasses);
  const space = new Uint8Array(columnCount).fill(255);
  const pixels = new Uint16Array(codeCount + 1);
  const nearest = new Float64Array(codeCount + 1);
  for (let column = 0; column < columnCount; column++) {
    pixels.fill(0);
    nearest.fill(Infinity);
    for (let row = 0; row < viewSize.height; row++) {
      for (let x = 0; x < pixelsPerColumn; x++) {
        const at = row * viewSize.width + column * pixelsPerColumn + x;
        const code = codes[at]!;
        pixels[code]! += 1;
        nearest[code] = Math.min(nearest[code]!, Number(depth[at]));
      }
    }
    for (let code = wallCodes; code < codeCount; code++) {
      if (pixels[code]! < leastPixels) continue;
      const far = decimetres(nearest[code]!);
      space[column] = Math.min(space[column]!, far);
      if (code < doorCodes) walls[column]! |= 1 << (code - wallCodes);
      else if (code < landmarkCodes) doors[column * colourNames.length + code - doorCodes] = far;
      else landmarks[column * landmarkClasses + code - landmarkCodes] = far;
    }
  }
  return { walls, doors, landmarks, space };
}

/** Which door of the agent's room the middle of each column looks through, unless something tall stands before it. */
function portals(
  scene: Scene,
  pose: AgentPose,
  depth: ArrayLike<number | bigint>,
): Pick<ViewLabels, 'portalColour' | 'portalRoom'> {
  const portalColour = new Uint8Array(columnCount).fill(colourNames.length);
  const portalRoom = new Uint8Array(columnCount).fill(roomKinds.length);
  const cos = headingCosines[pose.heading]!;
  const sin = headingSines[pose.heading]!;
  for (let column = 0; column < columnCount; column++) {
    const x = column * pixelsPerColumn + pixelsPerColumn / 2;
    const across = (viewSize.width / 2 - x) / (viewSize.width / 2);
    const hit = firstPortal(scene, { x: pose.x, y: pose.y, dx: cos - sin * across, dy: sin + cos * across });
    const seen = Number(depth[(viewSize.height / 2 - 1) * viewSize.width + x]);
    if (!hit || seen < hit.far - 0.1) continue;
    const { layout } = scene;
    const door = layout.doors[hit.door]!;
    portalColour[column] = colourNames.indexOf(door.colour);
    portalRoom[column] = roomKinds.indexOf(layout.rooms[otherRoom(door, hit.room)]!.kind);
  }
  return { portalColour, portalRoom };
}

interface PlanRay {
  readonly x: number;
  readonly y: number;
  readonly dx: number;
  readonly dy: number;
}

/** From a doorway the ray is followed into the room ahead first. */
function firstPortal(
  scene: Scene,
  { x, y, dx, dy }: PlanRay,
): { door: number; room: number; far: number } | undefined {
  const rooms = scene.layout.rooms.length;
  let index = scene.cells.findIndex(
    ({ box }) => x >= box.minX && x <= box.maxX && y >= box.minY && y <= box.maxY,
  );
  for (let passed = 0; passed < 2; passed++) {
    const cell = scene.cells[index];
    if (!cell) return undefined;
    const timeX = dx === 0 ? Infinity : ((dx > 0 ? cell.box.maxX : cell.box.minX) - x) / dx;
    const timeY = dy === 0 ? Infinity : ((dy > 0 ? cell.box.maxY : cell.box.minY) - y) / dy;
    const isX = timeX < timeY;
    const far = Math.min(timeX, timeY);
    const along = isX ? y + dy * far : x + dx * far;
    const side = cell.portals[isX ? (dx > 0 ? 1 : 0) : dy > 0 ? 3 : 2];
    const portal = side.find(({ low, high }) => along > low && along < high);
    if (!portal) return undefined;
    if (index < rooms) return { door: portal.cell - rooms, room: index, far };
    index = portal.cell;
  }
  return undefined;
}
