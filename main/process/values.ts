// Hot path (frame.bench.ts). Values of the host protocol: JSON with typed cells for what JSON lacks. A value without special parts
// is handed to JSON as it is, without a copy; arrays and bytes become segments, never text.
import { StudioError } from '../base/errors.ts';
import { Tensor, dtypes, itemBytes, type DType, type TensorData } from '../base/tensor.ts';

/** Deeper values are refused in both directions; it also ends cycles. */
const deepest = 500;

const tupleMark: unique symbol = Symbol('tuple');

/** Marks an array so that it travels as a tuple; what arrives as a tuple is marked the same way. */
export function tuple<T extends unknown[]>(items: T): T {
  Object.defineProperty(items, tupleMark, { value: true });
  return items;
}

export function isTuple(value: unknown): boolean {
  return Array.isArray(value) && tupleMark in value;
}

/** The value as JSON can carry it, the same object where nothing is special; binary parts are pushed to `segments`. */
export function encodeValue(value: unknown, segments: Uint8Array[]): unknown {
  return encode(value, segments, 0);
}

function encode(value: unknown, segments: Uint8Array[], depth: number): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return value - value === 0 && (value !== 0 || 1 / value > 0) ? value : { $f: numberName(value) };
    case 'object':
      return value === null ? null : encodeObject(value, segments, depth);
    case 'undefined':
      return null;
    case 'bigint':
      return encodeInteger(value);
    case 'function':
    case 'symbol':
      throw unsendable(typeof value);
  }
}

function numberName(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  return value === 0 ? '-0' : value > 0 ? 'inf' : '-inf';
}

/** A bigint is always a cell, also a small one: the receiver then knows it was an integer on purpose. */
function encodeInteger(value: bigint): unknown {
  return { $i: value.toString() };
}

function encodeObject(value: object, segments: Uint8Array[], depth: number): unknown {
  if (depth > deepest)
    throw new StudioError(
      'invalid_input',
      `a value nested deeper than ${deepest} levels, or one that contains itself, cannot be sent`,
    );
  if (Array.isArray(value)) {
    const items = encodeItems(value, segments, depth);
    return tupleMark in value ? { $t: items } : items;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return encodeMembers(value, segments, depth);
  return encodeInstance(value, segments, depth);
}

function encodeItems(items: readonly unknown[], segments: Uint8Array[], depth: number): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    const encoded = encode(item, segments, depth + 1);
    if (encoded === item) continue;
    copy ??= items.slice();
    copy[index] = encoded;
  }
  return copy ?? items;
}

function encodeMembers(value: object, segments: Uint8Array[], depth: number): unknown {
  const members = value as Record<string, unknown>;
  let copy: Record<string, unknown> | undefined;
  let dollar = false;
  for (const key in members) {
    if (key.charCodeAt(0) === 36) dollar = true;
    const member = members[key];
    const encoded = encode(member, segments, depth + 1);
    if (encoded === member) continue;
    copy ??= { ...members };
    setMember(copy, key, encoded);
  }
  return dollar ? { $o: Object.entries(copy ?? members) } : (copy ?? members);
}

function encodeInstance(value: object, segments: Uint8Array[], depth: number): unknown {
  if (isTensorLike(value)) return arrayCell(value.dtype, value.shape, value.bytes, segments);
  if (value instanceof Uint8Array) return { $b: segments.push(value) - 1 };
  if (value instanceof Map) {
    const pairs = [...value].map((pair) => encodeItems(pair, segments, depth + 1));
    return { $m: pairs };
  }
  if (value instanceof Set) return { $s: encodeItems([...value], segments, depth) };
  const dtype = dtypeOfView(value);
  if (dtype && ArrayBuffer.isView(value)) {
    const data = value as TensorData;
    return arrayCell(
      dtype,
      [data.length],
      new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
      segments,
    );
  }
  throw unsendable(`an object of class ${value.constructor?.name || 'without a name'}`);
}

/** By shape, not by class: nodeset code and host may carry two copies of the class. */
function isTensorLike(value: object): value is Tensor {
  return (
    value instanceof Tensor ||
    ('dtype' in value && 'shape' in value && 'bytes' in value && value.bytes instanceof Uint8Array)
  );
}

function arrayCell(
  dtype: DType,
  shape: readonly number[],
  bytes: Uint8Array,
  segments: Uint8Array[],
): unknown {
  return { $a: segments.push(bytes) - 1, d: dtype, s: shape };
}

const dtypeByView: ReadonlyMap<string, DType> = new Map([
  ['Int8Array', 'int8'],
  ['Uint16Array', 'uint16'],
  ['Int16Array', 'int16'],
  ['Uint32Array', 'uint32'],
  ['Int32Array', 'int32'],
  ['BigUint64Array', 'uint64'],
  ['BigInt64Array', 'int64'],
  ['Float16Array', 'float16'],
  ['Float32Array', 'float32'],
  ['Float64Array', 'float64'],
]);

function dtypeOfView(value: object): DType | undefined {
  return dtypeByView.get(Object.prototype.toString.call(value).slice(8, -1));
}

function unsendable(what: string): StudioError {
  return new StudioError(
    'invalid_input',
    `${what} cannot be sent to another process; send plain data, arrays or bytes`,
  );
}

function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

/** Binary parts of the frame a value came in. */
export interface SegmentSource {
  readonly segments: readonly Uint8Array[];
  /** Reads an array announced in a shared memory slot; absent where that was not negotiated. */
  readonly readSlot?: ((slot: number, byteLength: number) => Uint8Array) | undefined;
}

/** Changes the parsed JSON in place where it holds cells; throws `protocol_error` for one that is not well formed. */
export function decodeValue(json: unknown, source: SegmentSource): unknown {
  return decode(json, source, 0);
}

function decode(json: unknown, source: SegmentSource, depth: number): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (depth > deepest) throw badCell(`nesting deeper than ${deepest}`);
  if (Array.isArray(json)) return decodeItems(json, source, depth);
  const members = json as Record<string, unknown>;
  for (const key in members) {
    if (key.charCodeAt(0) === 36) return decodeCell(key, members, source, depth);
    const member = members[key];
    if (typeof member === 'object' && member !== null)
      setMember(members, key, decode(member, source, depth + 1));
  }
  return members;
}

function decodeItems(items: unknown[], source: SegmentSource, depth: number): unknown[] {
  for (let index = 0; index < items.length; index++) items[index] = decode(items[index], source, depth + 1);
  return items;
}

const cellSize: Readonly<Record<string, number>> = { $a: 3, $h: 4 };

function decodeCell(
  key: string,
  cell: Record<string, unknown>,
  source: SegmentSource,
  depth: number,
): unknown {
  if (Object.keys(cell).length !== (cellSize[key] ?? 1)) throw badCell(`the members of cell ${key}`);
  const content = cell[key];
  switch (key) {
    case '$f':
      return specialNumber(content);
    case '$i':
      if (typeof content !== 'string' || !/^-?\d{1,10000}$/.test(content)) throw badCell('a $i cell');
      return BigInt(content);
    case '$b':
      return segmentAt(content, source);
    case '$a':
      return arrayOf(cell, segmentAt(content, source));
    case '$h':
      return arrayOf(cell, slotAt(cell, source));
    case '$t':
      return tuple(decodeItems(arrayContent(content, key), source, depth));
    case '$s':
      return new Set(decodeItems(arrayContent(content, key), source, depth));
    case '$m':
      return new Map(decodePairs(content, key, source, depth));
    case '$o':
      return objectOf(decodePairs(content, key, source, depth));
    default:
      throw badCell(`cell ${key.slice(0, 20)}`);
  }
}

function specialNumber(name: unknown): number {
  switch (name) {
    case 'nan':
      return Number.NaN;
    case 'inf':
      return Number.POSITIVE_INFINITY;
    case '-inf':
      return Number.NEGATIVE_INFINITY;
    case '-0':
      return -0;
    default:
      throw badCell('a $f cell');
  }
}

function segmentAt(index: unknown, source: SegmentSource): Uint8Array {
  const segment = typeof index === 'number' ? source.segments[index] : undefined;
  if (!segment) throw badCell('a segment index');
  return segment;
}

function slotAt(cell: Record<string, unknown>, source: SegmentSource): Uint8Array {
  const { $h: slot, n: byteLength } = cell;
  if (!source.readSlot || !isCount(slot) || !isCount(byteLength)) throw badCell('a $h cell');
  return source.readSlot(slot, byteLength);
}

const knownDtypes: ReadonlySet<unknown> = new Set(dtypes);

function isDtype(value: unknown): value is DType {
  return knownDtypes.has(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function arrayOf(cell: Record<string, unknown>, bytes: Uint8Array): Tensor {
  const { d: dtype, s: shape } = cell;
  if (!isDtype(dtype) || !Array.isArray(shape)) throw badCell('dtype or shape of an array');
  let expectedBytes = itemBytes(dtype);
  for (const extent of shape as readonly unknown[]) {
    if (!isCount(extent)) throw badCell('the shape of an array');
    expectedBytes *= extent;
  }
  if (expectedBytes !== bytes.byteLength) throw badCell('an array whose bytes do not fit its shape');
  return new Tensor(dtype, shape as readonly number[], bytes);
}

function arrayContent(content: unknown, key: string): unknown[] {
  if (!Array.isArray(content)) throw badCell(`a ${key} cell`);
  return content;
}

function decodePairs(
  content: unknown,
  key: string,
  source: SegmentSource,
  depth: number,
): [unknown, unknown][] {
  return arrayContent(content, key).map((pair) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw badCell(`a ${key} cell`);
    return [decode(pair[0], source, depth + 1), decode(pair[1], source, depth + 1)];
  });
}

function objectOf(pairs: readonly [unknown, unknown][]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, value] of pairs) {
    if (typeof key !== 'string') throw badCell('a $o cell');
    setMember(result, key, value);
  }
  return result;
}

function badCell(what: string): StudioError {
  return new StudioError('protocol_error', `a frame held a value that is not of the host protocol: ${what}`);
}
