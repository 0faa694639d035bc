// The apartment from above, north up: as an image, and as polylines and boxes in metres for viewers that draw
// themselves. Made on request, not each step.
import { Tensor } from 'agentcanvas';
import { colours, roomLooks, type Rgb } from './appearance.ts';
import type { Box, Point } from './geometry.ts';
import type { Running } from './session.ts';

const wallPaint: Rgb = [48, 50, 56];
const referencePaint: Rgb = [90, 140, 255];
const trailPaint: Rgb = [255, 120, 0];
const startPaint: Rgb = [0, 150, 90];
const goalPaint: Rgb = [230, 0, 90];

/** JSON; positions in metres, x east, y north. */
export function mapData({ episode, trail, pose }: Running): Readonly<Record<string, unknown>> {
  const { layout, start, goal, referencePath } = episode;
  const pair = ({ x, y }: Point): [number, number] => [x, y];
  const rectangle = ({ minX, minY, maxX, maxY }: Box): [number, number, number, number] => [
    minX,
    minY,
    maxX,
    maxY,
  ];
  return {
    bounds: rectangle(layout.bounds),
    rooms: layout.rooms.map((room) => ({ name: room.kind, box: rectangle(room.box) })),
    doors: layout.doors.map((door) => ({
      colour: door.colour,
      box: rectangle(door.opening),
      rooms: [...door.rooms],
    })),
    landmarks: layout.landmarks.map((landmark) => ({
      name: `${landmark.colour} ${landmark.noun}`,
      colour: landmark.colour,
      box: rectangle(landmark.footprint),
    })),
    start: pair(start),
    goal: pair(goal),
    position: pair(pose),
    reference_path: referencePath.map(pair),
    path: trail.map(pair),
  };
}

/** (height, width, 3) uint8. */
export function mapImage({ episode, trail }: Running, pixelsPerMetre: number): Tensor {
  const { layout } = episode;
  const { maxX, maxY } = layout.bounds;
  const margin = 0.2;
  const width = Math.ceil((maxX + 2 * margin) * pixelsPerMetre);
  const height = Math.ceil((maxY + 2 * margin) * pixelsPerMetre);
  const data = new Uint8Array(width * height * 3);
  const column = (x: number): number => Math.round((x + margin) * pixelsPerMetre);
  const row = (y: number): number => height - Math.round((y + margin) * pixelsPerMetre);
  const fill = (box: Box, paint: Rgb): void => {
    for (let r = Math.max(0, row(box.maxY)); r < Math.min(height, row(box.minY)); r++) {
      for (let c = Math.max(0, column(box.minX)); c < Math.min(width, column(box.maxX)); c++)
        data.set(paint, (r * width + c) * 3);
    }
  };
  const dot = ({ x, y }: Point, radius: number, paint: Rgb): void =>
    fill({ minX: x - radius, maxX: x + radius, minY: y - radius, maxY: y + radius }, paint);
  const line = (points: readonly Point[], paint: Rgb): void => {
    for (const [i, to] of points.entries()) {
      const from = points[i - 1] ?? to;
      for (let k = 0; k <= 8; k++)
        dot({ x: from.x + ((to.x - from.x) * k) / 8, y: from.y + ((to.y - from.y) * k) / 8 }, 0.05, paint);
    }
  };
  fill({ minX: -margin, minY: -margin, maxX: maxX + margin, maxY: maxY + margin }, wallPaint);
  for (const room of layout.rooms) fill(room.box, roomLooks[room.kind].wall);
  for (const door of layout.doors) fill(door.opening, colours[door.colour]);
  for (const { footprint, colour } of layout.landmarks) fill(footprint, colours[colour]);
  line(episode.referencePath, referencePaint);
  line(trail, trailPaint);
  dot(episode.start, 0.15, startPaint);
  dot(episode.goal, 0.15, goalPaint);
  return Tensor.of('uint8', [height, width, 3], data);
}
