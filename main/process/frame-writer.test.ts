import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FrameWriter, type ByteSink } from './frame-writer.ts';

/** Copies what is written at once, as a socket does that the system takes everything from. */
function collect(): { readonly writes: Buffer[]; readonly sink: ByteSink } {
  const writes: Buffer[] = [];
  const write = (bytes: Uint8Array): boolean => writes.push(Buffer.from(bytes)) > 0;
  return { writes, sink: { write, cork() {}, uncork() {}, writableLength: 0 } };
}

/** The bytes of the same frames, each written on its own. */
function oneByOne(frames: readonly (readonly [string, Uint8Array[]])[]): Buffer {
  const { writes, sink } = collect();
  const writer = new FrameWriter(sink);
  for (const [header, segments] of frames) writer.write(header, segments);
  return Buffer.concat(writes);
}

describe('a writer that gathers', () => {
  it('sends what one turn wrote in one piece, promises that it settled included', async () => {
    const { writes, sink } = collect();
    const writer = new FrameWriter(sink);
    writer.gather();
    const frames = [1, 2, 3].map((id) => [`{"id":${id}}`, [new Uint8Array(id).fill(id)]] as const);
    await Promise.all(
      frames.map(async ([header, segments], index) => {
        for (let hop = 0; hop < index * 3; hop++) await Promise.resolve();
        writer.write(header, [...segments]);
      }),
    );
    await turn();
    expect(writes).toHaveLength(1);
    expect(writes[0]).toEqual(oneByOne(frames.map(([header, segments]) => [header, [...segments]])));
  });

  it('keeps the order when a large frame comes between small ones', async () => {
    const { writes, sink } = collect();
    const writer = new FrameWriter(sink);
    writer.gather();
    const frames: [string, Uint8Array[]][] = [
      ['{"id":1}', []],
      ['{"id":2}', [new Uint8Array(200_000).fill(7)]],
      ['{"id":3}', []],
      [`{"id":4,"text":"${'x'.repeat(60_000)}"}`, []],
      ['{"id":5}', []],
    ];
    for (const [header, segments] of frames) writer.write(header, segments);
    await turn();
    expect(Buffer.concat(writes)).toEqual(oneByOne(frames));
  });

  it('sends in several pieces what its buffer does not hold', async () => {
    const { writes, sink } = collect();
    const writer = new FrameWriter(sink);
    writer.gather();
    const frames = Array.from({ length: 300 }, (_, id): [string, Uint8Array[]] => [
      `{"id":${id}}`,
      [new Uint8Array(900).fill(id)],
    ]);
    for (const [header, segments] of frames) writer.write(header, segments);
    await turn();
    expect(writes.length).toBeGreaterThan(4);
    expect(Buffer.concat(writes)).toEqual(oneByOne(frames));
  });

  it('does not write over what the system has not taken yet', async () => {
    const taken: Uint8Array[] = [];
    const sink: ByteSink = {
      write: (bytes) => taken.push(bytes) > 0,
      cork() {},
      uncork() {},
      writableLength: 1,
    };
    const writer = new FrameWriter(sink);
    writer.gather();
    writer.write('{"id":1}', []);
    await turn();
    writer.write('{"id":2}', []);
    await turn();
    expect(Buffer.concat(taken).toString()).toContain('{"id":1}');
    expect(Buffer.concat(taken).toString()).toContain('{"id":2}');
  });
});
