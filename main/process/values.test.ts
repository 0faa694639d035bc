// The codec, against every kind of value the protocol names.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Tensor, dtypes, itemBytes } from '../base/tensor.ts';
import { decodeValue, encodeValue, isTuple, tuple } from './values.ts';

function roundTrip(value: unknown): unknown {
  const segments: Uint8Array[] = [];
  const text = JSON.stringify(encodeValue(value, segments));
  return decodeValue(JSON.parse(text), { segments: segments.map((segment) => segment.slice()) });
}

const tensor = fc
  .tuple(fc.constantFrom(...dtypes), fc.array(fc.nat(4), { maxLength: 3 }))
  .chain(([dtype, shape]) => {
    const byteLength = shape.reduce((product, extent) => product * extent, itemBytes(dtype));
    return fc
      .uint8Array({ minLength: byteLength, maxLength: byteLength })
      .map((bytes) => new Tensor(dtype, shape, bytes));
  });

const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.bigInt(),
      fc.uint8Array(),
      tensor,
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(tie('value'), { maxLength: 3 }).map(tuple),
    fc.dictionary(
      fc.oneof(fc.string(), fc.constantFrom('$f', '$a', '$', '__proto__', 'toString')),
      tie('value'),
      { maxKeys: 4 },
    ),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => new Set(items)),
  ),
}));

describe('values', () => {
  it('survive the round trip exactly, with every kind nested in every other', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(shape(roundTrip(value))).toEqual(shape(value));
      }),
      { numRuns: 1500, seed: 7 },
    );
  });

  it('without special parts are handed on uncopied', () => {
    const value = { action: 2, path: [1, 2, { text: 'ü', done: false }] };
    expect(encodeValue(value, [])).toBe(value);
  });

  it('keep the marks of tuples through the trip', () => {
    const back = roundTrip(tuple([1, [2], tuple([])])) as unknown[];
    expect([isTuple(back), isTuple(back[1]), isTuple(back[2])]).toEqual([true, false, true]);
  });

  it('send undefined as null', () => {
    expect(roundTrip({ a: undefined, b: [undefined] })).toEqual({ a: null, b: [null] });
  });

  it('take plain typed arrays as arrays of one dimension', () => {
    const back = roundTrip(Float32Array.of(1, 2.5, Number.NaN)) as Tensor;
    expect([back.dtype, back.shape, [...back.data]]).toEqual(['float32', [3], [1, 2.5, Number.NaN]]);
  });

  it.each([
    ['a function', () => () => 1],
    ['a symbol', () => Symbol('x')],
    ['a date', () => new Date()],
    ['an own class', () => new (class Robot {})()],
    ['a cycle', cyclic],
  ])('refuse %s with an error that says so', (_name, make) => {
    expect(() => encodeValue({ deep: [make()] }, [])).toThrow(/cannot be sent/);
  });

  it.each([
    [{ $f: 'huge' }],
    [{ $f: 'nan', more: 1 }],
    [{ $i: '1e5' }],
    [{ $i: 5 }],
    [{ $b: 1 }],
    [{ $b: -1 }],
    [{ $b: '0' }],
    [{ $a: 0, d: 'float32', s: [3] }],
    [{ $a: 0, d: 'float31', s: [2] }],
    [{ $a: 0, d: 'uint8', s: [-8] }],
    [{ $a: 0, d: 'uint8', s: 8 }],
    [{ $a: 0, d: 'uint8' }],
    [{ $h: 0, n: 8, d: 'uint8', s: [8] }],
    [{ $t: {} }],
    [{ $m: [[1]] }],
    [{ $o: [[1, 2]] }],
    [{ $unknown: 1 }],
    [{ a: 1, $f: 'nan' }],
  ])('refuse the malformed cell %j', (cell) => {
    expect(() => decodeValue([structuredClone(cell)], { segments: [new Uint8Array(8)] })).toThrow(
      expect.objectContaining({ code: 'protocol_error' }),
    );
  });

  it('refuse nesting that would exhaust the stack', () => {
    const text = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(() => decodeValue(JSON.parse(text), { segments: [] })).toThrow(
      expect.objectContaining({ code: 'protocol_error' }),
    );
  });

  it('never change the prototype of what they build', () => {
    const back = roundTrip(JSON.parse('{"__proto__": {"polluted": [1]}, "$x": 1}')) as object;
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(Object.keys(back)).toEqual(['__proto__', '$x']);
  });
});

function cyclic(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}

/** A comparable picture of a value that tells apart what toEqual does not: -0, tuples, key order of maps, bytes. */
function shape(value: unknown): unknown {
  if (value instanceof Tensor) return ['tensor', value.dtype, value.shape, [...value.bytes]];
  if (value instanceof Uint8Array) return ['bytes', [...value]];
  if (value instanceof Map) return ['map', [...value].map(([key, item]) => [shape(key), shape(item)])];
  if (value instanceof Set) return ['set', [...value].map(shape)];
  if (Array.isArray(value)) return [isTuple(value) ? 'tuple' : 'list', value.map(shape)];
  if (typeof value === 'number') return ['number', Object.is(value, -0) ? '-0' : String(value)];
  if (typeof value === 'bigint') return ['bigint', String(value)];
  if (value !== null && typeof value === 'object')
    return ['object', Object.entries(value).map(([key, item]) => [key, shape(item)])];
  return value;
}
