// Folders of shared memory slots that hosts make in the memory file system: checked, removed with their host, and
// swept when an engine that died left some.
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { StudioError } from '../base/errors.ts';

const memoryFolder = '/dev/shm';
const ownName = /^agentcanvas-.+-(\d+)$/;

/** The folder, if it is one that this host may have made. Throws `protocol_error`: no other file can be named. */
export function ownSharedFolder(folder: string, pid: number): string {
  const isOwn =
    path.dirname(folder) === memoryFolder && ownName.exec(path.basename(folder))?.[1] === String(pid);
  if (isOwn) return folder;
  throw new StudioError(
    'protocol_error',
    `the host named ${folder} as its shared memory, which is not its own`,
  );
}

/** Never rejects: what cannot be removed now is swept at the next start. */
export async function removeSharedFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

/** Removes the folders whose host is gone. Never rejects. */
export async function sweepSharedFolders(): Promise<void> {
  if (process.platform !== 'linux') return;
  const names = await readdir(memoryFolder).catch(() => []);
  const left = names.filter((name) => {
    const pid = ownName.exec(name)?.[1];
    return pid !== undefined && !isAlive(Number(pid));
  });
  await Promise.all(left.map((name) => removeSharedFolder(path.join(memoryFolder, name))));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
