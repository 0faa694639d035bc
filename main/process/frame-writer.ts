// Hot path (frame.bench.ts). Frames to bytes. One send buffer is reused as long as the system takes a frame whole; large segments are
// written from where they lie.
import { StudioError } from '../base/errors.ts';
import { frameLimits, magicAndVersion, mostSegments, padded, prefixBytes } from './frame-format.ts';

/** The part of a socket that writing needs. */
export interface ByteSink {
  write(bytes: Uint8Array): boolean;
  cork(): void;
  uncork(): void;
  /** Bytes taken but not yet given to the system. */
  readonly writableLength: number;
}

const sendBufferBytes = 64 * 1024;
/** Segments below this in sum are copied beside the header: one write of one piece is then cheaper. */
const copiedSegmentBytes = 32 * 1024;
const zeros = new Uint8Array(8);

export class FrameWriter {
  readonly #sink: ByteSink;
  #sendBuffer = Buffer.allocUnsafeSlow(sendBufferBytes);
  #gathers = false;
  /** Bytes of the send buffer that wait to be sent. */
  #gatheredBytes = 0;
  readonly #flush = (): void => this.flush();

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** From now on what is written in one turn leaves in one piece: it wakes the other side once. */
  gather(): void {
    this.#gathers = true;
  }

  /** Throws `invalid_input` for a frame beyond the limits; nothing is then written. */
  write(headerText: string, segments: readonly Uint8Array[]): void {
    const segmentBytes = segments.length === 0 ? 0 : paddedSum(segments);
    const headStart = prefixBytes + 8 * segments.length;
    const copied = segmentBytes < copiedSegmentBytes;
    const mostBytes = headStart + 8 + 3 * headerText.length + segmentBytes;
    if (this.#gathers && copied && mostBytes <= sendBufferBytes)
      return this.#gatherFrame(mostBytes, headerText, segments);
    this.flush();
    const buffer = this.#bufferFor(headStart, headerText, copied ? segmentBytes : 0);
    const headEnd = writeHead(buffer, headerText, segments);
    checkLimits(headEnd - headStart, headEnd + segmentBytes, segments.length);
    if (copied) this.#sink.write(buffer.subarray(0, copySegments(buffer, headEnd, segments)));
    else this.#writePieces(buffer.subarray(0, headEnd), segments);
    if (buffer === this.#sendBuffer) this.#renewTakenBuffer();
  }

  /** Sends what was gathered. */
  flush(): void {
    const byteCount = this.#gatheredBytes;
    if (byteCount === 0) return;
    this.#gatheredBytes = 0;
    this.#sink.write(this.#sendBuffer.subarray(0, byteCount));
    this.#renewTakenBuffer();
  }

  #gatherFrame(mostBytes: number, headerText: string, segments: readonly Uint8Array[]): void {
    if (this.#gatheredBytes + mostBytes > sendBufferBytes) this.flush();
    const from = this.#gatheredBytes;
    const buffer = from === 0 ? this.#sendBuffer : this.#sendBuffer.subarray(from);
    // Runs once every promise that this turn has settled was continued: they are the ones that call.
    if (from === 0) process.nextTick(this.#flush);
    this.#gatheredBytes += copySegments(buffer, writeHead(buffer, headerText, segments), segments);
  }

  #renewTakenBuffer(): void {
    if (this.#sink.writableLength > 0) this.#sendBuffer = Buffer.allocUnsafeSlow(sendBufferBytes);
  }

  #bufferFor(headStart: number, headerText: string, copiedBytes: number): Buffer {
    const fixedBytes = headStart + copiedBytes + 8;
    if (fixedBytes + 3 * headerText.length <= sendBufferBytes) return this.#sendBuffer;
    return Buffer.allocUnsafeSlow(fixedBytes + Buffer.byteLength(headerText));
  }

  #writePieces(head: Uint8Array, segments: readonly Uint8Array[]): void {
    this.#sink.cork();
    this.#sink.write(head);
    for (const segment of segments) {
      this.#sink.write(segment);
      const gap = padded(segment.length) - segment.length;
      if (gap > 0) this.#sink.write(zeros.subarray(0, gap));
    }
    this.#sink.uncork();
  }
}

function paddedSum(segments: readonly Uint8Array[]): number {
  let sum = 0;
  for (const segment of segments) sum += padded(segment.length);
  return sum;
}

/** Prefix, lengths and header; returns where the header ends. */
function writeHead(buffer: Buffer, headerText: string, segments: readonly Uint8Array[]): number {
  const headStart = prefixBytes + 8 * segments.length;
  const textEnd = headStart + buffer.write(headerText, headStart, 'utf8');
  const headEnd = padded(textEnd);
  for (let index = textEnd; index < headEnd; index++) buffer[index] = 0x20;
  buffer.writeUInt32LE(magicAndVersion, 0);
  buffer.writeUInt32LE(headEnd - headStart, 4);
  buffer.writeUInt32LE(segments.length, 8);
  buffer.writeUInt32LE(0, 12);
  let at = prefixBytes;
  for (const segment of segments) {
    buffer.writeUInt32LE(segment.length % 2 ** 32, at);
    buffer.writeUInt32LE(Math.floor(segment.length / 2 ** 32), at + 4);
    at += 8;
  }
  return headEnd;
}

function copySegments(buffer: Buffer, from: number, segments: readonly Uint8Array[]): number {
  let at = from;
  for (const segment of segments) {
    buffer.set(segment, at);
    buffer.fill(0, at + segment.length, at + padded(segment.length));
    at += padded(segment.length);
  }
  return at;
}

function checkLimits(headerBytes: number, frameBytes: number, segmentCount: number): void {
  if (
    headerBytes <= frameLimits.headerBytes &&
    frameBytes <= frameLimits.frameBytes &&
    segmentCount <= mostSegments
  )
    return;
  throw new StudioError(
    'invalid_input',
    `a value of ${frameBytes} bytes in ${segmentCount} arrays is too large for one message (64 MiB of text, 1 GiB in all); send it in parts`,
  );
}
