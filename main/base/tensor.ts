// An array on a wire: dtype, shape and little-endian bytes. A tensor that is only forwarded is never decoded;
// `data` makes the typed view on first use (copying only when the bytes are not aligned).

const viewOf = {
  bool: Uint8Array,
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  uint64: BigUint64Array,
  int64: BigInt64Array,
  float16: Float16Array,
  float32: Float32Array,
  float64: Float64Array,
  complex64: Float32Array,
  complex128: Float64Array,
} as const;

/** numpy's names. Complex numbers are carried as interleaved pairs. */
export type DType = keyof typeof viewOf;
export type TensorData = InstanceType<(typeof viewOf)[DType]>;

export const dtypes = Object.keys(viewOf) as readonly DType[];

export function itemBytes(dtype: DType): number {
  const size = viewOf[dtype].BYTES_PER_ELEMENT;
  return dtype.startsWith('complex') ? size * 2 : size;
}

export class Tensor {
  readonly dtype: DType;
  /** Row-major; empty for a scalar. */
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
  #view: TensorData | undefined;

  constructor(dtype: DType, shape: readonly number[], bytes: Uint8Array) {
    this.dtype = dtype;
    this.shape = shape;
    this.bytes = bytes;
  }

  /** A tensor over existing numbers, sharing their memory. */
  static of(dtype: DType, shape: readonly number[], data: TensorData): Tensor {
    return new Tensor(dtype, shape, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }

  /** Number of elements. */
  get size(): number {
    return this.shape.reduce((product, extent) => product * extent, 1);
  }

  get data(): TensorData {
    if (!this.#view) {
      const View = viewOf[this.dtype];
      const aligned =
        this.bytes.byteOffset % View.BYTES_PER_ELEMENT === 0 ? this.bytes : new Uint8Array(this.bytes);
      this.#view = new View(
        aligned.buffer as ArrayBuffer,
        aligned.byteOffset,
        aligned.byteLength / View.BYTES_PER_ELEMENT,
      );
    }
    return this.#view;
  }

  /** An independent copy: for whoever keeps a value beyond the call that brought it. */
  copy(): Tensor {
    return new Tensor(this.dtype, this.shape, new Uint8Array(this.bytes));
  }
}
