// A disk in memory that forgets what was not forced to it: file contents until `sync`, folder entries until
// `syncFolder`. A power failure keeps any part of what was on its way, torn or with rubbish in its last bytes.
import type { Random } from '../../base/random.ts';
import type { FileHandlePort, FileStat, FileSystemPort, FolderEntry, OpenMode } from '../ports.ts';

export type DiskOperation =
  | 'open'
  | 'read'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'close'
  | 'readFile'
  | 'rename'
  | 'removeFile'
  | 'removeFolder'
  | 'makeFolder'
  | 'listFolder'
  | 'stat'
  | 'syncFolder'
  | 'freeBytes';

/**
 * Carries out an operation, when and if it likes. `share` < 1 writes only the first part; of a sync it means that it
 * failed, and then the device never gets what was on its way, as Linux does it.
 */
export type DiskGate = <T>(
  operation: DiskOperation,
  path: string,
  perform: (share?: number) => T,
) => Promise<T>;

interface FileNode {
  readonly kind: 'file';
  content: Buffer;
  length: number;
  durable: Buffer;
  isDirty: boolean;
  /** Bytes that a failed sync dropped: memory shows them, the device never will. */
  dropped: { readonly from: number; readonly to: number } | undefined;
  modifiedMs: number;
}

interface FolderNode {
  readonly kind: 'folder';
  entries: Map<string, Node>;
  durable: Map<string, Node>;
  /** Changes since the last sync, in order. */
  pending: { readonly name: string; readonly node: Node | undefined }[];
}

type Node = FileNode | FolderNode;

export interface MemoryDiskOptions {
  readonly now: () => number;
  /** A file's content has just been forced to the device. */
  readonly onSync?: (path: string, durable: Buffer) => void;
}

export class MemoryDisk {
  readonly #options: MemoryDiskOptions;
  #root: FolderNode = newFolder();
  freeBytes = 1e12;

  constructor(options: MemoryDiskOptions) {
    this.#options = options;
  }

  port(gate: DiskGate): FileSystemPort {
    return {
      open: (path, mode) => gate('open', path, () => this.#handle(path, this.#open(path, mode), gate)),
      readFile: (path) => gate('readFile', path, () => contentOf(this.#file(path))),
      rename: (from, to) => gate('rename', to, () => this.#rename(from, to)),
      removeFile: (path) => gate('removeFile', path, () => this.#remove(path)),
      removeFolder: (path) => gate('removeFolder', path, () => this.#remove(path)),
      makeFolder: (path) => gate('makeFolder', path, () => void this.#makeFolder(path)),
      listFolder: (path) => gate('listFolder', path, () => this.#list(path)),
      stat: (path) => gate('stat', path, () => this.#stat(path)),
      realPath: (path) => Promise.resolve(path),
      syncFolder: (path) => gate('syncFolder', path, () => this.#syncFolder(path)),
      freeBytes: (path) => gate('freeBytes', path, () => this.freeBytes),
    };
  }

  /** A folder that was there long before. */
  addFolder(path: string): void {
    this.#makeFolder(path);
    for (let folder = path; folder !== ''; folder = folder.slice(0, folder.lastIndexOf('/')))
      this.#syncFolder(folder.slice(0, folder.lastIndexOf('/')));
  }

  /** What a start after a power failure finds. */
  losePower(random: Random): void {
    this.#root = this.#afterPowerLoss(this.#root, random, new Map());
  }

  /**
   * The engine was killed, the machine goes on: what is in memory gets to the device some day. Not modelled: that a
   * failed sync had dropped it just before.
   */
  outliveEngine(folder: FolderNode = this.#root): void {
    for (const node of folder.entries.values()) {
      if (node.kind === 'folder') this.outliveEngine(node);
      else if (node.dropped) {
        node.dropped = undefined;
        node.isDirty = true;
      }
    }
  }

  /** A file as it is now, synced or not. */
  read(path: string): Buffer | undefined {
    const node = this.#find(path);
    return node?.kind === 'file' ? contentOf(node) : undefined;
  }

  create(path: string, content: Uint8Array): void {
    this.#open(path, 'create');
    this.overwrite(path, content);
  }

  /** Behind the back of whoever has it open. */
  overwrite(path: string, content: Uint8Array): void {
    const file = this.#file(path);
    file.length = 0;
    append(file, content);
    file.durable = Buffer.from(content);
  }

  names(path: string): string[] {
    const node = this.#find(path);
    return node?.kind === 'folder' ? [...node.entries.keys()] : [];
  }

  #afterPowerLoss(folder: FolderNode, random: Random, seen: Map<Node, Node>): FolderNode {
    const entries = new Map(folder.durable);
    for (const { name, node } of folder.pending.slice(0, random.integer(folder.pending.length + 1))) {
      if (node) entries.set(name, node);
      else entries.delete(name);
    }
    const survivors = new Map<string, Node>();
    for (const [name, node] of entries) {
      const known = seen.get(node);
      const survivor =
        known ??
        (node.kind === 'folder'
          ? this.#afterPowerLoss(node, random, seen)
          : fileAfterPowerLoss(node, random));
      seen.set(node, survivor);
      survivors.set(name, survivor);
    }
    return { kind: 'folder', entries: survivors, durable: new Map(survivors), pending: [] };
  }

  #handle(path: string, file: FileNode, gate: DiskGate): FileHandlePort {
    return {
      write: (bytes) =>
        gate('write', path, (share = 1) => {
          append(file, bytes.subarray(0, Math.floor(bytes.length * share)));
          file.modifiedMs = this.#options.now();
        }),
      read: (target, position) =>
        gate('read', path, () => {
          const part = file.content.subarray(position, Math.min(file.length, position + target.length));
          target.set(part);
          return part.length;
        }),
      truncate: (bytes) =>
        gate('truncate', path, () => {
          if (bytes < file.length) {
            file.length = bytes;
            file.isDirty = true;
            if (file.dropped && bytes <= file.dropped.from) file.dropped = undefined;
          }
          file.modifiedMs = this.#options.now();
        }),
      sync: () =>
        gate('sync', path, (share = 1) => {
          if (share < 1 && file.isDirty) file.dropped ??= { from: file.durable.length, to: file.length };
          file.isDirty = share < 1 ? false : file.isDirty;
          if (share < 1) return;
          file.durable = Buffer.from(contentOf(file));
          if (file.dropped) file.durable.fill(0, file.dropped.from, file.dropped.to);
          file.isDirty = false;
          this.#options.onSync?.(path, file.durable);
        }),
      size: () => Promise.resolve(file.length),
      close: () => gate('close', path, () => undefined),
    };
  }

  #open(path: string, mode: OpenMode): FileNode {
    const found = this.#find(path);
    if (found && mode === 'create') throw systemError('EEXIST', path);
    if (found?.kind === 'folder') throw systemError('EISDIR', path);
    if (found) return found;
    if (mode === 'read') throw systemError('ENOENT', path);
    const file: FileNode = {
      kind: 'file',
      content: Buffer.alloc(256),
      length: 0,
      durable: Buffer.alloc(0),
      isDirty: false,
      dropped: undefined,
      modifiedMs: this.#options.now(),
    };
    this.#link(path, file);
    return file;
  }

  #rename(from: string, to: string): void {
    const node = this.#find(from);
    if (!node) throw systemError('ENOENT', from);
    const target = this.#find(to);
    if (target?.kind === 'folder' && target.entries.size > 0) throw systemError('ENOTEMPTY', to);
    this.#unlink(from);
    this.#link(to, node);
  }

  #remove(path: string): void {
    if (this.#find(path)) this.#unlink(path);
  }

  #makeFolder(path: string): FolderNode {
    let folder = this.#root;
    for (const name of partsOf(path)) {
      let next = folder.entries.get(name);
      if (!next) {
        next = newFolder();
        change(folder, name, next);
      }
      if (next.kind === 'file') throw systemError('EEXIST', path);
      folder = next;
    }
    return folder;
  }

  #list(path: string): FolderEntry[] {
    const node = this.#find(path);
    if (node?.kind !== 'folder') return [];
    return [...node.entries].map(([name, { kind }]) => ({ name, isFolder: kind === 'folder' }));
  }

  #stat(path: string): FileStat | undefined {
    const node = this.#find(path);
    if (!node) return undefined;
    return node.kind === 'folder'
      ? { bytes: 0, modifiedMs: 0, isFolder: true, isFile: false }
      : { bytes: node.length, modifiedMs: node.modifiedMs, isFolder: false, isFile: true };
  }

  #syncFolder(path: string): void {
    const node = this.#find(path);
    if (node?.kind !== 'folder') throw systemError('ENOENT', path);
    node.durable = new Map(node.entries);
    node.pending = [];
  }

  #file(path: string): FileNode {
    const node = this.#find(path);
    if (node?.kind !== 'file') throw systemError(node ? 'EISDIR' : 'ENOENT', path);
    return node;
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of partsOf(path)) node = node?.kind === 'folder' ? node.entries.get(name) : undefined;
    return node;
  }

  #link(path: string, node: Node): void {
    const { folder, name } = this.#place(path);
    change(folder, name, node);
  }

  #unlink(path: string): void {
    const { folder, name } = this.#place(path);
    change(folder, name, undefined);
  }

  #place(path: string): { folder: FolderNode; name: string } {
    const cut = path.lastIndexOf('/');
    const folder = this.#find(path.slice(0, cut));
    if (folder?.kind !== 'folder') throw systemError('ENOENT', path);
    return { folder, name: path.slice(cut + 1) };
  }
}

function newFolder(): FolderNode {
  return { kind: 'folder', entries: new Map(), durable: new Map(), pending: [] };
}

function change(folder: FolderNode, name: string, node: Node | undefined): void {
  if (node) folder.entries.set(name, node);
  else folder.entries.delete(name);
  folder.pending.push({ name, node });
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

function contentOf(file: FileNode): Buffer {
  return file.content.subarray(0, file.length);
}

function append(file: FileNode, bytes: Uint8Array): void {
  if (file.length + bytes.length > file.content.length) {
    const larger = Buffer.alloc(2 * (file.length + bytes.length));
    file.content.copy(larger, 0, 0, file.length);
    file.content = larger;
  }
  file.content.set(bytes, file.length);
  file.length += bytes.length;
  file.isDirty = true;
}

function fileAfterPowerLoss(file: FileNode, random: Random): FileNode {
  const content = file.isDirty || file.dropped ? tornContent(file, random) : Buffer.from(contentOf(file));
  return {
    kind: 'file',
    content,
    length: content.length,
    durable: Buffer.from(content),
    isDirty: false,
    dropped: undefined,
    modifiedMs: file.modifiedMs,
  };
}

/** What was synced, what is there now, or a mixture: everything that was not forced to the device is possible. */
function tornContent(file: FileNode, random: Random): Buffer {
  const now = contentOf(file);
  if (random.integer(3) === 0) return Buffer.from(file.durable);
  if (now.length <= file.durable.length) return Buffer.from(now);
  const kept = file.durable.length + random.integer(now.length - file.durable.length + 1);
  const torn = Buffer.from(now.subarray(0, kept));
  if (random.integer(2) === 0)
    torn.fill(random.integer(256), Math.max(file.durable.length, kept - random.integer(32)));
  return torn;
}

export function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
