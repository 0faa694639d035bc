// How the agent moves: discrete headings of 15 degrees, steps of 0.25 m, sliding along what it hits. The agent is
// a disc inside a square of half width `agentRadius`; obstacles are inflated by it, so it never penetrates.
import type { Box } from './geometry.ts';

export const agentRadius = 0.18;
export const stepLength = 0.25;
export const headingCount = 24;

/** Order is the action's number. */
export const actionNames = ['STOP', 'MOVE_FORWARD', 'TURN_LEFT', 'TURN_RIGHT'] as const;
export const action = { stop: 0, forward: 1, left: 2, right: 3 } as const;

export interface AgentPose {
  readonly x: number;
  readonly y: number;
  /** Multiples of 15 degrees, counter-clockwise from +x, 0..23. */
  readonly heading: number;
}

const angles = Array.from(
  { length: headingCount },
  (_unused, heading) => (heading * 2 * Math.PI) / headingCount,
);
/** Exact zeros on the axes keep straight walks straight. */
const exact = (value: number): number => (Math.abs(value) < 1e-12 ? 0 : value);
export const headingCosines: readonly number[] = angles.map((angle) => exact(Math.cos(angle)));
export const headingSines: readonly number[] = angles.map((angle) => exact(Math.sin(angle)));

export function headingRadians(heading: number): number {
  return (heading * 2 * Math.PI) / headingCount;
}

export function turned(heading: number, by: number): number {
  return (heading + by + headingCount) % headingCount;
}

export interface MoveResult {
  readonly x: number;
  readonly y: number;
  readonly collided: boolean;
}

/** Moves a point by (dx, dy) among open boxes; on contact the part along the face remains (sliding). */
export function moveWithSliding(
  obstacles: readonly Box[],
  x: number,
  y: number,
  dx: number,
  dy: number,
): MoveResult {
  let collided = false;
  for (let contact = 0; contact < 3 && (dx !== 0 || dy !== 0); contact++) {
    let first = 1;
    let face: 'x' | 'y' | undefined;
    let stopAt = 0;
    for (const box of obstacles) {
      const hit = contactTime(box, x, y, dx, dy);
      if (hit === undefined || hit.time >= first) continue;
      first = hit.time;
      face = hit.face;
      stopAt = hit.face === 'x' ? (dx > 0 ? box.minX : box.maxX) : dy > 0 ? box.minY : box.maxY;
    }
    x = face === 'x' ? stopAt : x + dx * first;
    y = face === 'y' ? stopAt : y + dy * first;
    if (!face) break;
    collided = true;
    dx = face === 'x' ? 0 : dx * (1 - first);
    dy = face === 'y' ? 0 : dy * (1 - first);
  }
  return { x, y, collided };
}

/** A point this far inside a face (in units of the step) stands on it: rounding must not open a way through. */
const touching = 1e-9;

/** Scratch of `contactTime`: one object, because the function runs for every obstacle of every step. */
const contactScratch: { time: number; face: 'x' | 'y' } = { time: 0, face: 'x' };

function contactTime(
  box: Box,
  x: number,
  y: number,
  dx: number,
  dy: number,
): typeof contactScratch | undefined {
  if (dx === 0 && (x <= box.minX || x >= box.maxX)) return undefined;
  if (dy === 0 && (y <= box.minY || y >= box.maxY)) return undefined;
  const enterX = dx === 0 ? -Infinity : ((dx > 0 ? box.minX : box.maxX) - x) / dx;
  const enterY = dy === 0 ? -Infinity : ((dy > 0 ? box.minY : box.maxY) - y) / dy;
  const leaveX = dx === 0 ? Infinity : ((dx > 0 ? box.maxX : box.minX) - x) / dx;
  const leaveY = dy === 0 ? Infinity : ((dy > 0 ? box.maxY : box.minY) - y) / dy;
  const enter = Math.max(enterX, enterY);
  if (enter < -touching || enter >= 1 || enter >= Math.min(leaveX, leaveY) - touching) return undefined;
  contactScratch.time = Math.max(0, enter);
  contactScratch.face = enterX >= enterY ? 'x' : 'y';
  return contactScratch;
}

/** One forward step from a pose. */
export function forward(obstacles: readonly Box[], pose: AgentPose, heading = pose.heading): MoveResult {
  const dx = (headingCosines[heading] ?? 0) * stepLength;
  const dy = (headingSines[heading] ?? 0) * stepLength;
  return moveWithSliding(obstacles, pose.x, pose.y, dx, dy);
}
