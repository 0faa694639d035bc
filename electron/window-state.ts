// Where the window was, kept between starts; never off the screens that exist now.
import { readFile, writeFile } from 'node:fs/promises';
import type { Rectangle } from './electron-api.ts';

export interface WindowState {
  readonly bounds: Rectangle | null;
  readonly maximized: boolean;
}

const fresh: WindowState = { bounds: null, maximized: false };
const smallest = { width: 960, height: 600 };

export async function readWindowState(file: string): Promise<WindowState> {
  const text = await readFile(file, 'utf8').catch(() => '');
  try {
    return parseState(JSON.parse(text));
  } catch {
    return fresh;
  }
}

export function writeWindowState(file: string, state: WindowState): Promise<void> {
  return writeFile(file, JSON.stringify(state));
}

/** Bounds to open with: as kept if at least a quarter of them can be seen, else centred by the system. */
export function openingBounds(state: WindowState, screens: readonly Rectangle[]): Partial<Rectangle> {
  const { bounds } = state;
  if (!bounds) return { width: 1280, height: 800 };
  const size = {
    width: Math.max(smallest.width, bounds.width),
    height: Math.max(smallest.height, bounds.height),
  };
  const seen = screens.reduce((area, screen) => area + overlap(bounds, screen), 0);
  return seen >= (bounds.width * bounds.height) / 4 ? { x: bounds.x, y: bounds.y, ...size } : size;
}

function overlap(a: Rectangle, b: Rectangle): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return Math.max(0, width) * Math.max(0, height);
}

function parseState(value: unknown): WindowState {
  if (value === null || typeof value !== 'object') return fresh;
  const { bounds, maximized } = value as { bounds?: unknown; maximized?: unknown };
  return { bounds: isRectangle(bounds) ? bounds : null, maximized: maximized === true };
}

function isRectangle(value: unknown): value is Rectangle {
  if (value === null || typeof value !== 'object') return false;
  const { x, y, width, height } = value as Record<string, unknown>;
  return (
    [x, y, width, height].every((part) => Number.isSafeInteger(part)) &&
    Number(width) > 0 &&
    Number(height) > 0
  );
}
