// At the start, when the workspace has just been taken over: runs that claim to be alive cannot be (their process
// would own the workspace) and become `interrupted`; what a crash left half-made is swept.
import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { RunStatus } from '../contract/run.ts';
import { atomicWrite, isTemporaryFile } from './atomic-write.ts';
import { busyMs } from './busy-time.ts';
import type { FileSystemPort, RecoveryReport, RunHandle } from './ports.ts';
import { holdsRun, readRecord, runFiles } from './run-folder.ts';

export interface RecoveryOptions {
  readonly fileSystem: FileSystemPort;
  readonly logger: Logger;
  readonly runsFolder: string;
  readonly isQueued: (runId: string) => boolean;
  /** Runs open in this process. */
  readonly isOpen: (runId: string) => boolean;
  readonly open: (runId: string) => Promise<RunHandle>;
}

const aliveStatuses: readonly RunStatus[] = ['queued', 'preparing', 'running', 'stopping'];

const endStatuses: readonly RunStatus[] = ['completed', 'completed_with_errors', 'cancelled', 'failed'];

/** A run's folder before it is renamed into place. */
export const unfinishedPrefix = '.new-';

export async function recoverRuns(options: RecoveryOptions): Promise<RecoveryReport> {
  const { fileSystem, logger, runsFolder, isOpen } = options;
  const interrupted: { runId: string; was: RunStatus; missing: number }[] = [];
  const unreadable: { runId: string; message: string }[] = [];
  const tornRuns: string[] = [];
  const ended: string[] = [];
  for (const { name, isFolder } of await fileSystem.listFolder(runsFolder)) {
    if (isFolder && name.startsWith(unfinishedPrefix)) await fileSystem.removeFolder(join(runsFolder, name));
    if (!isFolder || name.startsWith('.') || isOpen(name)) continue;
    if (!(await holdsRun(fileSystem, join(runsFolder, name)))) continue;
    try {
      const found = await recoverRun(options, name);
      if (found?.torn) tornRuns.push(name);
      if (found?.isWhole) ended.push(name);
      else if (found) interrupted.push({ runId: name, was: found.was, missing: found.missing });
    } catch (error) {
      logger.error('a run cannot be read', { runId: name, reason: messageOf(error) });
      unreadable.push({ runId: name, message: messageOf(error) });
    }
  }
  return { interrupted, unreadable, tornRuns, ended };
}

/** Undefined when the run needs nothing. */
async function recoverRun(
  options: RecoveryOptions,
  runId: string,
): Promise<{ was: RunStatus; missing: number; torn: boolean; isWhole: boolean } | undefined> {
  const { fileSystem, runsFolder, logger } = options;
  const folder = join(runsFolder, runId);
  const { record, damage } = await readRecord(fileSystem, folder);
  const kept = record.status === 'queued' && options.isQueued(runId);
  if (damage === null && (kept || !aliveStatuses.includes(record.status))) {
    await completeEnd(fileSystem, folder, record.status);
    return undefined;
  }
  await sweepTemporaryFiles(fileSystem, folder);
  if (damage !== null) await keepAside(fileSystem, folder, runId, logger, damage);
  await using handle = await options.open(runId);
  const isWhole = await endWhole(handle);
  if (!isWhole) {
    // The time was to be written at the end of the run, which did not come.
    const activeMs = Math.max(record.activeMs, busyMs(await handle.finals()));
    await handle.update({ status: 'interrupted', activeMs });
  }
  return {
    was: record.status,
    missing: handle.missing().length,
    isWhole,
    torn: handle.journalReport.tornBytes > 0,
  };
}

/** Writes the end of a run whose last row was durable before its end could be; false when episodes are missing. */
export async function endWhole(handle: RunHandle): Promise<boolean> {
  if (handle.record.plan.length === 0 || handle.missing().length > 0) return false;
  const finals = await handle.finals();
  const isClean = finals.every(({ status }) => status === 'completed');
  const status = isClean ? 'completed' : 'completed_with_errors';
  try {
    await handle.finish(status, {
      activeMs: Math.max(handle.record.activeMs, busyMs(finals)),
      error: null,
      pausedBecause: null,
    });
  } catch (error) {
    // The record says it; what is missing beside it is made again.
    if (handle.record.status !== status) throw error;
  }
  return true;
}

/** The last file of a run that ended, when the process died between writing the status and that file. */
async function completeEnd(fileSystem: FileSystemPort, folder: string, status: RunStatus): Promise<void> {
  const path = join(folder, runFiles.done);
  if (!endStatuses.includes(status) || (await fileSystem.stat(path))) return;
  await atomicWrite(fileSystem, path, `${status}\n`);
}

async function sweepTemporaryFiles(fileSystem: FileSystemPort, folder: string): Promise<void> {
  for (const { name } of await fileSystem.listFolder(folder)) {
    if (isTemporaryFile(name)) await fileSystem.removeFile(join(folder, name));
  }
}

async function keepAside(
  fileSystem: FileSystemPort,
  folder: string,
  runId: string,
  logger: Logger,
  damage: string,
): Promise<void> {
  logger.error('run.json is damaged; the record as created is used', { runId, reason: damage });
  const path = join(folder, runFiles.record);
  if (await fileSystem.stat(path)) await fileSystem.rename(path, `${path}.damaged`);
}
