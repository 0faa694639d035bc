// System errors of storage as StudioErrors: a full disk has its own code wherever it shows up, because the run then
// pauses instead of failing.
import { messageOf, StudioError } from '../base/errors.ts';

const fullDiskCodes = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL']);
/** SQLite's primary result code for a full disk. */
const sqliteFull = 13;

/** The error of a failed storage call; `what` completes "Could not …". StudioErrors pass unchanged. */
export function toStorageError(thrown: unknown, what: string): StudioError {
  if (thrown instanceof StudioError) return thrown;
  if (isDiskFull(thrown)) {
    return new StudioError(
      'disk_full',
      `Could not ${what}: no space is left. Free some space, then resume.`,
      {
        cause: thrown,
      },
    );
  }
  const code = systemCode(thrown) === 'ENOENT' ? 'not_found' : 'io_failed';
  return new StudioError(code, `Could not ${what}: ${messageOf(thrown)}`, { cause: thrown });
}

export function isDiskFull(thrown: unknown): boolean {
  if (thrown instanceof StudioError) return thrown.code === 'disk_full';
  if (fullDiskCodes.has(systemCode(thrown) ?? '')) return true;
  return thrown instanceof Error && 'errcode' in thrown && thrown.errcode === sqliteFull;
}

/** `ENOENT` and the like; of a StudioError that of its cause. */
export function systemCode(thrown: unknown): string | undefined {
  if (thrown instanceof StudioError) return systemCode(thrown.cause);
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : undefined;
}
