// Hot path. Samples as they came, one behind the other, become the tensors a model takes: layout, scale, dtype and batch axis in one pass
// over buffers that are reused, or no pass at all where nothing changes.
import { StudioError } from '../../base/errors.ts';
import { Tensor, type DType, type TensorData } from '../../base/tensor.ts';
import type { InputPlan, Layout, OutputPlan } from '../onnx/plan.ts';

export interface ModelTensor {
  readonly dtype: DType;
  readonly data: TensorData;
  readonly dims: readonly number[];
}

type NumberData = Exclude<TensorData, BigInt64Array | BigUint64Array>;

/** Makes one input's tensors; what it returned is overwritten by its next call. */
export class InputConverter {
  readonly #plan: InputPlan;
  #buffer: TensorData | undefined;

  constructor(plan: InputPlan) {
    this.#plan = plan;
  }

  /** `column` is (samples, ...as it came). Throws `model_failed` when it does not fit. */
  convert(column: Tensor): ModelTensor {
    const { dtype, layout, normalise, batchAxis } = this.#plan;
    const [count = 0, ...given] = column.shape;
    const shape = fittedShape(this.#plan, given, column.dtype);
    const size = product(shape);
    const isSame = column.dtype === dtype && layout === 'as_is' && !normalise;
    const batchFirst = isSame ? column.data : this.#filled(column, shape);
    if (batchAxis === 0 || count === 1)
      return { dtype, data: batchFirst, dims: withBatch(shape, batchAxis, count) };
    const inner = product(shape.slice(batchAxis));
    const moved = emptyData(dtype, count * size);
    moveRows(batchFirst, moved, { count, outer: size / inner, inner, toAxis: true });
    return { dtype, data: moved, dims: withBatch(shape, batchAxis, count) };
  }

  #filled(column: Tensor, shape: readonly number[]): TensorData {
    const { dtype, layout } = this.#plan;
    const count = column.shape[0] ?? 0;
    const length = count * product(shape);
    if (!this.#buffer || this.#buffer.length < length) this.#buffer = emptyData(dtype, length);
    const target = this.#buffer.subarray(0, length);
    const source = asNumbers(column.data);
    const order = layout === 'as_is' ? undefined : permutation(layout, shape);
    if (target instanceof BigInt64Array || target instanceof BigUint64Array) {
      for (let index = 0; index < length; index++)
        target[index] = BigInt(Math.trunc(source[sourceIndex(index, order)] ?? 0));
    } else if (this.#plan.normalise) this.#normalise(source, target, { shape, order });
    else for (let index = 0; index < length; index++) target[index] = source[sourceIndex(index, order)] ?? 0;
    return target;
  }

  #normalise(
    source: NumberData,
    target: NumberData,
    { shape, order }: { readonly shape: readonly number[]; readonly order: Int32Array | undefined },
  ): void {
    const { normalise } = this.#plan;
    if (!normalise) return;
    const { scale, mean, std, channels } = normalise;
    const size = product(shape);
    const isFirst = channels === 'first';
    // Numbers of one channel that stand together.
    const run = isFirst ? size / (shape[0] ?? 1) : 1;
    const channelCount = isFirst ? (shape[0] ?? 1) : (shape.at(-1) ?? 1);
    for (let index = 0; index < target.length; index++) {
      const channel = Math.floor((index % size) / run) % channelCount;
      const shift = mean[mean.length === 1 ? 0 : channel] ?? 0;
      const spread = std[std.length === 1 ? 0 : channel] ?? 1;
      target[index] = ((source[sourceIndex(index, order)] ?? 0) * scale - shift) / spread;
    }
  }
}

/** An output with its samples along the first axis. Throws `model_failed` when it has another number of them. */
export function batchFirst(output: ModelTensor, { name, batchAxis }: OutputPlan, count: number): Tensor {
  const { dtype, data, dims } = output;
  if (dims[batchAxis] !== count)
    throw new StudioError(
      'model_failed',
      `output "${name}" is (${dims.join(', ')}) for ${count} samples; name the axis of the batch in batchAxis, or export it with one`,
    );
  const shape = dims.filter((_, axis) => axis !== batchAxis);
  if (batchAxis === 0 || count === 1) return Tensor.of(dtype, [count, ...shape], data);
  const inner = product(shape.slice(batchAxis));
  const moved = emptyData(dtype, data.length);
  moveRows(data, moved, { count, outer: product(shape) / inner, inner, toAxis: false });
  return Tensor.of(dtype, [count, ...shape], moved);
}

/** The shape one sample gets, dynamic extents filled in; ones may come and go. */
function fittedShape(plan: InputPlan, given: readonly number[], dtype: DType): readonly number[] {
  const { layout, shape, name } = plan;
  const arranged = layout === 'as_is' ? given : rearranged(given, layout);
  const isExact =
    arranged.length === shape.length &&
    shape.every((extent, axis) => extent === null || extent === arranged[axis]);
  if (isExact) return arranged;
  const withoutOnes = (extents: readonly (number | null)[]): string =>
    extents.filter((each) => each !== 1).join();
  if (!shape.includes(null) && withoutOnes(arranged) === withoutOnes(shape))
    return shape.map((extent) => extent ?? 1);
  const wanted = shape.map((extent) => extent ?? '?').join(', ');
  throw new StudioError(
    'model_failed',
    `input "${name}" got ${dtype} (${given.join(', ')}) and takes (${wanted}) per sample; resize what is wired to it, or set layout, oneHot or tokens`,
  );
}

function rearranged(
  [first = 1, second = 1, third = 1, ...rest]: readonly number[],
  layout: Layout,
): readonly number[] {
  if (rest.length > 0) return [first, second, third, ...rest];
  return layout === 'hwc_to_chw' ? [third, first, second] : [second, third, first];
}

/** For every place in one rearranged sample, its place in the sample as it came. */
function permutation(layout: Layout, shape: readonly number[]): Int32Array {
  const [a = 1, b = 1, c = 1] = shape;
  const order = new Int32Array(a * b * c);
  let place = 0;
  for (let i = 0; i < a; i++)
    for (let j = 0; j < b; j++)
      for (let k = 0; k < c; k++) {
        // Channels first: (c, h, w) from (h, w, c). Channels last: (h, w, c) from (c, h, w).
        order[place++] = layout === 'hwc_to_chw' ? (j * c + k) * a + i : (k * a + i) * b + j;
      }
  return order;
}

function sourceIndex(index: number, order: Int32Array | undefined): number {
  if (!order) return index;
  const place = index % order.length;
  return index - place + (order[place] ?? 0);
}

interface Move {
  readonly count: number;
  readonly outer: number;
  readonly inner: number;
  /** Samples first to samples at an axis, or back. */
  readonly toAxis: boolean;
}

function moveRows(from: TensorData, to: TensorData, { count, outer, inner, toAxis }: Move): void {
  for (let sample = 0; sample < count; sample++)
    for (let block = 0; block < outer; block++) {
      const first = (sample * outer + block) * inner;
      const second = (block * count + sample) * inner;
      const [source, target] = toAxis ? [first, second] : [second, first];
      const part = from.subarray(source, source + inner);
      if (to instanceof BigInt64Array || to instanceof BigUint64Array) to.set(part as BigInt64Array, target);
      else to.set(part as NumberData, target);
    }
}

function withBatch(shape: readonly number[], axis: number, count: number): readonly number[] {
  return [...shape.slice(0, axis), count, ...shape.slice(axis)];
}

function emptyData(dtype: DType, length: number): TensorData {
  return new Tensor(dtype, [length], new Uint8Array(length * bytesOf(dtype))).data;
}

function bytesOf(dtype: DType): number {
  return new Tensor(dtype, [0], new Uint8Array(0)).data.BYTES_PER_ELEMENT;
}

function asNumbers(data: TensorData): NumberData {
  return data instanceof BigInt64Array || data instanceof BigUint64Array
    ? Float64Array.from(data, Number)
    : data;
}

function product(shape: readonly number[]): number {
  return shape.reduce((all, extent) => all * extent, 1);
}
