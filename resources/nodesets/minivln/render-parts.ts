// Furniture parts over the walls of the current column: front, top and underside of a box or upright cylinder,
// pixel by pixel against the depth already there. Hot path.
import type { Rgb } from './appearance.ts';
import { lightAt, put, rowOf, type Canvas } from './canvas.ts';
import type { Part } from './shapes.ts';

export interface PaintedPart extends Part {
  readonly paint: Rgb;
}

/** Where the current ray meets the part's footprint: entry and exit time, and how lit the entry face is. */
const crossing = { enter: 0, leave: 0, light: 1 };

export function drawPart(canvas: Canvas, part: PaintedPart): void {
  if (!(part.isRound ? crossCylinder(canvas, part) : crossBox(canvas, part))) return;
  const { enter, leave, light } = crossing;
  fillFront(canvas, part, enter, light);
  const { eyeHeight } = canvas;
  if (part.top < eyeHeight)
    fillFlat(canvas, part, {
      z: part.top,
      from: rowOf(canvas, part.top, leave),
      to: rowOf(canvas, part.top, enter),
      light: 1.06,
    });
  if (part.bottom > eyeHeight)
    fillFlat(canvas, part, {
      z: part.bottom,
      from: rowOf(canvas, part.bottom, enter),
      to: rowOf(canvas, part.bottom, leave),
      light: 0.6,
    });
}

function crossBox({ ray }: Canvas, part: Part): boolean {
  let enter = 0;
  let leave = Infinity;
  let isXFace = true;
  if (ray.dx !== 0) {
    const a = (part.minX - ray.x) / ray.dx;
    const b = (part.maxX - ray.x) / ray.dx;
    enter = Math.min(a, b);
    leave = Math.max(a, b);
  } else if (ray.x <= part.minX || ray.x >= part.maxX) return false;
  if (ray.dy !== 0) {
    const a = (part.minY - ray.y) / ray.dy;
    const b = (part.maxY - ray.y) / ray.dy;
    const enterY = Math.min(a, b);
    if (enterY > enter || ray.dx === 0) {
      enter = enterY;
      isXFace = false;
    }
    leave = Math.min(leave, Math.max(a, b));
  } else if (ray.y <= part.minY || ray.y >= part.maxY) return false;
  if (enter >= leave || enter <= 0) return false;
  crossing.enter = enter;
  crossing.leave = leave;
  crossing.light = isXFace ? 0.96 : 0.8;
  return true;
}

function crossCylinder({ ray }: Canvas, part: Part): boolean {
  const radius = (part.maxX - part.minX) / 2;
  const offsetX = ray.x - (part.minX + part.maxX) / 2;
  const offsetY = ray.y - (part.minY + part.maxY) / 2;
  const a = ray.dx * ray.dx + ray.dy * ray.dy;
  const b = offsetX * ray.dx + offsetY * ray.dy;
  const discriminant = b * b - a * (offsetX * offsetX + offsetY * offsetY - radius * radius);
  if (discriminant <= 0) return false;
  const root = Math.sqrt(discriminant);
  const enter = (-b - root) / a;
  if (enter <= 0) return false;
  crossing.enter = enter;
  crossing.leave = (-b + root) / a;
  // Brightest where the surface faces the eye.
  crossing.light = 0.7 + (0.3 * root) / (radius * Math.sqrt(a));
  return true;
}

function fillFront(canvas: Canvas, part: PaintedPart, enter: number, faceLight: number): void {
  const from = Math.max(0, rowOf(canvas, part.top, enter));
  const to = Math.min(canvas.height, rowOf(canvas, part.bottom, enter));
  const light = faceLight * lightAt(enter);
  for (let row = from; row < to; row++) {
    if (enter < canvas.depth[row * canvas.width + canvas.column]!) put(canvas, row, part.paint, light, enter);
  }
}

interface FlatFace {
  readonly z: number;
  readonly from: number;
  readonly to: number;
  readonly light: number;
}

function fillFlat(canvas: Canvas, part: PaintedPart, { z, from, to, light }: FlatFace): void {
  const rise = (canvas.eyeHeight - z) * canvas.focalLength;
  const end = Math.min(canvas.height, to);
  for (let row = Math.max(0, from); row < end; row++) {
    const depth = rise / (row + 0.5 - canvas.height / 2);
    if (depth < canvas.depth[row * canvas.width + canvas.column]!)
      put(canvas, row, part.paint, light * lightAt(depth), depth);
  }
}
