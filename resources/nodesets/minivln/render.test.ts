// The renderer against analytic cases and against an independent caster: one ray per pixel through solid boxes.
import { createRandom } from 'agentcanvas';
import { describe, expect, it } from 'vitest';
import { colours } from './appearance.ts';
import type { Door } from './doors.ts';
import type { Landmark } from './furniture.ts';
import type { Box } from './geometry.ts';
import { createLayout, type Layout, type Room } from './layout.ts';
import { headingRadians, type AgentPose } from './motion.ts';
import { createNavigation } from './navigation.ts';
import { ceilingHeight, createCamera, createScene, doorHeight, eyeHeight } from './render.ts';
import type { Part } from './shapes.ts';

const size = { width: 64, height: 48 };
const focal = 32;

function layoutOf(rooms: Room[], doors: Door[] = [], landmarks: Landmark[] = []): Layout {
  const navigation = createNavigation([], 0);
  const bounds = { minX: 0, minY: 0, maxX: 10, maxY: 10 };
  return {
    seed: 0,
    bounds,
    rooms,
    doors,
    landmarks,
    solids: [],
    obstacles: [],
    navigation,
    comfortable: navigation,
  };
}

function room(index: number, box: Box, parts: Partial<Room> = {}): Room {
  return { index, kind: 'hall', box, doors: [], landmarks: [], ...parts };
}

function view(layout: Layout, pose: AgentPose) {
  const { rgb, depth } = createCamera(size)(createScene(layout), pose);
  const pixels = rgb.data as Uint8Array;
  const depths = depth.data as Float32Array;
  return {
    rgb,
    depth,
    depthAt: (column: number, row: number): number => depths[row * size.width + column]!,
    colourAt: (column: number, row: number): number[] => [
      ...pixels.subarray((row * size.width + column) * 3).subarray(0, 3),
    ],
  };
}

const square: Box = { minX: 0, minY: 0, maxX: 6, maxY: 4 };

describe('render', () => {
  it('gives uint8 and float32 images of the asked size', () => {
    const { rgb, depth } = view(layoutOf([room(0, square)]), { x: 3, y: 2, heading: 0 });
    expect([rgb.dtype, rgb.shape]).toEqual(['uint8', [48, 64, 3]]);
    expect([depth.dtype, depth.shape]).toEqual(['float32', [48, 64]]);
  });

  it('sees a wall straight ahead at its distance in every column that hits it', () => {
    const { depthAt } = view(layoutOf([room(0, square)]), { x: 3, y: 2, heading: 0 });
    // The wall 3 m ahead spans 2 m to each side: columns with |across| < 2/3.
    for (let column = 12; column < 52; column++) expect(depthAt(column, 24)).toBeCloseTo(3, 5);
    // Further out the side walls, 2 m to the left and right: depth x across = 2.
    for (const column of [0, 3, 6]) {
      expect(depthAt(column, 24)).toBeCloseTo(2 / ((31.5 - column) / focal), 4);
      expect(depthAt(63 - column, 24)).toBeCloseTo(depthAt(column, 24), 5);
    }
  });

  it('sees floor and ceiling at the depth of their planes', () => {
    const { depthAt } = view(layoutOf([room(0, square)]), { x: 3, y: 2, heading: 0 });
    for (const row of [40, 47])
      expect(depthAt(32, row)).toBeCloseTo((eyeHeight * focal) / (row + 0.5 - 24), 5);
    for (const row of [0, 5])
      expect(depthAt(32, row)).toBeCloseTo(((ceilingHeight - eyeHeight) * focal) / (24 - row - 0.5), 5);
  });

  it('puts the left of the heading on the left of the image', () => {
    // Facing north near the west wall: the wall on the left is near.
    const { depthAt } = view(layoutOf([room(0, square)]), { x: 1, y: 1, heading: 6 });
    expect(depthAt(2, 24)).toBeLessThan(depthAt(61, 24));
  });

  it('shows a cylinder nearest in its middle and a box by its front face, in their colour', () => {
    const base = { bottom: 0, top: 1.6, tint: 1, isNeutral: false };
    const round: Part = { ...base, minX: 4, maxX: 4.6, minY: 1.7, maxY: 2.3, isRound: true };
    const cabinet: Part = { ...base, minX: 4, maxX: 4.6, minY: 3, maxY: 3.6, isRound: false };
    const landmark = (index: number, part: Part): Landmark => ({
      index,
      room: 0,
      noun: 'stool',
      colour: 'red',
      footprint: part,
      parts: [part],
    });
    const layout = layoutOf(
      [room(0, square, { landmarks: [0, 1] })],
      [],
      [landmark(0, round), landmark(1, cabinet)],
    );
    const { depthAt, colourAt } = view(layout, { x: 2, y: 2, heading: 0 });
    const across = 0.5 / focal;
    const centre = 2.3;
    // |(t - centre, across t)| = 0.3
    const t =
      (centre - Math.sqrt(centre ** 2 - (1 + across ** 2) * (centre ** 2 - 0.09))) / (1 + across ** 2);
    expect(depthAt(32, 24)).toBeCloseTo(t, 5);
    expect(depthAt(12, 24)).toBeCloseTo(2, 5);
    const [red = 0, green = 0, blue = 0] = colourAt(12, 24);
    expect(red).toBeGreaterThan(4 * Math.max(green, blue));
  });

  it('looks through a door into the next room, under its lintel and framed in its colour', () => {
    const opening = { minX: 4, maxX: 4.2, minY: 1.5, maxY: 2.5 };
    const door: Door = { index: 0, rooms: [0, 1], axis: 'x', opening, colour: 'blue' };
    const rooms = [
      room(0, { minX: 0, minY: 0, maxX: 4, maxY: 4 }, { doors: [0] }),
      room(1, { minX: 4.2, minY: 0, maxX: 9, maxY: 4 }, { doors: [0] }),
    ];
    const layout = layoutOf(rooms, [door]);
    const { depthAt, colourAt } = view(layout, { x: 1, y: 2, heading: 0 });
    expect(depthAt(32, 24)).toBeCloseTo(8, 5);
    const lintelRow = Math.floor(24 - ((doorHeight + 0.08 - eyeHeight) * focal) / 3);
    expect(depthAt(32, lintelRow)).toBeCloseTo(3, 5);
    const ratio = colours.blue[2] / colours.blue[0];
    const [red = 1, , blue = 0] = colourAt(32, lintelRow);
    expect(blue / red).toBeCloseTo(ratio, 0);
    const back = view(layout, { x: 8, y: 2, heading: 12 });
    expect(back.depthAt(32, 24)).toBeCloseTo(8, 5);
  });

  it('agrees with an independent caster on every pixel of random places', () => {
    let compared = 0;
    let different = 0;
    for (let seed = 0; seed < 4; seed++) {
      const layout = createLayout(seed + 100);
      const random = createRandom(seed);
      const solids = solidsOf(layout);
      for (let shot = 0; shot < 2; shot++) {
        const pose = freePose(layout, random);
        const { depthAt } = view(layout, pose);
        for (let row = 0; row < size.height; row++) {
          for (let column = 0; column < size.width; column++) {
            const wanted = castPixel(solids, pose, { column, row });
            compared++;
            if (Math.abs(depthAt(column, row) - wanted) > 1e-4 * wanted) different++;
          }
        }
      }
    }
    expect(compared).toBe(4 * 2 * 64 * 48);
    // A ray that grazes an edge exactly may fall on either side.
    expect(different).toBeLessThanOrEqual(compared / 10_000);
  });

  it('gives each call its own memory', () => {
    const camera = createCamera(size);
    const scene = createScene(createLayout(3));
    const pose = freePose(scene.layout, createRandom(1));
    const first = camera(scene, pose);
    const copy = first.rgb.copy();
    camera(scene, { ...pose, heading: (pose.heading + 12) % 24 });
    expect(first.rgb.bytes).toEqual(copy.bytes);
  });
});

function freePose(layout: Layout, random: ReturnType<typeof createRandom>): AgentPose {
  for (;;) {
    const { box } = layout.rooms[random.integer(layout.rooms.length)]!;
    const x = box.minX + random.next() * (box.maxX - box.minX);
    const y = box.minY + random.next() * (box.maxY - box.minY);
    if (layout.navigation.isFree(x, y)) return { x, y, heading: random.integer(24) };
  }
}

type Solid = Pick<Part, 'minX' | 'minY' | 'maxX' | 'maxY' | 'bottom' | 'top' | 'isRound'>;

/** Walls and lintels as boxes, furniture as its parts. */
function solidsOf(layout: Layout): Solid[] {
  const walls = layout.solids.slice(0, layout.solids.length - layout.landmarks.length);
  return [
    ...walls.map((box) => ({ ...box, bottom: 0, top: ceilingHeight, isRound: false })),
    ...layout.doors.map(({ opening }) => ({
      ...opening,
      bottom: doorHeight,
      top: ceilingHeight,
      isRound: false,
    })),
    ...layout.landmarks.flatMap((landmark) => landmark.parts),
  ];
}

function castPixel(
  solids: readonly Solid[],
  pose: AgentPose,
  { column, row }: { column: number; row: number },
): number {
  const angle = headingRadians(pose.heading);
  const across = (32 - (column + 0.5)) / focal;
  const up = (24 - (row + 0.5)) / focal;
  const direction = [
    Math.cos(angle) - Math.sin(angle) * across,
    Math.sin(angle) + Math.cos(angle) * across,
    up,
  ];
  const eye = [pose.x, pose.y, eyeHeight];
  let nearest = up > 0 ? (ceilingHeight - eyeHeight) / up : eyeHeight / -up;
  for (const solid of solids) {
    const span = solid.isRound
      ? cylinderSpan(solid, eye, direction)
      : slabSpan([solid.minX, solid.maxX], [solid.minY, solid.maxY], eye, direction);
    const [bottom, top] = [(solid.bottom - eyeHeight) / up, (solid.top - eyeHeight) / up];
    const enter = Math.max(span[0], Math.min(bottom, top));
    const leave = Math.min(span[1], Math.max(bottom, top));
    if (enter < leave && enter > 0) nearest = Math.min(nearest, enter);
  }
  return nearest;
}

function slabSpan(x: number[], y: number[], eye: number[], direction: number[]): [number, number] {
  const times = [x, y].map((range, axis) =>
    range.map((value) => (value - eye[axis]!) / direction[axis]!).sort((a, b) => a - b),
  );
  return [Math.max(times[0]![0]!, times[1]![0]!), Math.min(times[0]![1]!, times[1]![1]!)];
}

function cylinderSpan(solid: Solid, eye: number[], direction: number[]): [number, number] {
  const radius = (solid.maxX - solid.minX) / 2;
  const [ox, oy] = [eye[0]! - (solid.minX + solid.maxX) / 2, eye[1]! - (solid.minY + solid.maxY) / 2];
  const a = direction[0]! ** 2 + direction[1]! ** 2;
  const b = 2 * (ox * direction[0]! + oy * direction[1]!);
  const root = Math.sqrt(b * b - 4 * a * (ox * ox + oy * oy - radius * radius));
  return Number.isNaN(root) ? [1, 0] : [(-b - root) / (2 * a), (-b + root) / (2 * a)];
}
