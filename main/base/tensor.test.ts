// Arrays over bytes that may lie anywhere and may be a Buffer, whose slice() does not copy.
import { expect, it } from 'vitest';
import { Tensor, dtypes, itemBytes } from './tensor.ts';

it('reads numbers from bytes that are not aligned', () => {
  const buffer = Buffer.alloc(17);
  buffer.writeDoubleLE(1.5, 1);
  buffer.writeDoubleLE(-2, 9);
  expect([...(new Tensor('float64', [2], buffer.subarray(1)).data as Float64Array)]).toEqual([1.5, -2]);
});

it('copies so that later writes to the source do not show', () => {
  const buffer = Buffer.from([1, 2, 3, 4]);
  const copy = new Tensor('uint8', [4], buffer).copy();
  buffer.fill(9);
  expect([...(copy.data as Uint8Array)]).toEqual([1, 2, 3, 4]);
});

it('knows the size of every dtype and shares memory with numbers it was made over', () => {
  for (const dtype of dtypes)
    expect(new Tensor(dtype, [3], new Uint8Array(3 * itemBytes(dtype))).data.byteLength).toBe(
      3 * itemBytes(dtype),
    );
  const numbers = new Float32Array([1, 2]);
  const tensor = Tensor.of('float32', [2], numbers);
  numbers[0] = 7;
  expect([tensor.size, tensor.data[0]]).toEqual([2, 7]);
});
