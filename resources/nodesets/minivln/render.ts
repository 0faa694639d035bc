// First-person RGB and depth by column ray casting through rooms and doorways (convex cells joined by portals),
// furniture drawn over them with a depth test. Hot path: allocates only the two images.
// Depth is the distance along the optical axis, metres, as pinhole depth cameras report it.
import { Tensor } from 'agentcanvas';
import { colours, roomLooks, type Rgb, type RoomLook } from './appearance.ts';
import { createCanvas, fillFloor, fillWall, type Canvas } from './canvas.ts';
import { headingCosines, headingSines, type AgentPose } from './motion.ts';
import type { Box } from './geometry.ts';
import type { Layout } from './layout.ts';
import { drawPart, type PaintedPart } from './render-parts.ts';

export const eyeHeight = 1.2;
export const ceilingHeight = 2.5;
export const doorHeight = 2.05;
/** Width of the coloured frame around a door. */
const frameWidth = 0.16;
/** Cells a ray may cross; a straight line meets far fewer. */
const maxCells = 32;

interface Portal {
  readonly low: number;
  readonly high: number;
  readonly cell: number;
  readonly frame: Rgb;
}

/** A room or a doorway. Portals by the side the ray leaves through: minX, maxX, minY, maxY. */
interface Cell {
  readonly box: Box;
  readonly height: number;
  readonly look: RoomLook;
  readonly isDoorway: boolean;
  readonly portals: readonly [readonly Portal[], readonly Portal[], readonly Portal[], readonly Portal[]];
  readonly parts: readonly PaintedPart[];
}

export interface Scene {
  readonly layout: Layout;
  readonly cells: readonly Cell[];
}

export interface Frame {
  /** (height, width, 3) uint8. */
  readonly rgb: Tensor;
  /** (height, width) float32, metres. */
  readonly depth: Tensor;
}

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** What the renderer needs of an apartment; made once per layout. Cells: the rooms, then the doors. */
export function createScene(layout: Layout): Scene {
  const rooms = layout.rooms.map((room): Cell => {
    const doors = room.doors.map((index) => layout.doors[index]!);
    const portalsOf = (axis: 'x' | 'y', isLower: boolean): Portal[] =>
      doors
        .filter((door) => door.axis === axis && (door.rooms[0] === room.index) !== isLower)
        .map((door) =>
          portalTo(layout.rooms.length + door.index, axis, {
            box: door.opening,
            frame: colours[door.colour],
          }),
        );
    return {
      box: room.box,
      height: ceilingHeight,
      look: roomLooks[room.kind],
      isDoorway: false,
      portals: [portalsOf('x', true), portalsOf('x', false), portalsOf('y', true), portalsOf('y', false)],
      parts: room.landmarks.flatMap((index) => paintedParts(layout, index)),
    };
  });
  const doorways = layout.doors.map((door): Cell => {
    const frame = colours[door.colour];
    const [before, after] = door.rooms.map((room) => portalTo(room, door.axis, { box: door.opening, frame }));
    const none: readonly Portal[] = [];
    const ends = [before ? [before] : none, after ? [after] : none] as const;
    return {
      box: door.opening,
      height: doorHeight,
      look: {
        wall: frame,
        accent: frame,
        pattern: 'plain',
        floor: [96, 88, 80],
        floorAccent: [96, 88, 80],
        floorTile: 1,
      },
      isDoorway: true,
      portals: door.axis === 'x' ? [...ends, none, none] : [none, none, ...ends],
      parts: [],
    };
  });
  return { layout, cells: [...rooms, ...doorways] };
}

function portalTo(cell: number, axis: 'x' | 'y', { box, frame }: { box: Box; frame: Rgb }): Portal {
  return axis === 'x'
    ? { low: box.minY, high: box.maxY, cell, frame }
    : { low: box.minX, high: box.maxX, cell, frame };
}

function paintedParts(layout: Layout, index: number): PaintedPart[] {
  const landmark = layout.landmarks[index]!;
  const base = colours[landmark.colour];
  return landmark.parts.map((part) => {
    const scale = (channel: number): number => (part.isNeutral ? 235 : channel) * part.tint;
    return { ...part, paint: [scale(base[0]), scale(base[1]), scale(base[2])] };
  });
}

/** A viewer of one image size. Its frames are fresh memory: the caller may keep them. */
export function createCamera(size: ImageSize): (scene: Scene, pose: AgentPose) => Frame {
  const canvas = createCanvas({ ...size, eyeHeight });
  const visited = new Int32Array(maxCells);
  return (scene, pose) => {
    canvas.begin();
    const cos = headingCosines[pose.heading] ?? 1;
    const sin = headingSines[pose.heading] ?? 0;
    const home = homeCell(scene, pose);
    for (let column = 0; column < size.width; column++) {
      // Leftmost column looks to the left of the heading; the image plane is at distance 1.
      const across = (size.width / 2 - (column + 0.5)) / canvas.focalLength;
      canvas.aim(column, { x: pose.x, y: pose.y, dx: cos - sin * across, dy: sin + cos * across });
      const count = castColumn(canvas, scene, { home, visited });
      for (let i = 0; i < count; i++) {
        for (const part of scene.cells[visited[i]!]!.parts) drawPart(canvas, part);
      }
    }
    return {
      rgb: Tensor.of('uint8', [size.height, size.width, 3], canvas.rgb),
      depth: Tensor.of('float32', [size.height, size.width], canvas.depth),
    };
  };
}

function homeCell(scene: Scene, pose: AgentPose): number {
  const index = scene.cells.findIndex(
    ({ box }) => pose.x >= box.minX && pose.x <= box.maxX && pose.y >= box.minY && pose.y <= box.maxY,
  );
  if (index < 0) throw new Error('minivln: the camera is inside a wall');
  return index;
}

/** Floors, ceilings and walls of one column, front to back; returns how many cells with furniture it saw. */
function castColumn(
  canvas: Canvas,
  scene: Scene,
  { home, visited }: { home: number; visited: Int32Array },
): number {
  const { x, y, dx, dy } = canvas.ray;
  let seen = 0;
  let index = home;
  for (let step = 0; step < maxCells; step++) {
    const cell = scene.cells[index]!;
    if (cell.parts.length > 0) visited[seen++] = index;
    const timeX = dx > 0 ? (cell.box.maxX - x) / dx : dx < 0 ? (cell.box.minX - x) / dx : Infinity;
    const timeY = dy > 0 ? (cell.box.maxY - y) / dy : dy < 0 ? (cell.box.minY - y) / dy : Infinity;
    const isX = timeX < timeY;
    const far = isX ? timeX : timeY;
    const along = isX ? y + dy * far : x + dx * far;
    fillFloor(canvas, cell, far);
    const portal = portalAt(cell.portals[isX ? (dx > 0 ? 1 : 0) : dy > 0 ? 3 : 2], along);
    const isOpen = portal !== undefined && along > portal.low && along < portal.high;
    fillWall(canvas, {
      look: cell.look,
      far,
      along,
      // Walls facing along y are a little darker, so that corners show.
      light: isX ? 1 : 0.86,
      opening: isOpen ? (cell.isDoorway ? Infinity : doorHeight) : 0,
      frame: portal?.frame,
      frameTop: doorHeight + frameWidth,
    });
    if (!isOpen || canvas.isFull()) return seen;
    index = portal.cell;
  }
  return seen;
}

/** The portal whose opening or frame covers `along`. */
function portalAt(portals: readonly Portal[], along: number): Portal | undefined {
  for (const portal of portals) {
    if (along > portal.low - frameWidth && along < portal.high + frameWidth) return portal;
  }
  return undefined;
}
