// What values look like to whoever looks at them.
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Tensor } from '../base/tensor.ts';
import { shownValue } from '../contract/play.ts';
import { shownValueOf } from './play-shown.ts';

/** Pixels of a PNG whose scan lines use no filter. */
function pixelsOf(base64: string, rowBytes: number): number[][] {
  const png = Buffer.from(base64, 'base64');
  const length = png.readUInt32BE(33);
  const rows = inflateSync(png.subarray(41, 41 + length));
  const lines = Array.from({ length: rows.length / (rowBytes + 1) }, (_item, y) => [
    ...rows.subarray(y * (rowBytes + 1) + 1, (y + 1) * (rowBytes + 1)),
  ]);
  return lines;
}

describe('values as they are shown', () => {
  it('draws an RGB array pixel for pixel, and thins out a large one', async () => {
    const bytes = Uint8Array.from({ length: 4 * 5 * 3 }, (_item, index) => index);
    const shown = await shownValueOf(new Tensor('uint8', [4, 5, 3], bytes));
    if (shown.kind !== 'image') throw new Error(shown.kind);
    expect([shown.width, shown.height, shown.note]).toEqual([5, 4, '5 × 4']);
    expect(pixelsOf(shown.base64, 15).flat()).toEqual([...bytes]);
    const large = await shownValueOf(new Tensor('uint8', [1000, 1200, 3], new Uint8Array(3_600_000)));
    expect(large).toMatchObject({ kind: 'image', width: 400, height: 334, note: '1200 × 1000' });
  });

  it('draws depth light where it is near, black where it is invalid, and names the range', async () => {
    const data = Float32Array.from({ length: 16 }, (_item, index) => (index === 0 ? 0 : index));
    const shown = await shownValueOf(Tensor.of('float32', [4, 4], data));
    if (shown.kind !== 'image') throw new Error(shown.kind);
    const pixels = pixelsOf(shown.base64, 4).flat();
    expect([pixels[0], pixels[1], pixels[15]]).toEqual([0, 255, 40]);
    expect(shown.note).toBe('4 × 4 · 1.00 to 15.0');
  });

  it('tells numbers, tables, poses and points apart', async () => {
    expect(await shownValueOf(Number.NaN)).toEqual({ kind: 'number', value: 'nan' });
    expect(await shownValueOf(null)).toEqual({ kind: 'empty' });
    expect(await shownValueOf({ success: 1, spl: 0.123456789 })).toEqual({
      kind: 'table',
      rows: [
        { name: 'success', value: '1' },
        { name: 'spl', value: '0.12346' },
      ],
    });
    expect(await shownValueOf({ position: [1, 2, 3], orientation: [0, 0, 0, 1] })).toEqual({
      kind: 'pose',
      position: [1, 2, 3],
      orientation: [0, 0, 0, 1],
    });
    const cloud = Tensor.of(
      'float32',
      [100, 3],
      Float32Array.from({ length: 300 }, (_item, index) => index),
    );
    const points = await shownValueOf(cloud, { points: 10 });
    if (points.kind !== 'points') throw new Error(points.kind);
    expect([points.count, points.shown]).toEqual([100, 10]);
    const bytes = new Uint8Array(Buffer.from(points.base64, 'base64'));
    expect([...new Float32Array(bytes.buffer)].slice(0, 6)).toEqual([0, 1, 2, 30, 31, 32]);
  });

  it('stays small whatever the value', async () => {
    const deep = { text: 'x'.repeat(1e6), list: Array.from({ length: 1e5 }, (_item, index) => ({ index })) };
    const shown = await shownValueOf(deep);
    expect(JSON.stringify(shown).length).toBeLessThan(10_000);
    expect(shownValue.parse(shown)).toEqual(shown);
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect((await shownValueOf(loop)).kind).toBe('text');
  });
});
