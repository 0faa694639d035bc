// Writes a ZIP file from files on disk, one after the other, with memory bounded by a chunk. ZIP64 throughout where
// sizes, offsets or counts need it; PNG files are stored, everything else is deflated.
import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Transform } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';

const version64 = 45;
const utf8Names = 0x0800;
const limit32 = 0xffff_ffff;
const limit16 = 0xffff;
/** 1980-01-01: equal content gives equal files. */
const noDate = 0x0021;

interface Entry {
  readonly name: Buffer;
  readonly offset: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
}

export class ZipWriter implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #entries: Entry[] = [];
  #position = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** The file must not exist. */
  static async create(path: string): Promise<ZipWriter> {
    return new ZipWriter(await open(path, 'wx'));
  }

  /** `name` with forward slashes, relative. */
  async addFile(name: string, path: string): Promise<void> {
    const offset = this.#position;
    const encoded = Buffer.from(name);
    const method = name.endsWith('.png') ? 0 : 8;
    // Sizes are known only afterwards: the place is kept in ZIP64 form and written over.
    await this.#write(localHeader({ name: encoded, offset, method, crc: 0, packed: 0, size: 0 }));
    let crc = 0;
    let size = 0;
    let packed = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        crc = crc32(chunk, crc);
        size += chunk.length;
        done(null, chunk);
      },
    });
    const sink = async (source: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of source) {
        packed += chunk.length;
        await this.#write(chunk);
      }
    };
    const source = createReadStream(path);
    if (method === 0) await pipeline(source, measure, sink);
    else await pipeline(source, measure, createDeflateRaw({ level: 6 }), sink);
    const entry = { name: encoded, offset, method, crc, packed, size };
    this.#entries.push(entry);
    const header = localHeader(entry);
    await this.#handle.write(header, 0, header.length, offset);
  }

  /** The directory; answers the size of the file. */
  async finish(): Promise<number> {
    const start = this.#position;
    for (const entry of this.#entries) await this.#write(directoryEntry(entry));
    const size = this.#position - start;
    await this.#write(endOfDirectory({ count: this.#entries.length, size, start, at: this.#position }));
    await this.#handle.sync();
    return this.#position;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #write(bytes: Buffer): Promise<void> {
    await this.#handle.write(bytes, 0, bytes.length, this.#position);
    this.#position += bytes.length;
  }
}

/** Always with the ZIP64 field, so that its length does not depend on the sizes. */
function localHeader({ name, method, crc, packed, size }: Entry): Buffer {
  const header = Buffer.alloc(30 + 20);
  header.writeUInt32LE(0x0403_4b50, 0);
  header.writeUInt16LE(version64, 4);
  header.writeUInt16LE(utf8Names, 6);
  header.writeUInt16LE(method, 8);
  header.writeUInt16LE(noDate, 12);
  header.writeUInt32LE(crc, 14);
  header.writeUInt32LE(limit32, 18);
  header.writeUInt32LE(limit32, 22);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(20, 28);
  const extra = header.subarray(30);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(16, 2);
  extra.writeBigUInt64LE(BigInt(size), 4);
  extra.writeBigUInt64LE(BigInt(packed), 12);
  return Buffer.concat([header.subarray(0, 30), name, extra]);
}

function directoryEntry({ name, offset, method, crc, packed, size }: Entry): Buffer {
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x0201_4b50, 0);
  header.writeUInt16LE((3 << 8) | version64, 4);
  header.writeUInt16LE(version64, 6);
  header.writeUInt16LE(utf8Names, 8);
  header.writeUInt16LE(method, 10);
  header.writeUInt16LE(noDate, 14);
  header.writeUInt32LE(crc, 16);
  header.writeUInt32LE(limit32, 20);
  header.writeUInt32LE(limit32, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(28, 30);
  // A regular file, 0644.
  header.writeUInt32LE((0o100_644 << 16) >>> 0, 38);
  header.writeUInt32LE(limit32, 42);
  const extra = Buffer.alloc(28);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(24, 2);
  extra.writeBigUInt64LE(BigInt(size), 4);
  extra.writeBigUInt64LE(BigInt(packed), 12);
  extra.writeBigUInt64LE(BigInt(offset), 20);
  return Buffer.concat([header, name, extra]);
}

interface Directory {
  readonly count: number;
  readonly size: number;
  readonly start: number;
  /** Where the end records begin. */
  readonly at: number;
}

function endOfDirectory({ count, size, start, at }: Directory): Buffer {
  const end64 = Buffer.alloc(56);
  end64.writeUInt32LE(0x0606_4b50, 0);
  end64.writeBigUInt64LE(44n, 4);
  end64.writeUInt16LE((3 << 8) | version64, 12);
  end64.writeUInt16LE(version64, 14);
  end64.writeBigUInt64LE(BigInt(count), 24);
  end64.writeBigUInt64LE(BigInt(count), 32);
  end64.writeBigUInt64LE(BigInt(size), 40);
  end64.writeBigUInt64LE(BigInt(start), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x0706_4b50, 0);
  locator.writeBigUInt64LE(BigInt(at), 8);
  locator.writeUInt32LE(1, 16);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(Math.min(count, limit16), 8);
  end.writeUInt16LE(Math.min(count, limit16), 10);
  end.writeUInt32LE(limit32, 12);
  end.writeUInt32LE(limit32, 16);
  return Buffer.concat([end64, locator, end]);
}
