// One process owns a workspace. The lock itself is SQLite's exclusive lock on a file, which the kernel releases
// when the owner dies however it dies; the owner file beside it says who that is and where it listens.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { messageOf, StudioError } from '../base/errors.ts';
import { atomicWrite } from './atomic-write.ts';
import type { FileSystemPort } from './ports.ts';
import { isSameProcessAlive, ownIdentity, processIdentity } from './process-identity.ts';

const ownerFile = processIdentity.extend({
  /** Where the owner takes requests of other processes; null until it does. */
  address: z.string().nullable(),
  since: z.string(),
});
export type WorkspaceOwner = z.infer<typeof ownerFile>;

export interface WorkspaceLock extends AsyncDisposable {
  /** An owner that died without letting go, found when the lock was taken. */
  readonly staleOwner: WorkspaceOwner | null;
  /** Publishes where this process takes requests. */
  announce(address: string): Promise<void>;
}

export type LockOutcome =
  | { readonly kind: 'owned'; readonly lock: WorkspaceLock }
  /** `owner` is null when its file cannot be read; `alive` is false for a leftover file. */
  | { readonly kind: 'busy'; readonly owner: WorkspaceOwner | null; readonly alive: boolean };

export interface LockOptions {
  readonly fileSystem: FileSystemPort;
  /** The workspace's `.cache`. */
  readonly folder: string;
  readonly now: () => number;
}

const lockName = 'owner.lock';
const ownerName = 'owner.json';

/** Never waits: who comes second is told who came first. `read_only` when the folder cannot be written to. */
export async function acquireWorkspaceLock(options: LockOptions): Promise<LockOutcome> {
  const { fileSystem, folder, now } = options;
  await fileSystem.makeFolder(folder);
  const database = takeLock(join(folder, lockName));
  const owner = await readOwner(fileSystem, folder);
  if (!database) return { kind: 'busy', owner, alive: owner !== null && isSameProcessAlive(owner) };
  const path = join(folder, ownerName);
  const publish = (address: string | null): Promise<void> => {
    const content: WorkspaceOwner = { ...ownIdentity(), address, since: new Date(now()).toISOString() };
    return atomicWrite(fileSystem, path, `${JSON.stringify(content, null, 1)}\n`);
  };
  try {
    await publish(null);
  } catch (error) {
    database.close();
    throw error;
  }
  const lock: WorkspaceLock = {
    staleOwner: owner,
    announce: publish,
    async [Symbol.asyncDispose]() {
      // The file first: whoever takes the lock next must not find a living owner that has gone.
      await fileSystem.removeFile(path);
      if (database.isOpen) database.close();
    },
  };
  return { kind: 'owned', lock };
}

/** Undefined when another process, or another owner in this one, holds it. */
function takeLock(path: string): DatabaseSync | undefined {
  const busy = 5;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return undefined;
    throw new StudioError('read_only', `The workspace cannot be locked (${path}): ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function readOwner(fileSystem: FileSystemPort, folder: string): Promise<WorkspaceOwner | null> {
  const path = join(folder, ownerName);
  if (!(await fileSystem.stat(path))) return null;
  try {
    return ownerFile.parse(JSON.parse(Buffer.from(await fileSystem.readFile(path)).toString('utf8')));
  } catch {
    // It is only information; the lock decides.
    return null;
  }
}
