// FileSystemPort on node:fs. Rejections are those of the system; callers turn them into StudioErrors.
import { constants } from 'node:fs';
import * as files from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FileHandlePort, FileStat, FileSystemPort, FolderEntry, OpenMode } from './ports.ts';
import { systemCode } from './storage-error.ts';

// Read access in every mode: a journal is scanned and appended to through one handle.
const flagsOf: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY,
  append: constants.O_RDWR | constants.O_CREAT | constants.O_APPEND,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
};

/** What Windows and some network file systems answer to the sync of a folder. */
const unsyncable = new Set(['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'EBADF', 'ENOTSUP']);

export const nodeFileSystem: FileSystemPort = {
  open: async (path, mode) => handlePort(await files.open(path, flagsOf[mode], 0o644)),
  readFile: (path) => files.readFile(path),
  rename: (from, to) => files.rename(from, to),
  removeFile: (path) => files.rm(path, { force: true }),
  removeFolder: (path) => files.rm(path, { recursive: true, force: true }),
  makeFolder: async (path) => void (await files.mkdir(path, { recursive: true })),
  listFolder,
  stat,
  realPath,
  syncFolder,
  async freeBytes(path) {
    const { bavail, bsize } = await files.statfs(path);
    return bavail * bsize;
  },
};

function handlePort(handle: files.FileHandle): FileHandlePort {
  return {
    async write(bytes) {
      for (let written = 0; written < bytes.length;) {
        const { bytesWritten } = await handle.write(bytes, written, bytes.length - written);
        written += bytesWritten;
      }
    },
    read: async (target, position) => (await handle.read(target, 0, target.length, position)).bytesRead,
    truncate: (bytes) => handle.truncate(bytes),
    sync: () => handle.datasync(),
    size: async () => (await handle.stat()).size,
    close: () => handle.close(),
  };
}

async function listFolder(path: string): Promise<FolderEntry[]> {
  try {
    const entries = await files.readdir(path, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function stat(path: string): Promise<FileStat | undefined> {
  try {
    const found = await files.stat(path);
    return {
      bytes: found.size,
      modifiedMs: found.mtimeMs,
      isFolder: found.isDirectory(),
      isFile: found.isFile(),
    };
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

async function realPath(path: string): Promise<string> {
  try {
    return await files.realpath(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return resolve(path);
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  try {
    await using folder = await files.open(path, constants.O_RDONLY);
    await folder.sync();
  } catch (error) {
    if (!unsyncable.has(systemCode(error) ?? '')) throw error;
  }
}
