// A file system whose every rejection is a StudioError that says what was tried: a full disk is `disk_full` whatever
// call it hit. The store wraps its port once, so no call site can forget.
import type { FileHandlePort, FileSystemPort } from './ports.ts';
import { toStorageError } from './storage-error.ts';

export function guardFileSystem(inner: FileSystemPort): FileSystemPort {
  return {
    open: async (path, mode) => guardHandle(await guarded(inner.open(path, mode), 'open', path), path),
    readFile: (path) => guarded(inner.readFile(path), 'read', path),
    rename: (from, to) => guarded(inner.rename(from, to), 'put in place', to),
    removeFile: (path) => guarded(inner.removeFile(path), 'remove', path),
    removeFolder: (path) => guarded(inner.removeFolder(path), 'remove', path),
    makeFolder: (path) => guarded(inner.makeFolder(path), 'make', path),
    listFolder: (path) => guarded(inner.listFolder(path), 'list', path),
    stat: (path) => guarded(inner.stat(path), 'look at', path),
    realPath: (path) => guarded(inner.realPath(path), 'resolve', path),
    syncFolder: (path) => guarded(inner.syncFolder(path), 'sync', path),
    freeBytes: (path) => guarded(inner.freeBytes(path), 'ask for the free space of', path),
  };
}

function guardHandle(inner: FileHandlePort, path: string): FileHandlePort {
  return {
    write: (bytes) => guarded(inner.write(bytes), 'write', path),
    read: (target, position) => guarded(inner.read(target, position), 'read', path),
    truncate: (bytes) => guarded(inner.truncate(bytes), 'shorten', path),
    sync: () => guarded(inner.sync(), 'sync', path),
    size: () => guarded(inner.size(), 'look at', path),
    close: () => guarded(inner.close(), 'close', path),
  };
}

async function guarded<T>(call: Promise<T>, verb: string, path: string): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw toStorageError(error, `${verb} ${path}`);
  }
}
