// The bounded scratch of one recording: bytes are gathered in memory and appended to files in the background. Never
// waits and never throws while the episode runs: what does not fit is counted out, a failing disk is remembered.
import { join } from 'node:path';
import { toStudioError } from '../base/errors.ts';
import type { FileHandlePort, FileSystemPort } from '../store/ports.ts';

export interface ScratchLimits {
  /** Of one file; what comes after is left out. */
  readonly fileBytes: number;
  /** Not yet on disk; beyond it bytes are left out, because the disk is slower than the episode. */
  readonly waitingBytes: number;
  /** Of one file, in memory before it is written: most episodes that are dropped never touch the disk. */
  readonly gatherBytes: number;
}

/** What all workers of a run hold in memory together. */
const memoryBytes = 64 * 2 ** 20;

export function scratchLimits(workerCount: number): ScratchLimits {
  const gatherBytes = Math.max(256 * 2 ** 10, Math.min(24 * 2 ** 20, Math.floor(memoryBytes / workerCount)));
  return { fileBytes: 512 * 2 ** 20, waitingBytes: memoryBytes, gatherBytes };
}

export interface ScratchOptions {
  readonly fileSystem: FileSystemPort;
  readonly folder: string;
  readonly limits: ScratchLimits;
  /** Nothing is written before; must not reject. */
  readonly ready?: Promise<void>;
  /** Shared by the recordings of a run. */
  readonly blocks?: BlockPool;
}

const blockBytes = 256 * 2 ** 10;

/**
 * Memory that is used again by the next episode. Fresh memory is dear: the system clears each page when it is first
 * written, which on virtual machines costs many times the copying itself.
 */
export class BlockPool {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  give(blocks: readonly Block[]): void {
    for (const { bytes } of blocks) if (this.#free.length * blockBytes < memoryBytes) this.#free.push(bytes);
  }
}

interface Block {
  readonly bytes: Buffer;
  used: number;
}

interface ScratchFile {
  readonly name: string;
  /** Not yet written; the last one is being filled. */
  blocks: Block[];
  gathered: number;
  /** Bytes accepted so far: where the next ones begin. */
  length: number;
  handle: FileHandlePort | undefined;
}

export class RecordingScratch {
  readonly folder: string;
  readonly #fileSystem: FileSystemPort;
  readonly #limits: ScratchLimits;
  readonly #files = new Map<string, ScratchFile>();
  #writing: Promise<void>;
  readonly #blocks: BlockPool;
  #waiting = 0;
  #isOpen = false;
  #failure: Error | undefined;
  #isCut = false;

  constructor(options: ScratchOptions) {
    this.#fileSystem = options.fileSystem;
    this.folder = options.folder;
    this.#limits = options.limits;
    this.#writing = options.ready ?? Promise.resolve();
    this.#blocks = options.blocks ?? new BlockPool();
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Bytes accepted, in all files. */
  get bytes(): number {
    return [...this.#files.values()].reduce((sum, file) => sum + file.length, 0);
  }

  /** Copies the bytes; answers where they begin in the file, null when they are left out. */
  append(name: string, bytes: Uint8Array): number | null {
    const file = this.#accepting(name, bytes.length);
    if (!file) return null;
    for (let from = 0; from < bytes.length;) {
      const block = this.#roomIn(file, 1);
      const part = bytes.subarray(from, from + block.bytes.length - block.used);
      block.bytes.set(part, block.used);
      block.used += part.length;
      from += part.length;
    }
    return this.#accepted(file, bytes.length);
  }

  /** The same for text. */
  appendText(name: string, text: string): number | null {
    const mostBytes = text.length * 3;
    if (mostBytes > blockBytes) return this.append(name, Buffer.from(text));
    const file = this.#accepting(name, mostBytes);
    if (!file) return null;
    const block = this.#roomIn(file, mostBytes);
    const length = block.bytes.write(text, block.used);
    block.used += length;
    return this.#accepted(file, length);
  }

  #accepting(name: string, length: number): ScratchFile | null {
    if (this.#failure !== undefined) return null;
    const file = this.#fileNamed(name);
    const { fileBytes, waitingBytes } = this.#limits;
    if (file.length + length <= fileBytes && this.#waiting + length <= waitingBytes) return file;
    this.#isCut = true;
    return null;
  }

  #roomIn(file: ScratchFile, length: number): Block {
    const last = file.blocks.at(-1);
    if (last && last.used + length <= last.bytes.length) return last;
    const block = { bytes: this.#blocks.take(), used: 0 };
    file.blocks.push(block);
    return block;
  }

  #accepted(file: ScratchFile, length: number): number {
    const at = file.length;
    file.gathered += length;
    file.length += length;
    this.#waiting += length;
    if (file.gathered >= this.#limits.gatherBytes) this.#write(file);
    return at;
  }

  /** Everything accepted is with the system, and files are closed. Throws what went wrong at any time. */
  async flush(): Promise<void> {
    for (const file of this.#files.values()) this.#write(file);
    await this.#writing;
    await this.#close();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Leaves nothing behind. */
  async discard(): Promise<void> {
    for (const file of this.#files.values()) this.#blocks.give(takeBlocks(file));
    await this.#writing;
    await this.#close();
    if (this.#isOpen) await this.#fileSystem.removeFolder(this.folder);
  }

  #fileNamed(name: string): ScratchFile {
    const known = this.#files.get(name);
    if (known) return known;
    const file = { name, blocks: [], gathered: 0, length: 0, handle: undefined };
    this.#files.set(name, file);
    return file;
  }

  #write(file: ScratchFile): void {
    if (file.gathered === 0) return;
    const { gathered } = file;
    const blocks = takeBlocks(file);
    this.#writing = this.#writing.then(async () => {
      try {
        for (const { bytes, used } of blocks)
          if (this.#failure === undefined) await this.#append(file, bytes.subarray(0, used));
      } catch (error) {
        this.#failure ??= toStudioError(error, 'io_failed');
      } finally {
        this.#waiting -= gathered;
        this.#blocks.give(blocks);
      }
    });
  }

  async #append(file: ScratchFile, bytes: Uint8Array): Promise<void> {
    if (!this.#isOpen) {
      this.#isOpen = true;
      await this.#fileSystem.makeFolder(this.folder);
    }
    file.handle ??= await this.#fileSystem.open(join(this.folder, file.name), 'append');
    await file.handle.write(bytes);
  }

  async #close(): Promise<void> {
    for (const file of this.#files.values()) {
      const { handle } = file;
      file.handle = undefined;
      await handle?.close().catch((error: unknown) => {
        this.#failure ??= toStudioError(error, 'io_failed');
      });
    }
  }
}

function takeBlocks(file: ScratchFile): readonly Block[] {
  const { blocks } = file;
  file.blocks = [];
  file.gathered = 0;
  return blocks;
}
