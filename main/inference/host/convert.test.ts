import { describe, expect, it } from 'vitest';
import { Tensor, type DType } from '../../base/tensor.ts';
import type { InputPlan } from '../onnx/plan.ts';
import { InputConverter, batchFirst, type ModelTensor } from './convert.ts';

const plan = (more: Partial<InputPlan>): InputPlan => ({
  name: 'x',
  dtype: 'float32',
  shape: [2],
  batchAxis: 0,
  layout: 'as_is',
  normalise: null,
  ...more,
});
const floats = (shape: readonly number[], ...numbers: number[]): Tensor =>
  Tensor.of('float32', shape, Float32Array.from(numbers));
const listed = ({ data }: ModelTensor): number[] => Array.from(data, Number);

describe('samples on their way to a model', () => {
  it('are not copied when nothing changes', () => {
    const column = floats([2, 2], 1, 2, 3, 4);
    const { data, dims } = new InputConverter(plan({})).convert(column);
    expect([data === column.data, dims]).toEqual([true, [2, 2]]);
  });

  it('change between image layouts, each sample by itself', () => {
    // Two images of 1 x 2 pixels with 3 channels.
    const image = floats([2, 1, 2, 3], 0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112);
    const first = new InputConverter(plan({ shape: [3, 1, 2], layout: 'hwc_to_chw' })).convert(image);
    expect(listed(first)).toEqual([0, 10, 1, 11, 2, 12, 100, 110, 101, 111, 102, 112]);
    expect(first.dims).toEqual([2, 3, 1, 2]);
    const back = new InputConverter(plan({ shape: [1, 2, 3], layout: 'chw_to_hwc' }));
    expect(
      listed(back.convert(new Tensor('float32', [2, 3, 1, 2], floats([12], ...listed(first)).bytes))),
    ).toEqual(Array.from(image.data, Number));
  });

  it('are normalised per channel, wherever the channels are', () => {
    const normalise = { scale: 2, mean: [1, 2], std: [1, 10], channels: 'last' as const };
    const last = new InputConverter(plan({ shape: [2, 2], normalise })).convert(
      floats([1, 2, 2], 1, 6, 2, 11),
    );
    expect(listed(last)).toEqual([1, 1, 3, 2]);
    const first = new InputConverter(plan({ shape: [2, 2], normalise: { ...normalise, channels: 'first' } }));
    expect(listed(first.convert(floats([1, 2, 2], 1, 6, 11, 16)))).toEqual([1, 11, 2, 3]);
  });

  it('get the number type of the model', () => {
    const to = (dtype: DType, column: Tensor): unknown[] => {
      const { data } = new InputConverter(plan({ dtype })).convert(column);
      return data instanceof BigInt64Array || data instanceof BigUint64Array ? [...data] : [...data];
    };
    expect(to('int64', floats([1, 2], 3, -4.7))).toEqual([3n, -4n]);
    expect(to('int32', Tensor.of('int64', [1, 2], BigInt64Array.of(5n, -6n)))).toEqual([5, -6]);
    expect(to('float16', floats([1, 2], 0.5, 2))).toEqual([0.5, 2]);
    expect(to('bool', Tensor.of('float64', [1, 2], Float64Array.of(1, 0)))).toEqual([1, 0]);
  });

  it('have their batch at another axis where the model has it there, and come back', () => {
    // Two samples of (layers 2, size 2).
    const column = floats([2, 2, 2], 1, 2, 3, 4, 10, 20, 30, 40);
    const moved = new InputConverter(plan({ shape: [2, 2], batchAxis: 1 })).convert(column);
    expect([listed(moved), moved.dims]).toEqual([
      [1, 2, 10, 20, 3, 4, 30, 40],
      [2, 2, 2],
    ]);
    const back = batchFirst(moved, { name: 'h', batchAxis: 1 }, 2);
    expect([Array.from(back.data, Number), back.shape]).toEqual([Array.from(column.data, Number), [2, 2, 2]]);
  });

  it('may differ in axes of length one, and in nothing else', () => {
    const depth = new InputConverter(plan({ shape: [2, 3, 1] }));
    expect(depth.convert(floats([1, 2, 3], 1, 2, 3, 4, 5, 6)).dims).toEqual([1, 2, 3, 1]);
    expect(() => depth.convert(floats([1, 3, 2], 1, 2, 3, 4, 5, 6))).toThrow(
      /input "x" got float32 \(3, 2\) and takes \(2, 3, 1\) per sample/,
    );
    const dynamic = new InputConverter(plan({ shape: [null, 2] }));
    expect(dynamic.convert(floats([1, 3, 2], 1, 2, 3, 4, 5, 6)).dims).toEqual([1, 3, 2]);
    expect(() =>
      batchFirst({ dtype: 'float32', data: new Float32Array(4), dims: [4] }, { name: 'y', batchAxis: 0 }, 2),
    ).toThrow(/output "y" is \(4\) for 2 samples/);
  });

  it('keep nothing of the batch before in a buffer that is reused', () => {
    const converter = new InputConverter(
      plan({ dtype: 'float32', normalise: { scale: 1, mean: [1], std: [1], channels: 'last' } }),
    );
    converter.convert(floats([3, 2], 9, 9, 9, 9, 9, 9));
    const second = converter.convert(floats([1, 2], 1, 2));
    expect([listed(second), second.dims]).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });
});
