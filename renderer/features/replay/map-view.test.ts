// The map shows everything that has a place and only the path walked so far.
import { describe, expect, it } from 'vitest';
import { frameOf, pointsOf, walked } from './map-view.ts';

const nothing = {
  bounds: null,
  rooms: [],
  obstacles: [],
  start: null,
  goal: null,
  referencePath: [],
  path: [],
  image: null,
};
const at = (step: number, x: number, y: number) => ({ step, x, y, heading: null });

describe('map', () => {
  it('holds bounds, goal and path with y pointing up', () => {
    const frame = frameOf({ ...nothing, bounds: [0, 0, 10, 8], goal: [12, 4], path: [at(0, -1, 9)] });
    expect(frame?.left).toBeLessThan(-1);
    expect((frame?.left ?? 0) + (frame?.width ?? 0)).toBeGreaterThan(12);
    expect(frame?.top).toBeLessThan(-9);
    expect((frame?.top ?? 0) + (frame?.height ?? 0)).toBeGreaterThan(0);
  });

  it('has a size even for one point, and is nothing without any', () => {
    expect(frameOf(nothing)).toBeNull();
    expect(frameOf({ ...nothing, start: [3, 3] })?.width).toBeGreaterThan(0);
    expect(frameOf({ ...nothing, start: [Number.NaN, 3] })).toBeNull();
  });

  it('draws points with y turned over', () => {
    expect(
      pointsOf([
        [1, 2],
        [3.123456, -4],
      ]),
    ).toBe('1,-2 3.1235,4');
  });

  it('shows the path up to the step', () => {
    const path = [at(0, 0, 0), at(2, 1, 0), at(4, 2, 0)];
    expect(walked(path, 3).map((entry) => entry.step)).toEqual([0, 2]);
    expect(walked(path, 9)).toHaveLength(3);
    expect(walked(path, -1)).toEqual([]);
  });
});
