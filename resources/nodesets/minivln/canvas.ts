// The images being drawn and the column being cast: a window [top, bottom) of rows not yet filled, which walls,
// floors and ceilings close from outside in. Hot path.
import { isAccent, type Rgb, type RoomLook } from './appearance.ts';

const ceilingColour: Rgb = [238, 236, 230];

export interface Ray {
  x: number;
  y: number;
  /** Direction with unit length along the optical axis, so that ray time is depth. */
  dx: number;
  dy: number;
}

export interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly eyeHeight: number;
  /** Pixels. */
  readonly focalLength: number;
  readonly ray: Ray;
  rgb: Uint8Array<ArrayBuffer>;
  depth: Float32Array<ArrayBuffer>;
  column: number;
  top: number;
  bottom: number;
  begin(): void;
  aim(column: number, ray: Readonly<Ray>): void;
  isFull(): boolean;
}

/** 90 degrees across; square pixels. */
export function createCanvas({
  width,
  height,
  eyeHeight,
}: {
  width: number;
  height: number;
  eyeHeight: number;
}): Canvas {
  return {
    width,
    height,
    eyeHeight,
    focalLength: width / 2,
    ray: { x: 0, y: 0, dx: 1, dy: 0 },
    rgb: new Uint8Array(0),
    depth: new Float32Array(0),
    column: 0,
    top: 0,
    bottom: height,
    begin() {
      this.rgb = new Uint8Array(width * height * 3);
      this.depth = new Float32Array(width * height);
    },
    aim(column, { x, y, dx, dy }) {
      this.column = column;
      this.top = 0;
      this.bottom = height;
      this.ray.x = x;
      this.ray.y = y;
      this.ray.dx = dx;
      this.ray.dy = dy;
    },
    isFull() {
      return this.top >= this.bottom;
    },
  };
}

/** Row whose centre is the first at or below height `z` seen at depth `far`. */
export function rowOf(canvas: Canvas, z: number, far: number): number {
  const row = canvas.height / 2 - ((z - canvas.eyeHeight) * canvas.focalLength) / far;
  return Math.ceil(row - 0.5);
}

/** Light falls off gently with distance; it also tells near from far where colours are flat. */
export function lightAt(depth: number): number {
  return 1 / (1 + 0.035 * depth);
}

/** Writes one pixel of the current column. */
export function put(canvas: Canvas, row: number, paint: Rgb, light: number, depth: number): void {
  const pixel = row * canvas.width + canvas.column;
  const at = pixel * 3;
  canvas.rgb[at] = paint[0] * light;
  canvas.rgb[at + 1] = paint[1] * light;
  canvas.rgb[at + 2] = paint[2] * light;
  canvas.depth[pixel] = depth;
}

interface FlatCell {
  readonly height: number;
  readonly look: RoomLook;
}

/** Floor and ceiling of a cell up to depth `far`. */
export function fillFloor(canvas: Canvas, { height, look }: FlatCell, far: number): void {
  const { ray, eyeHeight, focalLength } = canvas;
  const middle = canvas.height / 2;
  const firstFloorRow = Math.max(canvas.top, rowOf(canvas, 0, far));
  for (let row = canvas.bottom - 1; row >= firstFloorRow; row--) {
    const depth = (eyeHeight * focalLength) / (row + 0.5 - middle);
    const tileX = Math.floor((ray.x + ray.dx * depth) / look.floorTile);
    const tileY = Math.floor((ray.y + ray.dy * depth) / look.floorTile);
    put(canvas, row, (tileX + tileY) % 2 === 0 ? look.floor : look.floorAccent, lightAt(depth), depth);
  }
  canvas.bottom = Math.min(canvas.bottom, firstFloorRow);
  const endOfCeiling = Math.min(canvas.bottom, rowOf(canvas, height, far));
  for (let row = canvas.top; row < endOfCeiling; row++) {
    const depth = ((height - eyeHeight) * focalLength) / (middle - row - 0.5);
    put(canvas, row, ceilingColour, lightAt(depth) * 0.95, depth);
  }
  canvas.top = Math.max(canvas.top, endOfCeiling);
}

export interface WallColumn {
  readonly look: RoomLook;
  readonly far: number;
  /** Coordinate along the wall, metres. */
  readonly along: number;
  readonly light: number;
  /** Height below which one sees through; 0 for a closed wall. */
  readonly opening: number;
  /** Colour of the door frame that covers this place of the wall, up to `frameTop`. */
  readonly frame: Rgb | undefined;
  readonly frameTop: number;
}

/** The wall at depth `far`, or only the part above the opening. */
export function fillWall(canvas: Canvas, wall: WallColumn): void {
  const { look, far, along, opening, frame, frameTop } = wall;
  const end = opening > 0 ? Math.min(canvas.bottom, rowOf(canvas, opening, far)) : canvas.bottom;
  const light = wall.light * lightAt(far);
  const middle = canvas.height / 2;
  const metresPerRow = far / canvas.focalLength;
  for (let row = canvas.top; row < end; row++) {
    const z = canvas.eyeHeight + (middle - row - 0.5) * metresPerRow;
    const isFrame = frame !== undefined && z < frameTop;
    put(
      canvas,
      row,
      isFrame ? frame : isAccent(look.pattern, along, z) ? look.accent : look.wall,
      light,
      far,
    );
  }
  canvas.top = Math.max(canvas.top, end);
}
