// Lines of a log by number or by step, through its index. Holds one block of the index and no lines.
import { join } from 'node:path';
import { recordBytes, type LogIndexState, type LogPlace } from './log-index.ts';
import type { FileHandlePort, FileSystemPort } from './ports.ts';
import { recordingFiles } from './recording-format.ts';

const blockRecords = 4096;
/** A longer line is not read: it is none of ours and would only fill the memory. */
const longestLineBytes = 16 * 2 ** 20;
/** Lines are read together up to this much. */
const longestReadBytes = 8 * 2 ** 20;

export interface LogReaderOptions {
  readonly logPath: string;
  readonly indexFolder: string;
  readonly state: LogIndexState;
}

export class LogReader implements AsyncDisposable {
  readonly #state: LogIndexState;
  readonly #log: FileHandlePort;
  readonly #index: FileHandlePort;
  #block: Buffer = Buffer.alloc(0);
  #blockAt = -1;

  private constructor(state: LogIndexState, log: FileHandlePort, index: FileHandlePort) {
    this.#state = state;
    this.#log = log;
    this.#index = index;
  }

  static async open(fileSystem: FileSystemPort, options: LogReaderOptions): Promise<LogReader> {
    const log = await fileSystem.open(options.logPath, 'read');
    try {
      const index = await fileSystem.open(join(options.indexFolder, recordingFiles.index), 'read');
      return new LogReader(options.state, log, index);
    } catch (error) {
      await log.close();
      throw error;
    }
  }

  get lines(): number {
    return this.#state.lines;
  }

  async place(line: number): Promise<LogPlace> {
    const blockAt = Math.floor(line / blockRecords);
    if (blockAt !== this.#blockAt) {
      const block = Buffer.alloc(blockRecords * recordBytes);
      const length = await this.#index.read(block, blockAt * block.length);
      this.#block = block.subarray(0, length);
      this.#blockAt = blockAt;
    }
    const at = (line % blockRecords) * recordBytes;
    return {
      offset: this.#block.readDoubleLE(at),
      step: this.#block.readUInt32LE(at + 8),
      node: this.#block.readUInt16LE(at + 12),
      flags: this.#block.readUInt16LE(at + 14),
    };
  }

  /** The first line whose step is at least `step`; the number of lines when there is none. */
  async firstLineOf(step: number): Promise<number> {
    let low = 0;
    let high = this.#state.lines;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((await this.place(middle)).step < step) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Parsed JSON of lines [from, to); undefined for one that cannot be read. */
  async *values(from: number, to: number): AsyncGenerator<{ line: number; value: unknown }> {
    const end = Math.min(to, this.#state.lines);
    for (let line = from; line < end;) {
      const { offset } = await this.place(line);
      let last = line;
      let until = await this.#endOf(line);
      while (last + 1 < end) {
        const next = await this.#endOf(last + 1);
        if (next - offset > longestReadBytes) break;
        until = next;
        last++;
      }
      yield* this.#parse(line, last, until - offset);
      line = last + 1;
    }
  }

  async *#parse(
    first: number,
    last: number,
    bytes: number,
  ): AsyncGenerator<{ line: number; value: unknown }> {
    const { offset } = await this.place(first);
    if (bytes > longestLineBytes) {
      for (let line = first; line <= last; line++) yield { line, value: undefined };
      return;
    }
    const buffer = Buffer.allocUnsafe(bytes);
    const length = await this.#log.read(buffer, offset);
    for (let line = first; line <= last; line++) {
      const start = (await this.place(line)).offset - offset;
      const end = Math.min((await this.#endOf(line)) - offset, length);
      yield { line, value: parsed(buffer.toString('utf8', start, end)) };
    }
  }

  async #endOf(line: number): Promise<number> {
    return line + 1 < this.#state.lines ? (await this.place(line + 1)).offset : this.#state.indexedBytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#log.close(), this.#index.close()]);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
