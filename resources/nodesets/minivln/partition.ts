// Splits a rectangle into rooms by straight walls (binary space partition). Regions tile the rectangle; their
// borders are the centre lines of the walls. Coordinates are multiples of 0.1 m.
import type { Random } from 'agentcanvas';
import type { Box } from './geometry.ts';

export const wallThickness = 0.16;
/** Shortest side of a region, wall centre to wall centre. */
const minSide = 3.4;

/** A wall's centre line: at `axis` = `at`, from `low` to `high` on the other axis. */
export interface Wall {
  readonly axis: 'x' | 'y';
  readonly at: number;
  readonly low: number;
  readonly high: number;
}

export interface Partition {
  readonly bounds: Box;
  readonly regions: readonly Box[];
  readonly walls: readonly Wall[];
}

export function splitIntoRooms(random: Random): Partition {
  const bounds = {
    minX: 0,
    minY: 0,
    maxX: tenths(11 + random.next() * 3),
    maxY: tenths(9.5 + random.next() * 3),
  };
  const regions: Box[] = [bounds];
  const walls: Wall[] = [];
  const wanted = 6 + random.integer(4);
  while (regions.length < wanted) {
    const splittable = regions.filter((region) => canSplit(region, 'x') || canSplit(region, 'y'));
    const largest = splittable.sort((a, b) => areaOf(b) - areaOf(a))[0];
    if (!largest) break;
    const { wall, parts } = splitRegion(largest, random);
    regions.splice(regions.indexOf(largest), 1, ...parts);
    walls.push(wall);
  }
  return { bounds, regions, walls };
}

const tenths = (metres: number): number => Math.round(metres * 10) / 10;
const areaOf = (region: Box): number => (region.maxX - region.minX) * (region.maxY - region.minY);
const extent = (region: Box, axis: 'x' | 'y'): number =>
  axis === 'x' ? region.maxX - region.minX : region.maxY - region.minY;
const canSplit = (region: Box, axis: 'x' | 'y'): boolean => extent(region, axis) >= 2 * minSide;

function splitRegion(region: Box, random: Random): { wall: Wall; parts: [Box, Box] } {
  const longer = extent(region, 'x') >= extent(region, 'y') ? 'x' : 'y';
  const other = longer === 'x' ? 'y' : 'x';
  const takesOther = canSplit(region, other) && (!canSplit(region, longer) || random.next() < 0.15);
  const axis = takesOther ? other : longer;
  const play = extent(region, axis) - 2 * minSide;
  const at = tenths((axis === 'x' ? region.minX : region.minY) + minSide + random.next() * play);
  if (axis === 'x') {
    return {
      wall: { axis, at, low: region.minY, high: region.maxY },
      parts: [
        { ...region, maxX: at },
        { ...region, minX: at },
      ],
    };
  }
  return {
    wall: { axis, at, low: region.minX, high: region.maxX },
    parts: [
      { ...region, maxY: at },
      { ...region, minY: at },
    ],
  };
}
