import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Tensor } from '../../../base/tensor.ts';
import { fromJsonForm, toJsonForm } from './json-values.ts';
import { packMessage, unpackMessage } from './msgpack.ts';

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double(),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array(),
    fc.array(tie('any')),
    fc.dictionary(fc.string(), tie('any'), { noNullPrototype: true }),
  ),
})).any;

describe('MessagePack', () => {
  it('brings back every value as it was', () => {
    fc.assert(
      fc.property(value, (sent) => {
        const back = unpackMessage(packMessage(sent));
        expect(back).toEqual(sent);
      }),
      { numRuns: 300 },
    );
  });

  it('brings back every size class of texts, bytes, lists and maps', () => {
    for (const size of [0, 15, 16, 31, 32, 255, 256, 65_535, 65_536]) {
      const sent = {
        text: 'x'.repeat(size),
        bytes: new Uint8Array(size).fill(7),
        list: Array.from({ length: size }, () => 1),
        map: Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, index])),
      };
      expect(unpackMessage(packMessage(sent))).toEqual(sent);
    }
    expect(unpackMessage(packMessage(new Map([[0, 'a']])))).toEqual(new Map([[0, 'a']]));
  });

  it('carries arrays as extension type 1: tag, description, raw bytes', () => {
    const tensor = new Tensor('float32', [1, 2], new Uint8Array([0, 0, 128, 63, 0, 0, 0, 64]));
    const packed = Buffer.from(packMessage(tensor));
    expect(packed[0]).toBe(0xc9);
    expect(packed[5]).toBe(1);
    expect(packed[6]).toBe(0);
    expect(packed.includes('float32')).toBe(true);
    const back = unpackMessage(packed) as Tensor;
    expect([back.dtype, back.shape, [...back.data]]).toEqual(['float32', [1, 2], [1, 2]]);
  });

  it('that is cut off, longer, or of another kind is refused with a typed error', () => {
    const whole = packMessage({ a: [1.5, 'text', new Uint8Array(3), { b: 2 ** 40 }] });
    for (let size = 0; size < whole.length; size++)
      expect(() => unpackMessage(whole.subarray(0, size))).toThrow(/MessagePack/);
    expect(() => unpackMessage(new Uint8Array([...whole, 0]))).toThrow(/MessagePack/);
    expect(() => unpackMessage(Uint8Array.of(0xc1))).toThrow(/MessagePack/);
    expect(() => unpackMessage(Uint8Array.of(0xd4, 9, 0))).toThrow(/extension 9/);
    expect(() => unpackMessage(Uint8Array.of(0xdd, 255, 255, 255, 255))).toThrow(/MessagePack/);
    expect(() => packMessage(() => 1)).toThrow(/cannot be sent/);
  });
});

describe('the JSON form', () => {
  it('carries arrays as base64 with type and shape, and refuses what JSON would turn into null', () => {
    const tensor = new Tensor('uint8', [2, 2], Uint8Array.of(1, 2, 3, 4));
    const text = JSON.stringify(toJsonForm({ a: [tensor], n: 2n, m: new Map([[1, 'x']]), u: undefined }));
    expect(JSON.parse(text)).toEqual({
      a: [{ __ndarray__: 'AQIDBA==', dtype: 'uint8', shape: [2, 2] }],
      n: 2,
      m: { 1: 'x' },
      u: null,
    });
    expect(fromJsonForm(JSON.parse(text))).toMatchObject({ a: [{ dtype: 'uint8', shape: [2, 2] }] });
    expect(() => toJsonForm([Number.NaN])).toThrow(/JSON only/);
  });
});
