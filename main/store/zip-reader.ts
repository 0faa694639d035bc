// Reads a ZIP file that somebody else made. Names are relative and clean, only regular files are taken, and count,
// sizes and compression ratio are bounded before anything is written; contents are checked against their CRC.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import { StudioError } from '../base/errors.ts';

export interface ZipLimits {
  readonly entries: number;
  /** Of all files together, unpacked. */
  readonly bytes: number;
  /** Unpacked to packed, for files above a megabyte. */
  readonly ratio: number;
}

export const defaultZipLimits: ZipLimits = { entries: 2_000_000, bytes: 64 * 2 ** 30, ratio: 200 };

export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

const largestDirectoryBytes = 512 * 2 ** 20;
const ratioFromBytes = 2 ** 20;

/** The files of the archive; folders are left out. Throws `invalid_input` for one that breaks a rule. */
export async function readZipEntries(
  file: string,
  limits: ZipLimits = defaultZipLimits,
): Promise<ZipEntry[]> {
  const handle = await open(file, 'r');
  try {
    const { start, size, count } = await findDirectory(handle);
    if (count > limits.entries || size > largestDirectoryBytes)
      throw refusal(`it has ${count} entries; at most ${limits.entries} are taken`);
    const directory = Buffer.alloc(size);
    await handle.read(directory, 0, size, start);
    const entries = [...parseDirectory(directory, count)].filter(({ name }) => !name.endsWith('/'));
    checkSizes(entries, limits);
    return entries;
  } finally {
    await handle.close();
  }
}

/** Writes one file of the archive below `folder`; answers its path. */
export async function extractEntry(file: string, entry: ZipEntry, folder: string): Promise<string> {
  const target = path.join(folder, ...entry.name.split('/'));
  await mkdir(path.dirname(target), { recursive: true });
  const start = await contentStart(file, entry);
  let crc = 0;
  let size = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      crc = crc32(chunk, crc);
      size += chunk.length;
      done(size > entry.size ? refusal(`${entry.name} is larger than it says`) : null, chunk);
    },
  });
  const sink = createWriteStream(target, { flags: 'wx' });
  if (entry.packed === 0) await pipeline([], check, sink);
  else {
    const source = createReadStream(file, { start, end: start + entry.packed - 1 });
    await (entry.method === 0
      ? pipeline(source, check, sink)
      : pipeline(source, createInflateRaw(), check, sink));
  }
  if (size !== entry.size || crc !== entry.crc) throw refusal(`${entry.name} is damaged`);
  return target;
}

interface Directory {
  readonly start: number;
  readonly size: number;
  readonly count: number;
}

async function findDirectory(handle: FileHandle): Promise<Directory> {
  const { size: bytes } = await handle.stat();
  const tail = Buffer.alloc(Math.min(bytes, 65_557));
  await handle.read(tail, 0, tail.length, bytes - tail.length);
  const at = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (at < 0 || at + 22 > tail.length) throw refusal('it is no ZIP file, or cut short');
  const end = tail.subarray(at);
  const plain = { count: end.readUInt16LE(10), size: end.readUInt32LE(12), start: end.readUInt32LE(16) };
  const locator = at >= 20 ? tail.subarray(at - 20, at) : Buffer.alloc(0);
  const directory =
    locator.length === 20 && locator.readUInt32LE(0) === 0x0706_4b50
      ? await readEnd64(handle, toNumber(locator.readBigUInt64LE(8)), bytes)
      : plain;
  if (directory.start + directory.size > bytes) throw refusal('its directory lies outside the file');
  return directory;
}

async function readEnd64(handle: FileHandle, at: number, bytes: number): Promise<Directory> {
  if (at + 56 > bytes) throw refusal('its directory lies outside the file');
  const end = Buffer.alloc(56);
  await handle.read(end, 0, 56, at);
  if (end.readUInt32LE(0) !== 0x0606_4b50) throw refusal('its directory cannot be found');
  return {
    count: toNumber(end.readBigUInt64LE(32)),
    size: toNumber(end.readBigUInt64LE(40)),
    start: toNumber(end.readBigUInt64LE(48)),
  };
}

function* parseDirectory(directory: Buffer, count: number): Generator<ZipEntry> {
  let at = 0;
  const names = new Set<string>();
  for (let index = 0; index < count; index++) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== 0x0201_4b50)
      throw refusal('its directory is damaged');
    const nameLength = directory.readUInt16LE(at + 28);
    const extraLength = directory.readUInt16LE(at + 30);
    const commentLength = directory.readUInt16LE(at + 32);
    const end = at + 46 + nameLength + extraLength + commentLength;
    if (end > directory.length) throw refusal('its directory is damaged');
    const name = directory.toString('utf8', at + 46, at + 46 + nameLength);
    const method = directory.readUInt16LE(at + 10);
    checkEntry({
      name,
      method,
      flags: directory.readUInt16LE(at + 8),
      mode: directory.readUInt32LE(at + 38) >>> 16,
    });
    if (names.has(name.toLowerCase())) throw refusal(`it holds ${JSON.stringify(name.slice(0, 100))} twice`);
    names.add(name.toLowerCase());
    const extra = directory.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength);
    const plain = {
      size: directory.readUInt32LE(at + 24),
      packed: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    };
    yield { name, method, crc: directory.readUInt32LE(at + 16), ...withExtra(plain, extra) };
    at = end;
  }
}

interface EntryFacts {
  readonly name: string;
  readonly method: number;
  readonly flags: number;
  /** Unix mode; 0 where the archive was not made on Unix. */
  readonly mode: number;
}

const fileType = 0o170_000;
const regularFile = 0o100_000;
const folderType = 0o040_000;

function checkEntry({ name, method, flags, mode }: EntryFacts): void {
  const shown = JSON.stringify(name.slice(0, 100));
  if (!isCleanName(name)) throw refusal(`it holds the name ${shown}, which is absolute or leads elsewhere`);
  if ((flags & 1) !== 0) throw refusal(`${shown} is encrypted`);
  if (method !== 0 && method !== 8) throw refusal(`${shown} is packed in an unknown way`);
  const type = mode & fileType;
  if (type !== 0 && type !== regularFile && type !== folderType)
    throw refusal(`${shown} is a link or a device`);
}

/** Relative, forward slashes, no empty, `.` or `..` part, nothing a file system of another system takes apart. */
export function isCleanName(name: string): boolean {
  const parts = (name.endsWith('/') ? name.slice(0, -1) : name).split('/');
  // oxlint-disable-next-line no-control-regex -- control characters are what must not be in a name
  if (name.length === 0 || name.length > 1000 || /[\\:\u0000-\u001f]/.test(name)) return false;
  return parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[. ]$/.test(part));
}

function withExtra<T extends { size: number; packed: number; offset: number }>(plain: T, extra: Buffer): T {
  for (let at = 0; at + 4 <= extra.length;) {
    const id = extra.readUInt16LE(at);
    const length = extra.readUInt16LE(at + 2);
    const field = extra.subarray(at + 4, at + 4 + length);
    at += 4 + length;
    if (id !== 1) continue;
    let from = 0;
    const next = (value: number): number => {
      if (value !== 0xffff_ffff || from + 8 > field.length) return value;
      from += 8;
      return toNumber(field.readBigUInt64LE(from - 8));
    };
    return { ...plain, size: next(plain.size), packed: next(plain.packed), offset: next(plain.offset) };
  }
  return plain;
}

function checkSizes(entries: readonly ZipEntry[], limits: ZipLimits): void {
  let total = 0;
  for (const { name, size, packed } of entries) {
    total += size;
    if (size > ratioFromBytes && size > packed * limits.ratio)
      throw refusal(
        `${JSON.stringify(name.slice(0, 100))} unpacks to more than ${limits.ratio} times its size`,
      );
  }
  if (total > limits.bytes)
    throw refusal(
      `it unpacks to ${Math.round(total / 2 ** 20)} MB; at most ${Math.round(limits.bytes / 2 ** 20)} MB are taken`,
    );
}

async function contentStart(file: string, entry: ZipEntry): Promise<number> {
  const handle = await open(file, 'r');
  try {
    const header = Buffer.alloc(30);
    await handle.read(header, 0, 30, entry.offset);
    if (header.readUInt32LE(0) !== 0x0403_4b50) throw refusal(`${entry.name} cannot be found`);
    return entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  } finally {
    await handle.close();
  }
}

function toNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw refusal('its sizes are impossible');
  return Number(value);
}

function refusal(why: string): StudioError {
  return new StudioError('invalid_input', `The archive is not taken: ${why}.`);
}
