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
}

interface ScratchFile {
  readonly name: string;
  /** Filled, not yet written. */
  blocks: Buffer[];
  block: Buffer;
  used: number;
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
  #waiting = 0;
  #isOpen = false;
  #failure: Error | undefined;
  #isCut = false;

  constructor(options: ScratchOptions) {
    this.#fileSystem = options.fileSystem;
    this.folder = options.folder;
    this.#limits = options.limits;
    this.#writing = options.ready ?? Promise.resolve();
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
    if (this.#failure !== undefined) return null;
    const file = this.#fileNamed(name);
    const isTooMuch =
      file.length + bytes.length > this.#limits.fileBytes ||
      this.#waiting + bytes.length > this.#limits.waitingBytes;
    if (isTooMuch) {
      this.#isCut = true;
      return null;
    }
    const at = file.length;
    if (file.used + bytes.length > file.block.length) nextBlock(file, bytes.length);
    file.block.set(bytes, file.used);
    file.used += bytes.length;
    file.gathered += bytes.length;
    file.length += bytes.length;
    this.#waiting += bytes.length;
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
    for (const file of this.#files.values()) empty(file);
    await this.#writing;
    await this.#close();
    if (this.#isOpen) await this.#fileSystem.removeFolder(this.folder);
  }

  #fileNamed(name: string): ScratchFile {
    const known = this.#files.get(name);
    if (known) return known;
    const file = { name, blocks: [], block: noBlock, used: 0, gathered: 0, length: 0, handle: undefined };
    this.#files.set(name, file);
    return file;
  }

  #write(file: ScratchFile): void {
    if (file.gathered === 0) return;
    const blocks = [...file.blocks, file.block.subarray(0, file.used)];
    const gathered = file.gathered;
    empty(file);
    this.#writing = this.#writing.then(async () => {
      try {
        for (const block of blocks) if (this.#failure === undefined) await this.#append(file, block);
      } catch (error) {
        this.#failure ??= toStudioError(error, 'io_failed');
      } finally {
        this.#waiting -= gathered;
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

const blockBytes = 512 * 2 ** 10;
const noBlock = Buffer.alloc(0);

function nextBlock(file: ScratchFile, neededBytes: number): void {
  if (file.used > 0) file.blocks.push(file.block.subarray(0, file.used));
  // The first one is small: most logs are.
  const size = file.block.length === 0 ? blockBytes / 8 : blockBytes;
  file.block = Buffer.allocUnsafeSlow(Math.max(size, neededBytes));
  file.used = 0;
}

function empty(file: ScratchFile): void {
  file.blocks = [];
  file.block = noBlock;
  file.used = 0;
  file.gathered = 0;
}
