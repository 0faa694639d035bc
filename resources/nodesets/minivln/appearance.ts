// What things are called and how they look: colours of doors and furniture, and wall and floor of each room type.
// Every room type has one look in every apartment, so that room words can be learned.

export type Rgb = readonly [number, number, number];

/** Saturated, so that doors and furniture stand out against the pastel rooms. */
export const colours = {
  red: [214, 38, 38],
  green: [34, 158, 56],
  blue: [36, 78, 224],
  yellow: [244, 208, 28],
  purple: [150, 46, 190],
  black: [34, 34, 38],
} as const satisfies Record<string, Rgb>;
export type Colour = keyof typeof colours;
export const colourNames = [
  'red',
  'green',
  'blue',
  'yellow',
  'purple',
  'black',
] as const satisfies readonly Colour[];

export type Pattern = 'plain' | 'stripes' | 'tiles' | 'bricks' | 'planks' | 'panels' | 'dots' | 'bands';

export interface RoomLook {
  readonly wall: Rgb;
  /** Second colour of the pattern. */
  readonly accent: Rgb;
  readonly pattern: Pattern;
  readonly floor: Rgb;
  readonly floorAccent: Rgb;
  /** Edge of a floor square, metres. */
  readonly floorTile: number;
}

export const roomLooks = {
  kitchen: look([226, 238, 232], [122, 190, 178], 'tiles', [232, 232, 226], [150, 158, 158], 0.6),
  bathroom: look([174, 214, 236], [116, 174, 214], 'tiles', [214, 228, 236], [156, 190, 210], 0.4),
  bedroom: look([206, 190, 226], [176, 156, 206], 'stripes', [164, 132, 118], [150, 118, 104], 0.9),
  lounge: look([238, 216, 172], [198, 160, 104], 'panels', [152, 104, 66], [134, 90, 56], 0.8),
  study: look([150, 104, 70], [118, 78, 50], 'planks', [96, 80, 70], [84, 70, 62], 0.7),
  nursery: look([248, 206, 214], [230, 142, 166], 'dots', [242, 226, 196], [226, 204, 168], 0.8),
  hall: look([206, 206, 202], [178, 178, 176], 'plain', [142, 140, 138], [126, 124, 122], 1.0),
  cellar: look([186, 110, 84], [214, 176, 156], 'bricks', [118, 108, 100], [104, 96, 90], 0.5),
  gym: look([186, 222, 160], [126, 180, 104], 'bands', [84, 108, 116], [74, 96, 104], 1.0),
} as const satisfies Record<string, RoomLook>;
export type RoomKind = keyof typeof roomLooks;
export const roomKinds = [
  'kitchen',
  'bathroom',
  'bedroom',
  'lounge',
  'study',
  'nursery',
  'hall',
  'cellar',
  'gym',
] as const satisfies readonly RoomKind[];

function look(
  ...[wall, accent, pattern, floor, floorAccent, floorTile]: [Rgb, Rgb, Pattern, Rgb, Rgb, number]
): RoomLook {
  return { wall, accent, pattern, floor, floorAccent, floorTile };
}

/** True where the pattern shows its accent; `u` along the wall, `z` up, metres. */
export function isAccent(pattern: Pattern, u: number, z: number): boolean {
  switch (pattern) {
    case 'plain':
      return z < 0.12;
    case 'stripes':
      return (u / 0.3) % 2 < 1;
    case 'tiles':
      return z < 1.5 && (Math.floor(u / 0.5) + Math.floor(z / 0.5)) % 2 === 0;
    case 'bricks':
      return (z / 0.3) % 1 < 0.16 || ((u + (Math.floor(z / 0.3) % 2) * 0.35) / 0.7) % 1 < 0.08;
    case 'planks':
      return (u / 0.45) % 1 < 0.12;
    case 'panels':
      return z < 0.95 && ((u / 0.6) % 1 > 0.08 || z > 0.85);
    case 'dots':
      return isDot(u, z);
    case 'bands':
      return (z / 0.5) % 1 < 0.45;
    default:
      return false;
  }
}

function isDot(u: number, z: number): boolean {
  const row = Math.floor(z / 0.45);
  const across = ((u + (row % 2) * 0.3) / 0.6) % 1;
  const up = (z / 0.45) % 1;
  return (across - 0.5) ** 2 * 0.36 + (up - 0.5) ** 2 * 0.2025 < 0.0169;
}
