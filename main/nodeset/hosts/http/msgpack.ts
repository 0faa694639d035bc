// MessagePack as AgentCanvas's transport uses it: extension type 1 carries arrays (tag, description, raw bytes).
// Numbers without a fraction travel as integers, so that Python code can index with them.
import { StudioError } from '../../../base/errors.ts';
import { Tensor, dtypes, type DType } from '../../../base/tensor.ts';

const arrayExtension = 1;
const tagArray = 0;
const deepest = 500;

/** Throws `invalid_input` for what cannot be sent. */
export function packMessage(value: unknown): Uint8Array {
  const writer = new Writer();
  writer.value(value, 0);
  return writer.bytes();
}

class Writer {
  readonly #parts: Uint8Array[] = [];

  bytes(): Uint8Array {
    return Buffer.concat(this.#parts);
  }

  value(value: unknown, depth: number): void {
    if (depth > deepest)
      throw new StudioError('invalid_input', `a value nested deeper than ${deepest} levels cannot be sent`);
    switch (typeof value) {
      case 'undefined':
        return this.#code(0xc0);
      case 'boolean':
        return this.#code(value ? 0xc3 : 0xc2);
      case 'number':
        return this.#number(value);
      case 'bigint':
        return this.#bigint(value);
      case 'string': {
        const text = Buffer.from(value);
        this.#length(text.length, { short: [0xa0, 32], codes: [0xd9, 0xda, 0xdb] });
        this.#parts.push(text);
        return;
      }
      case 'object':
        return value === null ? this.#code(0xc0) : this.#object(value, depth);
      default:
        throw unsendable(typeof value);
    }
  }

  #object(value: object, depth: number): void {
    if (Array.isArray(value) || value instanceof Set) return this.#list([...value], depth);
    if (value instanceof Map) return this.#map([...value], depth);
    if (isTensor(value)) return this.#tensor(value);
    if (value instanceof Uint8Array) {
      this.#length(value.length, { codes: [0xc4, 0xc5, 0xc6] });
      this.#parts.push(value);
      return;
    }
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null)
      throw unsendable(`an object of class ${value.constructor?.name || 'without a name'}`);
    this.#map(Object.entries(value), depth);
  }

  #list(items: readonly unknown[], depth: number): void {
    this.#length(items.length, { short: [0x90, 16], codes: [null, 0xdc, 0xdd] });
    for (const item of items) this.value(item, depth + 1);
  }

  #map(pairs: readonly (readonly [unknown, unknown])[], depth: number): void {
    this.#length(pairs.length, { short: [0x80, 16], codes: [null, 0xde, 0xdf] });
    for (const [key, member] of pairs) {
      this.value(key, depth + 1);
      this.value(member, depth + 1);
    }
  }

  #tensor({ dtype, shape, bytes }: Tensor): void {
    const head = packMessage({ dtype, shape: [...shape] });
    const body = 5 + head.length + bytes.length;
    this.#fixed(6, (view) => {
      view.setUint8(0, 0xc9);
      view.setUint32(1, body);
      view.setInt8(5, arrayExtension);
    });
    this.#fixed(5, (view) => {
      view.setUint8(0, tagArray);
      view.setUint32(1, head.length);
    });
    this.#parts.push(head, bytes);
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) return this.#bigint(BigInt(value));
    this.#fixed(9, (view) => {
      view.setUint8(0, 0xcb);
      view.setFloat64(1, value);
    });
  }

  #bigint(value: bigint): void {
    if (value >= 0n && value < 128n) return this.#code(Number(value));
    if (value < 0n && value >= -32n) return this.#code(Number(value) + 256);
    const isUnsigned = value > 0x7fffffffffffffffn;
    if (value > 0xffffffffffffffffn || value < -0x8000000000000000n)
      throw new StudioError('invalid_input', `the integer ${value} does not fit into 64 bits`);
    this.#fixed(9, (view) => {
      view.setUint8(0, isUnsigned ? 0xcf : 0xd3);
      if (isUnsigned) view.setBigUint64(1, value);
      else view.setBigInt64(1, value);
    });
  }

  #length(
    size: number,
    form: {
      readonly short?: readonly [number, number];
      readonly codes: readonly [number | null, number, number];
    },
  ): void {
    const [code8, code16, code32] = form.codes;
    if (form.short && size < form.short[1]) return this.#code(form.short[0] | size);
    if (code8 !== null && size < 2 ** 8) {
      this.#code(code8);
      return this.#code(size);
    }
    const isShort = size < 2 ** 16;
    this.#fixed(isShort ? 3 : 5, (view) => {
      view.setUint8(0, isShort ? code16 : code32);
      if (isShort) view.setUint16(1, size);
      else view.setUint32(1, size);
    });
  }

  #code(code: number): void {
    this.#parts.push(Uint8Array.of(code));
  }

  #fixed(byteLength: number, fill: (view: DataView) => void): void {
    const part = new Uint8Array(byteLength);
    fill(new DataView(part.buffer));
    this.#parts.push(part);
  }
}

/** Throws `protocol_error` when the bytes are not exactly one value. */
export function unpackMessage(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  try {
    const value = reader.value(0);
    if (reader.isAtEnd) return value;
  } catch (error) {
    if (error instanceof StudioError) throw error;
    throw malformed(error);
  }
  throw malformed(undefined);
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #position = 0;

  constructor(bytes: Uint8Array) {
    // What is handed out are plain arrays, also where a Buffer came in.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#position === this.#bytes.length;
  }

  value(depth: number): unknown {
    if (depth > deepest) throw malformed(undefined);
    const code = this.#unsigned(1);
    if (code < 0x80) return code;
    if (code >= 0xe0) return code - 256;
    if (code < 0x90) return this.#map(code & 0x0f, depth);
    if (code < 0xa0) return this.#list(code & 0x0f, depth);
    if (code < 0xc0) return this.#text(code & 0x1f);
    if (code >= 0xd4 && code <= 0xd8) return this.#extension(2 ** (code - 0xd4));
    return this.#coded(code, depth);
  }

  #coded(code: number, depth: number): unknown {
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
      case 0xc3:
        return code === 0xc3;
      case 0xca:
        return this.#view.getFloat32(this.#skip(4));
      case 0xcb:
        return this.#view.getFloat64(this.#skip(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#unsigned(2 ** (code - 0xcc));
      case 0xcf:
        return safeNumber(this.#view.getBigUint64(this.#skip(8)));
      case 0xd0:
        return this.#view.getInt8(this.#skip(1));
      case 0xd1:
        return this.#view.getInt16(this.#skip(2));
      case 0xd2:
        return this.#view.getInt32(this.#skip(4));
      case 0xd3:
        return safeNumber(this.#view.getBigInt64(this.#skip(8)));
      default:
        return this.#sized(code, depth);
    }
  }

  #sized(code: number, depth: number): unknown {
    if (code >= 0xc4 && code <= 0xc6) return this.#take(this.#unsigned(2 ** (code - 0xc4))).slice();
    if (code >= 0xc7 && code <= 0xc9) return this.#extension(this.#unsigned(2 ** (code - 0xc7)));
    if (code >= 0xd9 && code <= 0xdb) return this.#text(this.#unsigned(2 ** (code - 0xd9)));
    if (code === 0xdc || code === 0xdd) return this.#list(this.#unsigned(code === 0xdc ? 2 : 4), depth);
    if (code === 0xde || code === 0xdf) return this.#map(this.#unsigned(code === 0xde ? 2 : 4), depth);
    throw malformed(undefined);
  }

  #list(size: number, depth: number): unknown {
    return Array.from({ length: this.#plausible(size) }, () => this.value(depth + 1));
  }

  #map(size: number, depth: number): unknown {
    const pairs = Array.from(
      { length: this.#plausible(size) },
      () => [this.value(depth + 1), this.value(depth + 1)] as const,
    );
    return pairs.every(([key]) => typeof key === 'string')
      ? Object.fromEntries(pairs as readonly (readonly [string, unknown])[])
      : new Map(pairs);
  }

  #extension(size: number): unknown {
    const kind = this.#view.getInt8(this.#skip(1));
    const body = this.#take(size);
    if (kind !== arrayExtension)
      throw new StudioError('protocol_error', `the server sent the unknown MessagePack extension ${kind}`);
    const headLength = new DataView(body.buffer, body.byteOffset, body.byteLength).getUint32(1);
    const { dtype, shape } = unpackMessage(body.subarray(5, 5 + headLength)) as {
      dtype?: unknown;
      shape?: unknown;
    };
    return tensorFrom(dtype, shape, body.slice(5 + headLength));
  }

  #text(size: number): string {
    return new TextDecoder('utf-8').decode(this.#take(size));
  }

  #take(size: number): Uint8Array {
    const start = this.#skip(size);
    return this.#bytes.subarray(start, start + size);
  }

  #skip(size: number): number {
    const start = this.#position;
    if (start + size > this.#bytes.length) throw malformed(undefined);
    this.#position += size;
    return start;
  }

  #unsigned(byteLength: number): number {
    const at = this.#skip(byteLength);
    if (byteLength === 1) return this.#view.getUint8(at);
    return byteLength === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  /** Each item takes a byte at least: no list is made that the bytes cannot fill. */
  #plausible(size: number): number {
    if (size > this.#bytes.length - this.#position) throw malformed(undefined);
    return size;
  }
}

/** An array as both forms of the contract describe it. */
export function tensorFrom(dtype: unknown, shape: unknown, bytes: Uint8Array): Tensor {
  const isKnown = dtypes.includes(dtype as DType) && Array.isArray(shape);
  if (!isKnown)
    throw new StudioError('protocol_error', `the server sent an array of the unknown type ${String(dtype)}`);
  return new Tensor(dtype as DType, shape.map(Number), bytes);
}

/** By shape, not by class: nodeset code and host may carry two copies of the class. */
export function isTensor(value: object): value is Tensor {
  return 'dtype' in value && 'shape' in value && 'bytes' in value && value.bytes instanceof Uint8Array;
}

function safeNumber(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function unsendable(what: string): StudioError {
  return new StudioError('invalid_input', `${what} cannot be sent to a nodeset server`);
}

function malformed(cause: unknown): StudioError {
  return new StudioError('protocol_error', 'the server sent something else than one MessagePack value', {
    cause,
  });
}
