// Unpacks a run bundle: only files a run folder has, by clean names and within limits, into a new folder. What cannot
// be read as a run is removed again and nothing is changed. A taken run id gets a suffix.
import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StudioError } from '../base/errors.ts';
import type { RunRecord } from '../contract/run.ts';
import type { FileSystemPort } from './ports.ts';
import { episodeKeyName } from './recording-format.ts';
import { readRecord, runFiles, writeRecord } from './run-folder.ts';
import { assertRunId } from './run-id.ts';
import { extractEntry, readZipEntries, type ZipLimits } from './zip-reader.ts';

export interface BundleRequest {
  readonly path: string;
  /** Where it is unpacked; made here and gone afterwards. On the device of the runs. */
  readonly folder: string;
  readonly runsFolder: string;
  readonly limits?: ZipLimits;
}

const rootFiles = new Set([
  'run.json',
  'run.created.json',
  'graph.json',
  'episodes.jsonl',
  'summary.json',
  'system.jsonl',
  '_DONE',
]);
const nestedFile =
  /^(?:logs\/[\w.-]{1,200}|episodes\/[\w-]{1,100}\/(?:attempt_\d{1,9}\/)?(?:log\.jsonl|replay\.json|assets\/[0-9a-f]{64}\.(?:png|txt|json|bin)))$/;

/** Statuses of a run that is going on are those of another machine. */
const alive: readonly RunRecord['status'][] = ['queued', 'preparing', 'running', 'stopping'];

export async function unpackBundle(
  fileSystem: FileSystemPort,
  { path, folder, runsFolder, limits }: BundleRequest,
): Promise<{ runId: string; episodes: number }> {
  const entries = await readZipEntries(path, limits);
  const unknown = entries.find(({ name }) => !rootFiles.has(name) && !nestedFile.test(name));
  if (unknown)
    throw new StudioError(
      'invalid_input',
      `The archive is not taken: ${JSON.stringify(unknown.name.slice(0, 100))} is no file of a run.`,
    );
  for (const needed of [runFiles.record, runFiles.graph, runFiles.journal])
    if (!entries.some(({ name }) => name === needed))
      throw new StudioError(
        'invalid_input',
        `The archive is not taken: it has no ${needed}, so it is no run bundle.`,
      );
  await mkdir(folder);
  try {
    for (const entry of entries) await extractEntry(path, entry, folder);
    return await adopt(fileSystem, folder, runsFolder);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function adopt(
  fileSystem: FileSystemPort,
  folder: string,
  runsFolder: string,
): Promise<{ runId: string; episodes: number }> {
  const { record } = await readRecord(fileSystem, folder);
  assertRunId(record.runId);
  const isTaken = (await fileSystem.stat(join(runsFolder, record.runId))) !== undefined;
  const runId = isTaken ? `${record.runId.slice(0, 100)}-${randomBytes(3).toString('hex')}` : record.runId;
  if (record.plan.some(({ key }) => !episodeKeyName.test(key)))
    throw new StudioError(
      'invalid_input',
      'The archive is not taken: its plan names folders that cannot be.',
    );
  const status = alive.includes(record.status) ? 'interrupted' : record.status;
  await writeRecord(fileSystem, folder, { ...record, runId, status });
  await rm(join(folder, 'run.created.json'), { force: true });
  await fileSystem.rename(folder, join(runsFolder, runId));
  await fileSystem.syncFolder(runsFolder);
  return { runId, episodes: record.plan.length };
}
