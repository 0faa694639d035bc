// A private folder (0700) with a path short enough for Unix sockets, named after the engine that made it, so that
// the next one can remove what a killed engine left.
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { StudioError, messageOf } from '../base/errors.ts';
import { isOwnerDead, parseMarker } from './owner.ts';

/** Beyond it systems fail or truncate (104 bytes on macOS, 108 on Linux). */
export const longestSocketPathBytes = 100;
const longestFileName = '/99999.s';

export interface SocketFolder extends AsyncDisposable {
  /** A path that no other socket of this engine has. */
  nextPath(): string;
}

/** Rejects with `unsupported` when no short folder is found, with `io_failed` when it cannot be made. */
export async function createSocketFolder(ownerMarker: string, parent?: string): Promise<SocketFolder> {
  const chosen = firstShortParent(ownerMarker, parent);
  await removeLeftFolders(chosen);
  const folder = path.join(chosen, ownerMarker);
  await mkdir(folder, { mode: 0o700 }).catch((error) => {
    throw new StudioError('io_failed', `cannot make the folder for sockets ${folder}: ${messageOf(error)}`, {
      cause: error,
    });
  });
  let count = 0;
  return {
    nextPath: () => path.join(folder, `${++count}.s`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function firstShortParent(name: string, parent: string | undefined): string {
  const candidates = parent ? [parent] : [process.env['XDG_RUNTIME_DIR'], os.tmpdir(), '/tmp'];
  const fits = candidates.find(
    (candidate) =>
      candidate && existsSync(candidate) && isShort(path.join(candidate, name) + longestFileName),
  );
  if (fits) return fits;
  throw new StudioError(
    'unsupported',
    `no folder for sockets: ${candidates.filter(Boolean).join(', ')} is missing or its path too long (a socket path may have ${longestSocketPathBytes} bytes); set XDG_RUNTIME_DIR or TMPDIR to a short folder`,
  );
}

function isShort(socketPath: string): boolean {
  return Buffer.byteLength(socketPath) <= longestSocketPathBytes;
}

async function removeLeftFolders(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const left = names.filter((name) => {
    const owner = parseMarker(name);
    return owner !== undefined && isOwnerDead(owner);
  });
  // A folder that cannot be removed is another user's or in use by the system: it is only litter.
  await Promise.allSettled(left.map((name) => rm(path.join(parent, name), { recursive: true, force: true })));
}
