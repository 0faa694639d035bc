// PNG out of raw pixels: 8-bit grey, grey with alpha, RGB, RGBA, and 16-bit grey for depth. No colour conversion.
import { crc32, deflateSync } from 'node:zlib';

export interface RawImage {
  readonly width: number;
  readonly height: number;
  /** 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
  readonly channels: 1 | 2 | 3 | 4;
  /** Row-major; two big-endian bytes per sample when `bitDepth` is 16. */
  readonly pixels: Uint8Array;
  readonly bitDepth?: 8 | 16;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const colourTypes = { 1: 0, 2: 4, 3: 2, 4: 6 } as const;
/** Each row as its difference to the one above: cheap, and good for scenes with vertical structure. */
const filterUp = 2;

export function encodePng(image: RawImage): Buffer {
  const { width, height, channels, pixels, bitDepth = 8 } = image;
  const rowBytes = width * channels * (bitDepth / 8);
  const filtered = Buffer.allocUnsafe((rowBytes + 1) * height);
  for (let row = 0; row < height; row++) {
    const to = row * (rowBytes + 1);
    const from = row * rowBytes;
    filtered[to] = row === 0 ? 0 : filterUp;
    for (let i = 0; i < rowBytes; i++) {
      const above = row === 0 ? 0 : (pixels[from - rowBytes + i] as number);
      filtered[to + 1 + i] = (pixels[from + i] as number) - above;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = bitDepth;
  header[9] = colourTypes[channels];
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(filtered, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(data.length + 12);
  framed.writeUInt32BE(data.length, 0);
  framed.write(name, 4, 'latin1');
  data.copy(framed, 8);
  framed.writeUInt32BE(crc32(framed.subarray(4, data.length + 8)), data.length + 8);
  return framed;
}
