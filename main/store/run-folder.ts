// Where things are in a run's folder, and reading and writing run.json and summary.json. run.created.json keeps the
// record as it was made, so that a damaged run.json loses at most the status.
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf, StudioError } from '../base/errors.ts';
import { fromFileCase, toFileCase, toSnake } from '../contract/casing.ts';
import { plannedEpisode, runRecord, runSummary, type RunRecord, type RunSummary } from '../contract/run.ts';
import { atomicWrite } from './atomic-write.ts';
import type { FileSystemPort } from './ports.ts';
import { toStorageError } from './storage-error.ts';

export const runFiles = {
  record: 'run.json',
  createdRecord: 'run.created.json',
  graph: 'graph.json',
  journal: 'episodes.jsonl',
  summary: 'summary.json',
  done: '_DONE',
  episodes: 'episodes',
  logs: 'logs',
} as const;

/** The plan is by far the largest part and never changes: its text is made once. */
const planTexts = new WeakMap<RunRecord['plan'], string>();

export function recordText(record: RunRecord): string {
  const { plan, ...rest } = record;
  const text = JSON.stringify(toFileCase(runRecord, rest), null, 1);
  return `${text.slice(0, -2)},\n "plan": ${planText(plan)}\n}\n`;
}

function planText(plan: RunRecord['plan']): string {
  const known = planTexts.get(plan);
  if (known !== undefined) return known;
  const lines = plan.map((planned) => JSON.stringify(renameMembers(planned, snakeOf)));
  const text = lines.length === 0 ? '[]' : `[\n  ${lines.join(',\n  ')}\n ]`;
  planTexts.set(plan, text);
  return text;
}

const plannedNames = Object.keys(plannedEpisode.shape);
const snakeOf = new Map(plannedNames.map((name) => [name, toSnake(name)]));
const camelOf = new Map(plannedNames.map((name) => [toSnake(name), name]));

/** For flat objects, a hundred thousand of them: the general translation walks the schema for each. */
function renameMembers(value: object, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) renamed[names.get(key) ?? key] = member;
  return renamed;
}

export async function writeRecord(
  fileSystem: FileSystemPort,
  folder: string,
  record: RunRecord,
): Promise<void> {
  await atomicWrite(fileSystem, join(folder, runFiles.record), recordText(record));
}

export interface FoundRecord {
  readonly record: RunRecord;
  /** Why the record as created was used instead; its status is then `interrupted`. */
  readonly damage: string | null;
}

/** `not_found` when the folder holds no run, `corrupt` when neither record parses. */
export async function readRecord(fileSystem: FileSystemPort, folder: string): Promise<FoundRecord> {
  const path = join(folder, runFiles.record);
  try {
    return { record: await readRecordFile(fileSystem, path), damage: null };
  } catch (error) {
    const created = join(folder, runFiles.createdRecord);
    if (!(await fileSystem.stat(created))) throw error;
    const record = await readRecordFile(fileSystem, created);
    return { record: { ...record, status: 'interrupted' }, damage: messageOf(error) };
  }
}

/** Results of another program may lie among the runs: a summary without a record. */
export async function holdsRun(fileSystem: FileSystemPort, folder: string): Promise<boolean> {
  const isOthers = (await fileSystem.stat(join(folder, runFiles.summary))) !== undefined;
  if (!isOthers) return true;
  for (const name of [runFiles.record, runFiles.createdRecord])
    if (await fileSystem.stat(join(folder, name))) return true;
  return false;
}

export async function writeSummary(
  fileSystem: FileSystemPort,
  folder: string,
  summary: RunSummary,
): Promise<void> {
  await atomicWrite(fileSystem, join(folder, runFiles.summary), fileText(runSummary, summary));
}

/** Undefined when absent or damaged: it can be computed again from the journal. */
export async function readStoredSummary(
  fileSystem: FileSystemPort,
  folder: string,
): Promise<RunSummary | undefined> {
  const path = join(folder, runFiles.summary);
  if (!(await fileSystem.stat(path))) return undefined;
  try {
    return await readJson(fileSystem, path, runSummary);
  } catch (error) {
    if (error instanceof StudioError && error.code === 'corrupt') return undefined;
    throw error;
  }
}

function fileText(schema: z.ZodType, value: unknown): string {
  return `${JSON.stringify(toFileCase(schema, value), null, 1)}\n`;
}

async function readJson<T>(fileSystem: FileSystemPort, path: string, schema: z.ZodType<T>): Promise<T> {
  const text = await readText(fileSystem, path);
  return parseOrCorrupt(path, () => schema.parse(fromFileCase(schema, JSON.parse(text))));
}

async function readRecordFile(fileSystem: FileSystemPort, path: string): Promise<RunRecord> {
  const text = await readText(fileSystem, path);
  return parseOrCorrupt(path, () => {
    const { plan, ...rest } = recordParts.parse(JSON.parse(text));
    const planned = plan.map((item) => renameMembers(Object(item), camelOf));
    return runRecord.parse({ ...Object(fromFileCase(runRecord, rest)), plan: planned });
  });
}

const recordParts = z.looseObject({ plan: z.array(z.unknown()) });

function parseOrCorrupt<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new StudioError('corrupt', `${path} cannot be read: ${messageOf(error).slice(0, 200)}`, {
      cause: error,
    });
  }
}

export async function readText(fileSystem: FileSystemPort, path: string): Promise<string> {
  try {
    return Buffer.from(await fileSystem.readFile(path)).toString('utf8');
  } catch (error) {
    throw toStorageError(error, `read ${path}`);
  }
}
