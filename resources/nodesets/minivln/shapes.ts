// The shapes of furniture as boxes and upright cylinders, in local metres: u along the wall, v away from it.
// Silhouettes differ so that shapes can be told apart at 64 x 48 pixels.

export interface LocalPart {
  readonly shape: 'box' | 'cylinder';
  readonly fromU: number;
  readonly fromV: number;
  readonly toU: number;
  readonly toV: number;
  readonly bottom: number;
  readonly top: number;
  /** Brightness of the landmark's colour; `neutral` parts have a fixed grey of that brightness instead. */
  readonly tint: number;
  readonly isNeutral: boolean;
}

/** A part in the world: its footprint and height range. A round one is the cylinder inscribed in the footprint. */
export interface Part {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
  readonly bottom: number;
  readonly top: number;
  readonly tint: number;
  readonly isNeutral: boolean;
  readonly isRound: boolean;
}

interface Shape {
  readonly width: number;
  readonly depth: number;
  readonly parts: readonly LocalPart[];
}

type Span = readonly [number, number];

function box(u: Span, v: Span, z: Span, tint = 1, isNeutral = false): LocalPart {
  return {
    shape: 'box',
    fromU: u[0],
    toU: u[1],
    fromV: v[0],
    toV: v[1],
    bottom: z[0],
    top: z[1],
    tint,
    isNeutral,
  };
}

function cylinder(
  centre: readonly [number, number],
  radius: number,
  z: Span,
  tint = 1,
  isNeutral = false,
): LocalPart {
  const [u, v] = centre;
  return {
    ...box([u - radius, u + radius], [v - radius, v + radius], z, tint, isNeutral),
    shape: 'cylinder',
  };
}

function legs(width: number, depth: number, height: number): LocalPart[] {
  const far = 0.07;
  const ends = (length: number): Span[] => [
    [0.02, 0.02 + far],
    [length - 0.02 - far, length - 0.02],
  ];
  return ends(width).flatMap((u) => ends(depth).map((v) => box(u, v, [0, height], 0.7)));
}

export const shapes = {
  bed: {
    width: 1.1,
    depth: 1.8,
    parts: [
      box([0, 1.1], [0.1, 1.8], [0, 0.5]),
      box([0, 1.1], [0, 0.1], [0, 1.05], 0.75),
      box([0.2, 0.9], [0.18, 0.55], [0.5, 0.62], 0.95, true),
    ],
  },
  sofa: {
    width: 1.6,
    depth: 0.8,
    parts: [
      box([0.2, 1.4], [0.2, 0.8], [0, 0.42]),
      box([0, 1.6], [0, 0.22], [0, 0.95], 0.85),
      box([0, 0.2], [0.2, 0.8], [0, 0.66], 0.85),
      box([1.4, 1.6], [0.2, 0.8], [0, 0.66], 0.85),
    ],
  },
  table: {
    width: 1.2,
    depth: 0.75,
    parts: [box([0, 1.2], [0, 0.75], [0.68, 0.78]), ...legs(1.2, 0.75, 0.68)],
  },
  chair: {
    width: 0.5,
    depth: 0.55,
    parts: [
      box([0, 0.5], [0, 0.55], [0.4, 0.5]),
      box([0, 0.5], [0, 0.09], [0.5, 1.1], 0.85),
      ...legs(0.5, 0.55, 0.4),
    ],
  },
  lamp: {
    width: 0.56,
    depth: 0.56,
    parts: [
      cylinder([0.28, 0.28], 0.2, [0, 0.06], 0.3, true),
      cylinder([0.28, 0.28], 0.045, [0.06, 1.25], 0.3, true),
      cylinder([0.28, 0.28], 0.28, [1.2, 1.72]),
    ],
  },
  wardrobe: {
    width: 1.2,
    depth: 0.6,
    parts: [
      box([0, 0.585], [0, 0.6], [0, 2.05]),
      box([0.615, 1.2], [0, 0.6], [0, 2.05]),
      box([0.585, 0.615], [0, 0.57], [0, 2.05], 0.35),
      box([0.49, 0.54], [0.6, 0.63], [0.95, 1.15], 0.9, true),
      box([0.66, 0.71], [0.6, 0.63], [0.95, 1.15], 0.9, true),
    ],
  },
  shelf: {
    width: 1.1,
    depth: 0.36,
    parts: [
      box([0, 1.1], [0, 0.04], [0, 1.8], 0.45),
      box([0, 0.07], [0, 0.36], [0, 1.8]),
      box([1.03, 1.1], [0, 0.36], [0, 1.8]),
      ...[0.05, 0.6, 1.15, 1.72].map((height) => box([0.07, 1.03], [0, 0.36], [height, height + 0.08])),
      box([0.15, 0.5], [0.06, 0.28], [0.68, 1], 0.8, true),
      box([0.6, 0.85], [0.06, 0.28], [1.23, 1.52], 0.55, true),
    ],
  },
  stool: {
    width: 0.52,
    depth: 0.52,
    parts: [cylinder([0.26, 0.26], 0.26, [0, 0.5]), cylinder([0.26, 0.26], 0.2, [0.5, 0.56], 0.9, true)],
  },
} as const satisfies Record<string, Shape>;

export type ShapeName = keyof typeof shapes;
export const shapeNames = [
  'bed',
  'sofa',
  'table',
  'chair',
  'lamp',
  'wardrobe',
  'shelf',
  'stool',
] as const satisfies readonly ShapeName[];
