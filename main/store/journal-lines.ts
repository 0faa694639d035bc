// The lines of episodes.jsonl. A line is one JSON object whose first member is a CRC-32 (8 hex digits) of the rest:
// `{"crc":"1c291ca3","ordinal":0,…}` is checked by hashing `{"ordinal":0,…}`. So the file stays plain JSON lines.
import { crc32 } from 'node:zlib';
import { StudioError } from '../base/errors.ts';
import type { FileHandlePort } from './ports.ts';

const prefix = '{"crc":"';
const bodyAt = prefix.length + 8 + 2;

export type DecodedLine =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

/** One line with its newline. `value` must be an object with at least one member. */
export function encodeLine(value: object): string {
  const body = JSON.stringify(value);
  if (body === '{}') throw new StudioError('internal', 'a journal line needs at least one member');
  return `${prefix}${checksum(body)}",${body.slice(1)}\n`;
}

export function decodeLine(line: string): DecodedLine {
  if (!line.startsWith(prefix) || line.slice(bodyAt - 2, bodyAt) !== '",') {
    return { ok: false, reason: 'not a line of a journal' };
  }
  const body = `{${line.slice(bodyAt)}`;
  if (checksum(body) !== line.slice(prefix.length, bodyAt - 2))
    return { ok: false, reason: 'checksum is wrong' };
  try {
    return { ok: true, value: JSON.parse(body) };
  } catch {
    return { ok: false, reason: 'not JSON' };
  }
}

function checksum(body: string): string {
  return crc32(body).toString(16).padStart(8, '0');
}

export interface RawLine {
  /** 1-based. */
  readonly number: number;
  readonly text: string;
  /** Position after the line, its newline included. */
  readonly endByte: number;
  /** False only for bytes at the end that no newline follows. */
  readonly terminated: boolean;
}

/** Small enough that decoding one chunk stays below the engine's longest task. */
const chunkBytes = 1 << 18;
const newline = 10;
/** A line that long is not ours; reading on would only fill the memory. */
const longestLineBytes = 64 << 20;

/** Lines in batches of one chunk; memory stays bounded whatever the file's size. Empty lines are counted, not given. */
export async function* readLines(handle: FileHandlePort, fromByte = 0): AsyncGenerator<readonly RawLine[]> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let position = fromByte;
  let number = 0;
  while (true) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const length = await handle.read(chunk, position);
    if (length === 0) break;
    const lines: RawLine[] = [];
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1 && at < length; at = chunk.indexOf(newline, start)) {
      const text = Buffer.concat([...pending, chunk.subarray(start, at)]).toString('utf8');
      pending = [];
      pendingBytes = 0;
      start = at + 1;
      number++;
      if (text !== '') lines.push({ number, text, endByte: position + start, terminated: true });
    }
    pending.push(chunk.subarray(start, length));
    pendingBytes += length - start;
    position += length;
    if (pendingBytes > longestLineBytes) throw new StudioError('corrupt', `line ${number + 1} has no end`);
    if (lines.length > 0) yield lines;
  }
  if (pendingBytes > 0) {
    const text = Buffer.concat(pending).toString('utf8');
    yield [{ number: number + 1, text, endByte: position, terminated: false }];
  }
}
