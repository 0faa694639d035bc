// Parser and writer together, over every way a stream can be cut, and over junk.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StudioError } from '../base/errors.ts';
import { FrameParser, type ParsedFrame } from './frame-parser.ts';
import { FrameWriter } from './frame-writer.ts';

interface Message {
  readonly header: Record<string, unknown>;
  readonly segments: readonly Uint8Array[];
}

function bytesOf(messages: readonly Message[]): Buffer {
  const pieces: Uint8Array[] = [];
  const sink = {
    write: (bytes: Uint8Array) => pieces.push(Buffer.from(bytes)) > 0,
    cork() {},
    uncork() {},
    writableLength: 0,
  };
  const writer = new FrameWriter(sink);
  for (const { header, segments } of messages) writer.write(JSON.stringify(header), segments);
  return Buffer.concat(pieces);
}

function parse(
  bytes: Uint8Array,
  cuts: readonly number[],
  bufferBytes = 64,
): { frames: ParsedFrame[]; parser: FrameParser } {
  const frames: ParsedFrame[] = [];
  const parser = new FrameParser({ bufferBytes });
  parser.deliverTo((frame) => frames.push(frame));
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    const to = Math.min(bytes.length, from + cut);
    parser.push(bytes.subarray(from, to));
    from = to;
  }
  return { frames, parser };
}

const message = fc.record({
  header: fc.dictionary(fc.string(), fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer())),
  segments: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 3 }),
});

describe('frames', () => {
  it('arrive complete and in order however the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 5 }),
        fc.array(fc.nat(200), { maxLength: 30 }),
        fc.constantFrom(16, 40, 512, 65_536),
        (messages, cuts, bufferBytes) => {
          const { frames, parser } = parse(bytesOf(messages), cuts, bufferBytes);
          expect(frames.map(plain)).toEqual(messages.map(plain));
          expect(parser.isBetweenFrames).toBe(true);
        },
      ),
      { numRuns: 600, seed: 11 },
    );
  });

  it('own their segments: bytes that arrive later do not change them', () => {
    const bytes = bytesOf([{ header: {}, segments: [new Uint8Array(100).fill(7)] }]);
    const { frames, parser } = parse(bytes, [], 4096);
    parser.push(new Uint8Array(15).fill(0x41));
    expect(frames[0]?.segments[0]?.every((byte) => byte === 7)).toBe(true);
  });

  it('place segments so that every dtype can view them in place', () => {
    const segments = [1, 9, 16].map((length) => new Uint8Array(length));
    const [frame] = parse(bytesOf([{ header: {}, segments }]), []).frames;
    expect(frame?.segments.map((segment) => segment.byteOffset % 8)).toEqual([0, 0, 0]);
  });

  it('of 5 MB are read into memory of their own, not into a grown buffer', () => {
    const large = new Uint8Array(5_000_001).fill(3);
    const { frames, parser } = parse(
      bytesOf([{ header: { t: 'ok' }, segments: [large] }]),
      [1000, 100_000],
      1024,
    );
    expect(Buffer.compare(frames[0]?.segments[0] ?? Buffer.alloc(0), large)).toBe(0);
    expect(parser.target.length).toBe(1024);
  });

  it('of another version, with junk in front, or beyond a limit are refused', () => {
    const good = bytesOf([{ header: { t: 'ok' }, segments: [new Uint8Array(8)] }]);
    const spoiled: [string, (bytes: Buffer) => unknown][] = [
      ['magic', (bytes) => bytes.write('HTTP', 0)],
      ['version', (bytes) => bytes.writeUInt8(2, 2)],
      ['flags', (bytes) => bytes.writeUInt8(1, 3)],
      ['header length beyond the limit', (bytes) => bytes.writeUInt32LE(64 * 2 ** 20 + 8, 4)],
      ['header length not a multiple of 8', (bytes) => bytes.writeUInt32LE(13, 4)],
      ['segment count', (bytes) => bytes.writeUInt32LE(65_536, 8)],
      ['reserved', (bytes) => bytes.writeUInt32LE(1, 12)],
      ['segment length', (bytes) => bytes.writeUInt32LE(1, 20)],
      ['header text', (bytes) => bytes.write('1234    ', 24)],
      ['header not JSON', (bytes) => bytes.write('{"t";', 24)],
    ];
    const outcomes: [string, string][] = [];
    for (const [name, spoil] of spoiled) {
      const bytes = Buffer.from(good);
      spoil(bytes);
      outcomes.push([name, outcomeOf(() => parse(bytes, [], 4096))]);
    }
    expect(outcomes).toEqual(spoiled.map(([name]) => [name, 'protocol_error']));
  });

  it('made of random bytes, or good ones with flipped bytes, are refused with a typed error or are harmless', () => {
    const good = bytesOf([
      { header: { t: 'call', id: 1, p: { a: [1, 2] } }, segments: [new Uint8Array(24)] },
    ]);
    const flipped = fc
      .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
      .map((flips) => {
        const bytes = Buffer.from(good);
        for (const [at, byte] of flips) bytes[at] = byte;
        return bytes;
      });
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 200 }), flipped),
        fc.array(fc.nat(50), { maxLength: 6 }),
        (bytes, cuts) => {
          expect(['parsed', 'protocol_error']).toContain(outcomeOf(() => parse(bytes, cuts)));
        },
      ),
      { numRuns: 5000, seed: 3 },
    );
  });
});

function plain(frame: Message | ParsedFrame): unknown {
  return [Object.entries(frame.header), frame.segments.map((segment) => [...segment])];
}

function outcomeOf(attempt: () => unknown): string {
  try {
    attempt();
    return 'parsed';
  } catch (error) {
    return error instanceof StudioError ? error.code : `not typed: ${String(error)}`;
  }
}
