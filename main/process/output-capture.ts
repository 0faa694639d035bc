// What a child prints: always drained, kept as the last lines, cleaned of control characters. A flood costs no more
// than reading it: beyond a rate, chunks are dropped undecoded and counted, and only their end is kept.
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { Clock } from '../base/clock.ts';
import type { LogSink, OutputStream } from './ports.ts';

const keptLines = 200;
const longestLine = 4_000;
/** Decoded per second after the burst; a nodeset that logs more is not being read by anybody. */
const bytesPerSecond = 512 * 1024;
const burstBytes = 4 * 2 ** 20;
const keptEndBytes = 16 * 1024;

export interface CaptureOptions {
  readonly clock: Clock;
  readonly stream: OutputStream;
  readonly onLine: LogSink;
  /** Takes secrets out of a line. */
  readonly redact?: ((line: string) => string) | undefined;
}

export class OutputCapture {
  readonly #options: CaptureOptions;
  readonly #lines: string[] = [];
  #decoder = new TextDecoder();
  #partial = '';
  #allowanceBytes = burstBytes;
  #lastChunkMs: number;
  #droppedBytes = 0;
  #droppedEnd: Buffer | undefined;

  constructor(source: Readable, options: CaptureOptions) {
    this.#options = options;
    this.#lastChunkMs = options.clock.monotonic();
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.on('error', () => this.#finish());
    source.on('close', () => this.#finish());
  }

  /** Oldest first; includes a line that is not finished yet. */
  tail(count = keptLines): readonly string[] {
    this.#admitDropped();
    const lines = this.#partial === '' ? this.#lines : [...this.#lines, this.#clean(this.#partial)];
    return lines.slice(-Math.min(count, keptLines));
  }

  #take(chunk: Buffer): void {
    const nowMs = this.#options.clock.monotonic();
    this.#allowanceBytes = Math.min(
      burstBytes,
      this.#allowanceBytes + ((nowMs - this.#lastChunkMs) / 1000) * bytesPerSecond,
    );
    this.#lastChunkMs = nowMs;
    if (chunk.length > this.#allowanceBytes) return this.#drop(chunk);
    this.#admitDropped();
    this.#allowanceBytes -= chunk.length;
    this.#decode(chunk);
  }

  #drop(chunk: Buffer): void {
    this.#droppedBytes += chunk.length;
    const end =
      this.#droppedEnd && chunk.length < keptEndBytes ? Buffer.concat([this.#droppedEnd, chunk]) : chunk;
    this.#droppedEnd = Buffer.from(end.subarray(-keptEndBytes));
  }

  /** The end of what was dropped, after a line that says how much is missing. */
  #admitDropped(): void {
    const end = this.#droppedEnd;
    if (!end) return;
    const missingBytes = this.#droppedBytes - end.length;
    this.#droppedEnd = undefined;
    this.#droppedBytes = 0;
    this.#flushPartial();
    this.#decoder = new TextDecoder();
    if (missingBytes > 0) this.#push(`[${missingBytes} bytes of output left out]`);
    this.#decode(missingBytes > 0 ? end.subarray(end.indexOf(10) + 1) : end);
  }

  #decode(chunk: Buffer): void {
    const pieces = (this.#partial + this.#decoder.decode(chunk, { stream: true })).split(/\r\n|[\n\r]/);
    this.#partial = (pieces.pop() ?? '').slice(0, longestLine * 2);
    for (const piece of pieces) this.#push(piece);
  }

  #flushPartial(): void {
    if (this.#partial !== '') this.#push(this.#partial);
    this.#partial = '';
  }

  #push(line: string): void {
    const cleaned = this.#clean(line);
    if (this.#lines.push(cleaned) > keptLines * 2) this.#lines.splice(0, keptLines);
    this.#options.onLine(cleaned, this.#options.stream);
  }

  /** Escape sequences, control characters (tabs stay) and secrets removed, length bounded. */
  #clean(line: string): string {
    const plain = stripVTControlCharacters(line).replace(controlCharacters, '');
    const text = this.#options.redact?.(plain) ?? plain;
    return text.length > longestLine ? `${text.slice(0, longestLine)} …` : text;
  }

  #finish(): void {
    this.#admitDropped();
    this.#partial += this.#decoder.decode();
    this.#flushPartial();
  }
}

const controlCharacters = /[^\P{Cc}\t]/gu;
