// Hot path (frame.bench.ts). Bytes to frames, over one reused read buffer. Small headers are parsed where they lie; the binary part of
// a frame goes into one allocation of its own, for large frames read there directly, so that a receiver may keep it.
import { StudioError } from '../base/errors.ts';
import {
  frameLimits,
  magicAndVersion,
  mostSegments,
  padded,
  prefixBytes,
  type FrameLimits,
} from './frame-format.ts';
import { allocateReceived } from './received-memory.ts';
import type { FrameHeader } from './frame-header.ts';

export interface ParsedFrame {
  readonly header: FrameHeader;
  /** False when the header can hold no typed cell: it is then plain JSON. */
  readonly mayHoldCells: boolean;
  readonly segments: readonly Uint8Array[];
}

const noSegments: readonly Uint8Array[] = [];
/**
 * Small binary parts share slabs: a block of memory of its own for each costs more in collections than the rest of a
 * step. Kept small, because whoever keeps one part keeps its slab.
 */
const slabBytes = 4096;
const largestInSlab = 512;
/** Small, so that most of a large frame is read straight to where it stays. */
const ordinaryBufferBytes = 16 * 1024;

interface OpenBody {
  readonly header: ParsedFrame['header'];
  readonly lengths: readonly number[];
  readonly bytes: Uint8Array;
  received: number;
}

export class FrameParser {
  #onFrame: (frame: ParsedFrame) => void = ignoreFrame;
  readonly #limits: FrameLimits;
  readonly #ordinary: Buffer;
  #buffer: Buffer;
  /** Unparsed bytes are #buffer[#start, #end). */
  #start = 0;
  #end = 0;
  /** A frame whose header is parsed and whose binary part is still arriving. Then #buffer is empty. */
  #body: OpenBody | undefined;
  #target: Uint8Array;
  #slab = Buffer.allocUnsafeSlow(0);
  #slabUsed = 0;

  constructor(options: { readonly limits?: FrameLimits; readonly bufferBytes?: number } = {}) {
    this.#limits = options.limits ?? frameLimits;
    this.#ordinary = Buffer.allocUnsafeSlow(
      Math.max(options.bufferBytes ?? ordinaryBufferBytes, prefixBytes),
    );
    this.#buffer = this.#ordinary;
    this.#target = this.#ordinary;
  }

  /** `onFrame` is called once per frame, in order; what it throws comes out of `received` or `push`. */
  deliverTo(onFrame: (frame: ParsedFrame) => void): void {
    this.#onFrame = onFrame;
  }

  /** Where the next bytes belong; the same object as long as nothing changed. */
  get target(): Uint8Array {
    return this.#target;
  }

  /** `byteCount` bytes were written to the front of `target`. Throws `protocol_error`; the parser is then of no more use. */
  received(byteCount: number): void {
    if (this.#body) {
      this.#body.received += byteCount;
      if (this.#body.received < this.#body.bytes.length) {
        this.#target = this.#body.bytes.subarray(this.#body.received);
        return;
      }
      this.#finishBody(this.#body);
    } else {
      this.#end += byteCount;
    }
    while (this.#parseOne());
    this.#aim();
  }

  /** The same for bytes that lie elsewhere: they are copied. */
  push(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.length;) {
      const part = chunk.subarray(offset, offset + this.#target.length);
      this.#target.set(part);
      offset += part.length;
      this.received(part.length);
    }
  }

  /** True between frames: an end of the stream here loses nothing. */
  get isBetweenFrames(): boolean {
    return this.#body === undefined && this.#start === this.#end;
  }

  #aim(): void {
    if (this.#body) {
      this.#target = this.#body.bytes.subarray(this.#body.received);
      return;
    }
    if (this.#start === this.#end) {
      this.#buffer = this.#ordinary;
      this.#start = 0;
      this.#end = 0;
      this.#target = this.#ordinary;
      return;
    }
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    this.#target = this.#buffer.subarray(this.#end);
  }

  /** One frame, or the start of one with its binary part outstanding; false when more bytes are needed. */
  #parseOne(): boolean {
    const available = this.#end - this.#start;
    if (this.#body || available < prefixBytes) return false;
    const start = this.#start;
    if (this.#buffer.readUInt32LE(start) !== magicAndVersion)
      throw junk('it does not start with the magic number and version 1');
    const headerBytes = this.#buffer.readUInt32LE(start + 4);
    const segmentCount = this.#buffer.readUInt32LE(start + 8);
    if (this.#buffer.readUInt32LE(start + 12) !== 0) throw junk('its reserved field is not 0');
    if (segmentCount > mostSegments) throw junk(`it announces ${segmentCount} segments`);
    if (headerBytes > this.#limits.headerBytes || headerBytes % 8 !== 0)
      throw junk(`its header length is ${headerBytes}`);
    const headBytes = prefixBytes + 8 * segmentCount + headerBytes;
    if (available < headBytes) return this.#makeRoomFor(headBytes);
    const lengths = segmentCount === 0 ? undefined : this.#segmentLengths(segmentCount, headBytes);
    const text = this.#buffer.toString('utf8', start + headBytes - headerBytes, start + headBytes);
    const header = parseHeader(text);
    this.#start += headBytes;
    if (lengths) this.#startBody(header, lengths);
    else this.#onFrame({ header, mayHoldCells: holdsCells(text), segments: noSegments });
    return true;
  }

  #makeRoomFor(headBytes: number): false {
    if (headBytes > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(headBytes);
      this.#end = this.#buffer.copy(grown, 0, this.#start, this.#end);
      this.#start = 0;
      this.#buffer = grown;
    }
    return false;
  }

  #segmentLengths(count: number, headBytes: number): readonly number[] {
    const lengths: number[] = [];
    let total = headBytes;
    for (let index = 0; index < count; index++) {
      const at = this.#start + prefixBytes + 8 * index;
      const length = this.#buffer.readUInt32LE(at) + this.#buffer.readUInt32LE(at + 4) * 2 ** 32;
      total += padded(length);
      if (total > this.#limits.frameBytes) throw junk('it is longer than the limit');
      lengths.push(length);
    }
    return lengths;
  }

  #startBody(header: ParsedFrame['header'], lengths: readonly number[]): void {
    const byteLength = lengths.reduce((sum, length) => sum + padded(length), 0);
    const bytes = byteLength <= largestInSlab ? this.#partOfSlab(byteLength) : allocateReceived(byteLength);
    const arrived = this.#buffer.copy(bytes, 0, this.#start, Math.min(this.#end, this.#start + byteLength));
    this.#start += arrived;
    const body = { header, lengths, bytes, received: arrived };
    if (arrived === byteLength) this.#finishBody(body);
    else this.#body = body;
  }

  /** Never handed out twice; `byteLength` is a multiple of 8. */
  #partOfSlab(byteLength: number): Uint8Array {
    if (this.#slabUsed + byteLength > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(slabBytes);
      this.#slabUsed = 0;
    }
    const part = this.#slab.subarray(this.#slabUsed, this.#slabUsed + byteLength);
    this.#slabUsed += byteLength;
    return part;
  }

  #finishBody(body: OpenBody): void {
    this.#body = undefined;
    const { buffer, byteOffset } = body.bytes;
    let offset = byteOffset;
    const segments = body.lengths.map((length) => {
      const segment = new Uint8Array(buffer, offset, length);
      offset += padded(length);
      return segment;
    });
    this.#onFrame({ header: body.header, mayHoldCells: true, segments });
  }
}

function ignoreFrame(): void {}

/** A cell's key begins with a dollar sign, written as itself or as its escape. */
function holdsCells(text: string): boolean {
  return text.includes('$') || (text.includes('\\') && text.includes('\\u0024'));
}

function parseHeader(text: string): FrameHeader {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (error) {
    throw new StudioError('protocol_error', 'the header of a frame is not JSON', { cause: error });
  }
  if (typeof header !== 'object' || header === null) throw junk('its header is neither object nor list');
  return header as FrameHeader;
}

function junk(why: string): StudioError {
  return new StudioError(
    'protocol_error',
    `bytes on the connection are not a frame of the host protocol: ${why}`,
  );
}
