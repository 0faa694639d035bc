// Which arrays are pictures, and their PNG: bytes of height x width x 1, 3 or 4, and depth maps of floats as 16-bit
// grey between their own lowest and highest finite value.
import type { Tensor, TensorData } from '../base/tensor.ts';
import { encodePng } from '../base/png.ts';

export interface TensorPicture {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3 | 4;
  readonly isDepth: boolean;
}

export interface EncodedPicture {
  readonly png: Buffer;
  /** Range of a depth map, in its own unit. */
  readonly low: number | null;
  readonly high: number | null;
}

const smallestSide = 2;
const largestSide = 8192;

/** Null for everything that is not a picture. A (h, w) array of floats counts as depth, whatever its port is called. */
export function pictureOf({ dtype, shape }: Pick<Tensor, 'dtype' | 'shape'>): TensorPicture | null {
  const [height = 0, width = 0, channels = 1] = shape;
  if (shape.length < 2 || shape.length > 3) return null;
  if (Math.min(height, width) < smallestSide || Math.max(height, width) > largestSide) return null;
  if (dtype === 'uint8' && (channels === 1 || channels === 3 || channels === 4))
    return { width, height, channels, isDepth: false };
  const isFloat = dtype === 'float32' || dtype === 'float64' || dtype === 'float16' || dtype === 'uint16';
  if (!isFloat || channels !== 1 || Math.min(height, width) < 8) return null;
  return { width, height, channels: 1, isDepth: true };
}

export function encodePicture(tensor: Tensor, picture: TensorPicture): EncodedPicture {
  const { width, height, channels, isDepth } = picture;
  if (!isDepth)
    return { png: encodePng({ width, height, channels, pixels: tensor.bytes }), low: null, high: null };
  const values = tensor.data as Exclude<TensorData, BigInt64Array | BigUint64Array>;
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) [low, high] = [0, 0];
  const scale = high > low ? 65_535 / (high - low) : 0;
  const pixels = new Uint8Array(values.length * 2);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    // What is infinitely far or unknown is shown as the farthest.
    const grey = Number.isFinite(value) ? Math.round((value - low) * scale) : 65_535;
    pixels[i * 2] = grey >> 8;
    pixels[i * 2 + 1] = grey & 0xff;
  }
  return { png: encodePng({ width, height, channels: 1, pixels, bitDepth: 16 }), low, high };
}
