// A file system that fails on demand, for tests: the k-th call of chosen operations fails with a system code, and a
// failing write leaves a part of its bytes behind, as a full disk does.
import type { FileHandlePort, FileSystemPort } from '../ports.ts';

export type FaultyOperation =
  | 'open'
  | 'write'
  | 'sync'
  | 'truncate'
  | 'rename'
  | 'makeFolder'
  | 'syncFolder'
  | 'removeFile'
  | 'close';

export interface FaultPlan {
  /** Decides call by call; `count` is how many calls of any operation came before. */
  shouldFail(operation: FaultyOperation, count: number, path: string): string | undefined;
}

export interface FaultyFileSystem extends FileSystemPort {
  readonly calls: () => number;
}

export function createFaultyFileSystem(inner: FileSystemPort, plan: FaultPlan): FaultyFileSystem {
  let count = 0;
  const check = (operation: FaultyOperation, path: string): void => {
    const code = plan.shouldFail(operation, count++, path);
    if (code !== undefined) throw systemError(code, operation);
  };
  const wrap = (handle: FileHandlePort, path: string): FileHandlePort => ({
    ...handle,
    async write(bytes) {
      try {
        check('write', path);
      } catch (error) {
        await handle.write(bytes.subarray(0, Math.floor(bytes.length / 2)));
        throw error;
      }
      await handle.write(bytes);
    },
    async sync() {
      check('sync', path);
      await handle.sync();
    },
    async truncate(bytes) {
      check('truncate', path);
      await handle.truncate(bytes);
    },
    async close() {
      await handle.close();
      check('close', path);
    },
  });
  return {
    ...inner,
    calls: () => count,
    async open(path, mode) {
      if (mode !== 'read') check('open', path);
      const handle = await inner.open(path, mode);
      return mode === 'read' ? handle : wrap(handle, path);
    },
    async rename(from, to) {
      check('rename', to);
      await inner.rename(from, to);
    },
    async makeFolder(path) {
      check('makeFolder', path);
      await inner.makeFolder(path);
    },
    async syncFolder(path) {
      check('syncFolder', path);
      await inner.syncFolder(path);
    },
    async removeFile(path) {
      check('removeFile', path);
      await inner.removeFile(path);
    },
  };
}

function systemError(code: string, operation: string): Error {
  return Object.assign(new Error(`${code}: injected into ${operation}`), { code });
}
