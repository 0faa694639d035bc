import fc from 'fast-check';
import { createRandom } from 'agentcanvas';
import { describe, expect, it } from 'vitest';
import { distanceToBox, inflated, type Box } from './geometry.ts';
import { createLayout } from './layout.ts';
import { agentRadius, forward, headingCount, moveWithSliding, stepLength, turned } from './motion.ts';

const block: Box = { minX: 1, minY: -1, maxX: 2, maxY: 1 };

describe('motion', () => {
  it('stops at a face it meets head on', () => {
    expect(moveWithSliding([block], 0.9, 0, 0.25, 0)).toEqual({ x: 1, y: 0, collided: true });
  });

  it('slides along a face it meets at an angle', () => {
    const moved = moveWithSliding([block], 0.9, 0, 0.2, 0.2);
    expect(moved.x).toBe(1);
    expect(moved.y).toBeCloseTo(0.2, 12);
    expect(moved.collided).toBe(true);
  });

  it('stays in a corner of two faces', () => {
    const other = { minX: -1, minY: 0.1, maxX: 3, maxY: 2 };
    expect(moveWithSliding([block, other], 0.9, 0, 0.2, 0.2)).toEqual({ x: 1, y: 0.1, collided: true });
  });

  it('walks away from a face it touches without a collision', () => {
    expect(moveWithSliding([block], 1, 0, -0.25, 0)).toEqual({ x: 0.75, y: 0, collided: false });
    expect(moveWithSliding([block], 1, 0, 0, 0.25)).toEqual({ x: 1, y: 0.25, collided: false });
  });

  it('turns by 15 degrees and comes back after 24 turns', () => {
    let heading = 5;
    for (let i = 0; i < headingCount; i++) heading = turned(heading, -1);
    expect(heading).toBe(5);
    expect(forward([], { x: 0, y: 0, heading: 6 })).toEqual({ x: 0, y: stepLength, collided: false });
  });

  it('never enters an obstacle and never goes further than one step, whatever the obstacles', () => {
    const coordinate = fc.double({ min: -2, max: 2, noNaN: true });
    const size = fc.double({ min: 0.05, max: 1, noNaN: true });
    const box = fc
      .tuple(coordinate, coordinate, size, size)
      .map(([x, y, w, h]) => ({ minX: x, minY: y, maxX: x + w, maxY: y + h }));
    const headings = fc.array(fc.integer({ min: 0, max: headingCount - 1 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.array(box, { maxLength: 8 }), headings, (boxes, chosen) => {
        const obstacles = boxes.filter((candidate) => distanceToBox(candidate, 0, 0) > 0);
        let pose = { x: 0, y: 0, heading: 0 };
        for (const heading of chosen) {
          const moved = forward(obstacles, pose, heading);
          expect(Math.hypot(moved.x - pose.x, moved.y - pose.y)).toBeLessThanOrEqual(stepLength + 1e-9);
          for (const obstacle of obstacles)
            expect(depthInside(obstacle, moved.x, moved.y)).toBeLessThanOrEqual(1e-9);
          pose = { ...pose, x: moved.x, y: moved.y };
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the whole agent out of walls and furniture on long random walks', () => {
    let contacts = 0;
    for (let seed = 0; seed < 12; seed++) {
      const layout = createLayout(seed);
      const random = createRandom(seed);
      const { minX, minY } = layout.rooms[0]!.box;
      let pose = { x: minX + 1, y: minY + 1, heading: 0 };
      if (layout.obstacles.some((box) => depthInside(box, pose.x, pose.y) > 0)) continue;
      for (let step = 0; step < 1500; step++) {
        if (random.next() < 0.2) pose = { ...pose, heading: random.integer(headingCount) };
        const moved = forward(layout.obstacles, pose);
        if (moved.collided) contacts++;
        pose = { ...pose, x: moved.x, y: moved.y };
        const gap = Math.min(...layout.solids.map((solid) => distanceToBox(solid, pose.x, pose.y)));
        expect(gap).toBeGreaterThan(agentRadius - 1e-9);
      }
    }
    expect(contacts).toBeGreaterThan(1000);
  });

  it('inflates obstacles by the radius of the agent', () => {
    const layout = createLayout(1);
    expect(layout.obstacles).toEqual(layout.solids.map((solid) => inflated(solid, agentRadius)));
  });
});

function depthInside(box: Box, x: number, y: number): number {
  return Math.min(x - box.minX, box.maxX - x, y - box.minY, box.maxY - y);
}
