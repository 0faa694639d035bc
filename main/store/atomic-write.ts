// Replaces a file so that a reader, or the next start after a crash, sees the old content or the new one, never a
// mixture: unique temporary file, write, fsync, rename, fsync of the folder.
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { FileSystemPort } from './ports.ts';
import { toStorageError } from './storage-error.ts';

const temporarySuffix = '.tmp';

/** `disk_full` or `io_failed` leave the old file as it was. The folder must exist. */
export async function atomicWrite(
  fileSystem: FileSystemPort,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}${temporarySuffix}`);
  try {
    await writeDurably(fileSystem, temporary, content);
    await fileSystem.rename(temporary, path);
    await fileSystem.syncFolder(folder);
  } catch (error) {
    await removeQuietly(fileSystem, temporary);
    throw toStorageError(error, `write ${path}`);
  }
}

/** A new file, on the device before this resolves; its folder entry is not yet. */
export async function writeDurably(
  fileSystem: FileSystemPort,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const handle = await fileSystem.open(path, 'create');
  try {
    await handle.write(typeof content === 'string' ? Buffer.from(content) : content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** `path` itself, and what a workspace is likely to have been made with it. */
const syncedLevels = 4;

/**
 * A folder whose own entry is on the device too: without that a power failure may take it away with everything that
 * was written durably into it. Also of one that is there already, because whoever made it may have died before its sync.
 */
export async function makeDurableFolder(fileSystem: FileSystemPort, path: string): Promise<void> {
  await fileSystem.makeFolder(path);
  let folder = dirname(path);
  for (let level = 1; level < syncedLevels && folder !== dirname(folder); level++) {
    await fileSystem.syncFolder(folder);
    folder = dirname(folder);
  }
}

/** Left by a crash between write and rename. */
export function isTemporaryFile(name: string): boolean {
  return name.startsWith('.') && name.endsWith(temporarySuffix);
}

/** The error that brought us here matters more; what is left is swept at the next start. */
async function removeQuietly(fileSystem: FileSystemPort, path: string): Promise<void> {
  await fileSystem.removeFile(path).catch(() => undefined);
}
