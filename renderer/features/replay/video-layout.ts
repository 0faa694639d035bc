// Where frames and words go in an exported video. Pure.

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface VideoLayout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly captionHeight: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const leastSide = 480;
const greatestSide = 960;
const gap = 4;
const captionHeight = 44;

/** Frames side by side, small ones enlarged by a whole factor; even sides, as encoders ask for. */
export function layoutOf(frames: readonly Size[]): VideoLayout {
  const scaled = frames.map(scaledTo);
  const height = Math.max(...scaled.map((frame) => frame.height), 2);
  let x = 0;
  const boxes = scaled.map((frame) => {
    const box = { x, y: captionHeight + (height - frame.height) / 2, ...frame };
    x += frame.width + gap;
    return box;
  });
  return { width: even(Math.max(2, x - gap)), height: even(height + captionHeight), boxes, captionHeight };
}

function scaledTo({ width, height }: Size): Size {
  const side = Math.max(width, height, 1);
  const factor =
    side < leastSide ? Math.max(1, Math.floor(leastSide / side)) : Math.min(1, greatestSide / side);
  return { width: Math.round(width * factor), height: Math.round(height * factor) };
}

const even = (value: number): number => Math.ceil(value / 2) * 2;

/** Cut with an ellipsis until it fits; `measure` gives pixels. */
export function fitText(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(`${text.slice(0, middle)}…`) <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
