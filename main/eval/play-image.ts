// Arrays as PNG for whoever looks at them: RGB as it is, one channel as grey, depth from near (light) to far (dark).
// Larger pictures are thinned out, so that a look never costs more than a small frame.
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import type { Tensor } from '../base/tensor.ts';

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly base64: string;
  /** Size and range of the original. */
  readonly note: string;
}

const deflateBytes = promisify(deflate);
const greatestSide = 480;
const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** True for arrays that are pictures: (H,W,3|4|1) of bytes, or (H,W) and (H,W,1) of bytes or floats. */
export function isPicture({ dtype, shape }: Tensor): boolean {
  const [height = 0, width = 0, channels = 1] = shape;
  if (shape.length < 2 || shape.length > 3 || height < 4 || width < 4) return false;
  if (dtype === 'uint8') return channels === 1 || channels === 3 || channels === 4;
  return (dtype === 'float32' || dtype === 'float16' || dtype === 'float64') && channels === 1;
}

/** The picture as PNG. Compression happens outside of the main thread. */
export async function pictureOf(tensor: Tensor): Promise<Picture> {
  const [height = 0, width = 0] = tensor.shape;
  const stride = Math.max(1, Math.ceil(Math.max(width, height) / greatestSide));
  const size = { width: Math.ceil(width / stride), height: Math.ceil(height / stride) };
  const { channels, rows, note } =
    tensor.dtype === 'uint8' ? byteRows(tensor, size, stride) : depthRows(tensor, size, stride);
  const compressed = await deflateBytes(rows, { level: 1 });
  return {
    ...size,
    base64: Buffer.concat(pngParts(size, channels, compressed)).toString('base64'),
    note: `${width} × ${height}${note}`,
  };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

interface Rows {
  readonly channels: 1 | 3 | 4;
  /** Scan lines, each behind a filter byte. */
  readonly rows: Uint8Array;
  readonly note: string;
}

function byteRows(tensor: Tensor, { width, height }: Size, stride: number): Rows {
  const given = tensor.shape[2] ?? 1;
  const channels = given === 3 || given === 4 ? given : 1;
  const rowBytes = width * channels + 1;
  const sourceRow = (tensor.shape[1] ?? 0) * channels;
  const rows = new Uint8Array(height * rowBytes);
  for (let y = 0; y < height; y++) {
    const from = y * stride * sourceRow;
    const to = y * rowBytes + 1;
    if (stride === 1) rows.set(tensor.bytes.subarray(from, from + sourceRow), to);
    else
      for (let x = 0; x < width; x++)
        for (let channel = 0; channel < channels; channel++)
          rows[to + x * channels + channel] = tensor.bytes[from + x * stride * channels + channel] ?? 0;
  }
  return { channels, rows, note: '' };
}

function depthRows(tensor: Tensor, { width, height }: Size, stride: number): Rows {
  const values = tensor.data;
  const sourceWidth = tensor.shape[1] ?? 0;
  const at = (x: number, y: number): number => Number(values[y * stride * sourceWidth + x * stride]);
  let low = Infinity;
  let high = -Infinity;
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const value = at(x, y);
      if (!Number.isFinite(value) || value === 0) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  const span = high - low;
  const rows = new Uint8Array(height * (width + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const value = at(x, y);
      const isValid = Number.isFinite(value) && value !== 0;
      rows[y * (width + 1) + 1 + x] = isValid ? 255 - (span > 0 ? ((value - low) / span) * 215 : 0) : 0;
    }
  return {
    channels: 1,
    rows,
    note: high >= low ? ` · ${low.toPrecision(3)} to ${high.toPrecision(3)}` : ' · nothing valid',
  };
}

function pngParts({ width, height }: Size, channels: Rows['channels'], compressed: Uint8Array): Uint8Array[] {
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, 8);
  header.setUint8(9, { 1: 0, 3: 2, 4: 6 }[channels]);
  return [
    signature,
    chunk('IHDR', new Uint8Array(header.buffer)),
    chunk('IDAT', compressed),
    chunk('IEND', new Uint8Array(0)),
  ];
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const whole = Buffer.alloc(12 + data.length);
  whole.writeUInt32BE(data.length, 0);
  whole.write(type, 4, 'latin1');
  whole.set(data, 8);
  whole.writeUInt32BE(crc32(whole.subarray(4, 8 + data.length)), 8 + data.length);
  return whole;
}
