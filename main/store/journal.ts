// The append-only journal. An append resolves only when its line is on the device; concurrent appends share one
// write and one fsync. A failed commit is cut off again before anything else is written, so a rejected line is never
// in the file twice. Opening drops a torn tail (kept beside the file) and reports every bad line.
import { messageOf, StudioError } from '../base/errors.ts';
import { silentLogger, type Logger } from '../base/logger.ts';
import { atomicWrite } from './atomic-write.ts';
import { decodeLine, encodeLine, readLines, type RawLine } from './journal-lines.ts';
import type { FileHandlePort, FileSystemPort, JournalReport } from './ports.ts';
import { toStorageError } from './storage-error.ts';

/** A sound line was read; return why it is refused all the same, or nothing. */
export type LineVisitor = (value: unknown) => string | undefined;

export interface JournalScan extends Omit<JournalReport, 'surplusFinals'> {
  /** Up to here the file is whole lines. */
  readonly wholeBytes: number;
  /** The last line is sound but lacks its newline. */
  readonly needsNewline: boolean;
}

/** Reads all lines in order. `not_found` when the file is absent. */
export async function scanJournal(
  fileSystem: FileSystemPort,
  path: string,
  visit: LineVisitor,
): Promise<JournalScan> {
  const handle = await openFile(fileSystem, path, 'read');
  try {
    return await scanHandle(handle, visit);
  } catch (error) {
    throw toStorageError(error, `read ${path}`);
  } finally {
    await handle.close();
  }
}

async function scanHandle(handle: FileHandlePort, visit: LineVisitor): Promise<JournalScan> {
  const corruptLines: { line: number; reason: string }[] = [];
  let lines = 0;
  let wholeBytes = 0;
  let tornBytes = 0;
  let needsNewline = false;
  const take = (raw: RawLine): void => {
    const decoded = decodeLine(raw.text);
    if (!raw.terminated && !decoded.ok) {
      tornBytes = raw.endByte - wholeBytes;
      return;
    }
    needsNewline = !raw.terminated;
    wholeBytes = raw.endByte;
    lines++;
    const refused = decoded.ok ? visit(decoded.value) : decoded.reason;
    if (refused !== undefined) corruptLines.push({ line: raw.number, reason: refused });
  };
  for await (const batch of readLines(handle)) batch.forEach(take);
  return { lines, tornBytes, corruptLines, wholeBytes, needsNewline };
}

export interface JournalEntry {
  readonly value: unknown;
  /** Position after the line: where to go on reading. */
  readonly endByte: number;
}

/** Sound whole lines only, for readers that have no use for the others. */
export async function* readJournal(
  fileSystem: FileSystemPort,
  path: string,
  fromByte = 0,
): AsyncGenerator<JournalEntry> {
  const handle = await openFile(fileSystem, path, 'read');
  try {
    for await (const batch of readLines(handle, fromByte)) {
      for (const { text, endByte } of batch) {
        const decoded = decodeLine(text);
        if (decoded.ok) yield { value: decoded.value, endByte };
      }
    }
  } finally {
    await handle.close();
  }
}

interface Waiting {
  readonly bytes: Uint8Array;
  readonly resolve: () => void;
  readonly reject: (error: StudioError) => void;
}

export interface JournalOptions {
  readonly fileSystem: FileSystemPort;
  readonly path: string;
  readonly logger?: Logger;
}

export class Journal implements AsyncDisposable {
  readonly #fileSystem: FileSystemPort;
  readonly #path: string;
  #handle: FileHandlePort;
  #durableBytes: number;
  readonly #waiting: Waiting[] = [];
  #commits = 0;
  /** `repair`: the end of the file is unknown since a commit failed. */
  #state: 'ready' | 'repair' | 'closed' = 'ready';
  #pump: Promise<void> | undefined;

  private constructor(options: JournalOptions, handle: FileHandlePort, durableBytes: number) {
    this.#fileSystem = options.fileSystem;
    this.#path = options.path;
    this.#handle = handle;
    this.#durableBytes = durableBytes;
  }

  /** Scans, drops a torn tail and is ready to append. The file must exist. */
  static async open(
    options: JournalOptions,
    visit: LineVisitor,
  ): Promise<{ journal: Journal; scan: JournalScan }> {
    const { fileSystem, path, logger = silentLogger } = options;
    const scan = await scanJournal(fileSystem, path, visit);
    let handle = await openFile(fileSystem, path, 'append');
    try {
      if (scan.tornBytes > 0) await dropTail(options, handle, scan, logger);
      if (scan.needsNewline) await handle.write(Buffer.from('\n'));
      const hasContent = scan.wholeBytes + scan.tornBytes > 0;
      const reason = hasContent ? await whyUnsynced(handle) : undefined;
      if (reason !== undefined) {
        logger.warn('a journal could not be synced and is written anew', { path, reason });
        handle = await replacedByCopy(options, handle);
      }
    } catch (error) {
      await handle.close();
      throw toStorageError(error, `repair ${path}`);
    }
    const durableBytes = scan.wholeBytes + (scan.needsNewline ? 1 : 0);
    return { journal: new Journal(options, handle, durableBytes), scan };
  }

  /** Bytes that are on the device. */
  get durableBytes(): number {
    return this.#durableBytes;
  }

  /** Writes and fsyncs so far; fewer than appends when they were shared. */
  get commits(): number {
    return this.#commits;
  }

  /** Resolves when durable. Rejects with `disk_full` or `io_failed`; the line is then not in the file. */
  append(value: object): Promise<void> {
    if (this.#state === 'closed') return Promise.reject(new StudioError('internal', 'the journal is closed'));
    const bytes = Buffer.from(encodeLine(value));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, resolve, reject });
      this.#pump ??= this.#commitAll();
    });
  }

  async #commitAll(): Promise<void> {
    // Appends of the same turn are gathered before the first write.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0);
      try {
        if (this.#state === 'repair') await this.#repair();
        await this.#commit(Buffer.concat(group.map(({ bytes }) => bytes)));
        for (const { resolve } of group) resolve();
      } catch (error) {
        const refusal = toStorageError(error, `append to ${this.#path}`);
        await this.#repairNow();
        for (const { reject } of group) reject(refusal);
      }
    }
    // In the same turn as the last look at the queue: whoever was just resolved may append at once.
    this.#pump = undefined;
  }

  async #commit(bytes: Uint8Array): Promise<void> {
    this.#state = 'repair';
    await this.#handle.write(bytes);
    await this.#handle.sync();
    this.#durableBytes += bytes.length;
    this.#commits++;
    this.#state = 'ready';
  }

  /** At once, so that a crash after the refusal does not find the line; what fails here is tried before the next commit. */
  async #repairNow(): Promise<void> {
    try {
      await this.#repair();
    } catch {
      this.#state = 'repair';
    }
  }

  /**
   * After a failed fsync the kernel may have dropped the pages: a new handle, cut back to what is known to be there.
   * The old handle cuts first, because a new one may not be had right now.
   */
  async #repair(): Promise<void> {
    await this.#handle.truncate(this.#durableBytes).catch(() => undefined);
    await this.#handle.close().catch(() => undefined);
    this.#handle = await this.#fileSystem.open(this.#path, 'append');
    await this.#handle.truncate(this.#durableBytes);
    await this.#handle.sync();
    this.#state = 'ready';
  }

  /** Waits for what was appended; later appends are refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state === 'closed') return;
    while (this.#pump) await this.#pump;
    this.#state = 'closed';
    await this.#handle.close();
  }
}

async function openFile(
  fileSystem: FileSystemPort,
  path: string,
  mode: 'read' | 'append',
): Promise<FileHandlePort> {
  try {
    return await fileSystem.open(path, mode);
  } catch (error) {
    throw toStorageError(error, `open ${path}`);
  }
}

/** Whoever wrote a line may have died before its sync: it counts once it is on the device. */
async function whyUnsynced(handle: FileHandlePort): Promise<string | undefined> {
  try {
    await handle.sync();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** After a failed sync the system may show what the device never gets: everything is written anew, beside it. */
async function replacedByCopy(
  { fileSystem, path }: JournalOptions,
  old: FileHandlePort,
): Promise<FileHandlePort> {
  await atomicWrite(fileSystem, path, await fileSystem.readFile(path));
  const handle = await openFile(fileSystem, path, 'append');
  await old.close();
  return handle;
}

async function dropTail(
  options: JournalOptions,
  handle: FileHandlePort,
  scan: JournalScan,
  logger: Logger,
): Promise<void> {
  const { fileSystem, path } = options;
  const tail = Buffer.alloc(scan.tornBytes);
  const length = await handle.read(tail, scan.wholeBytes);
  try {
    const aside = await fileSystem.open(`${path}.torn`, 'append');
    await aside.write(Buffer.concat([tail.subarray(0, length), Buffer.from('\n')]));
    await aside.close();
  } catch (error) {
    // The tail was never acknowledged: keeping it is a courtesy and must not stop a resume on a full disk.
    logger.warn('torn tail could not be kept aside', { path, bytes: length, reason: messageOf(error) });
  }
  await handle.truncate(scan.wholeBytes);
  logger.warn('dropped an unfinished line at the end of a journal', { path, bytes: length });
}
