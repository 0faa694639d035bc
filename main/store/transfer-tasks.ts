// Bulk tasks that take runs out as files and read what was brought in.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { StudioError } from '../base/errors.ts';
import { summarise } from '../stats/aggregate.ts';
import { episodeRows } from './episode-rows.ts';
import type { ExportContext } from './export-rows.ts';
import { exportParquet } from './export-parquet.ts';
import { importedRunOf, parseLooseJson, type ImportedRun } from './import-episodes.ts';
import { unpackBundle, type BundleRequest } from './import-bundle.ts';
import { runDocument, type RunTextFormat } from './run-document.ts';
import { runFiles } from './run-folder.ts';
import type { ReadRun, RunReader } from './run-reader.ts';
import { ZipWriter } from './zip-writer.ts';

interface RowSelection {
  readonly folder: string;
  /** Null: every planned episode. */
  readonly ordinals: Uint32Array | null;
  /** The filter that chose them, for people. */
  readonly filter: string | null;
}

export interface TransferTasks {
  exportText: { input: RowSelection & { readonly format: RunTextFormat }; output: string };
  /** Answers the size. The target must not exist. */
  exportFile: {
    input: RowSelection & { readonly format: RunTextFormat | 'parquet'; readonly target: string };
    output: number;
  };
  exportBundle: { input: { readonly folder: string; readonly target: string }; output: number };
  readImport: { input: { readonly path: string }; output: ImportedRun | { readonly kind: 'bundle' } };
  /** SHA-256 of what it holds. */
  hashFile: { input: { readonly path: string }; output: string };
  unpackBundle: {
    input: BundleRequest;
    output: { readonly runId: string; readonly episodes: number };
  };
}

type Performers<Tasks> = {
  readonly [Name in keyof Tasks]: (
    runs: RunReader,
    input: Tasks[Name] extends { input: infer Input } ? Input : never,
  ) => Promise<Tasks[Name] extends { output: infer Output } ? Output : never>;
};

export const transferTasks: Performers<TransferTasks> = {
  async exportText(runs, { format, ...selection }) {
    const { context, rows } = await select(runs, selection);
    let text = '';
    for await (const part of runDocument(context, rows, format)) text += part;
    return text;
  },
  async exportFile(runs, { format, target, ...selection }) {
    const { context, rows } = await select(runs, selection);
    return writeNew(
      target,
      format === 'parquet' ? [exportParquet(context, rows)] : runDocument(context, rows, format),
    );
  },
  exportBundle: (_runs, { folder, target }) => writeBundle(folder, target),
  async readImport(_runs, { path }) {
    return readImport(path);
  },
  hashFile: (_runs, { path }) => hashFile(path),
  unpackBundle: ({ fileSystem }, input) => unpackBundle(fileSystem, input),
};

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(part as Buffer);
  return hash.digest('hex');
}

async function select(
  runs: RunReader,
  { folder, ordinals, filter }: RowSelection,
): Promise<{ context: ExportContext; rows: ReturnType<typeof episodeRows> }> {
  const run = await runs.read(folder);
  const rows = episodeRows(run, ordinals);
  const context = {
    record: run.record,
    filter,
    // Only some forms show numbers of the whole, and those of a large run take a second.
    get summary() {
      return summaryOf(run, ordinals);
    },
  };
  return { context, rows };
}

/** Numbers of the rows that are exported: a filtered file must not carry those of the whole run. */
function summaryOf(
  { record, finals, firsts }: ReadRun,
  ordinals: Uint32Array | null,
): ExportContext['summary'] {
  if (ordinals === null)
    return summarise({
      rows: finals,
      firstAttempts: firsts,
      planned: record.plan.length,
      definitions: record.metrics,
    });
  const wanted = new Set(ordinals);
  const rows = finals.filter(({ ordinal }) => wanted.has(ordinal));
  const firstAttempts = firsts.filter(({ ordinal }) => wanted.has(ordinal));
  return summarise({ rows, firstAttempts, planned: wanted.size, definitions: record.metrics });
}

async function writeNew(
  target: string,
  parts: AsyncIterable<string> | Iterable<Uint8Array>,
): Promise<number> {
  const temporary = `${target}.part`;
  const handle = await open(temporary, 'w');
  try {
    for await (const part of parts) await handle.appendFile(part);
  } catch (error) {
    await handle.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await handle.close();
  await rename(temporary, target);
  return (await stat(target)).size;
}

/** What is only scratch or derived stays behind. */
async function writeBundle(folder: string, target: string): Promise<number> {
  const temporary = `${target}.part`;
  await rm(temporary, { force: true });
  try {
    const bytes = await packFolder(folder, temporary);
    await rename(temporary, target);
    return bytes;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function packFolder(folder: string, target: string): Promise<number> {
  await using zip = await ZipWriter.create(target);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((name) => !isLeftBehind(name))
    .sort();
  for (const name of files) await zip.addFile(name, join(folder, ...name.split('/')));
  return await zip.finish();
}

function isLeftBehind(name: string): boolean {
  return (
    name.startsWith('scratch/') ||
    /(?:^|\/)scratch_\d+_\d+\//.test(name) ||
    /(?:^|\/)log\.index(?:\.json)?$/.test(name) ||
    /(?:^|\/)\.[^/]*$/.test(name)
  );
}

const largestGraphBytes = 8 * 2 ** 20;

async function graphBeside(folder: string): Promise<string | null> {
  const file = join(folder, runFiles.graph);
  const facts = await stat(file).catch(() => undefined);
  return facts && facts.size <= largestGraphBytes ? readFile(file, 'utf8') : null;
}

const largestJsonBytes = 512 * 2 ** 20;

async function readImport(path: string): Promise<ImportedRun | { kind: 'bundle' }> {
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new StudioError('not_found', `There is nothing at ${path}.`);
  const file = found.isDirectory() ? join(path, 'summary.json') : path;
  const facts = await stat(file).catch(() => undefined);
  if (!facts)
    throw new StudioError(
      'invalid_input',
      `${path} has no summary.json: it is no run folder of AgentCanvas.`,
    );
  const handle = await open(file, 'r');
  const magic = Buffer.alloc(4);
  await handle.read(magic, 0, 4, 0);
  await handle.close();
  if (magic.toString('latin1').startsWith('PK')) return { kind: 'bundle' };
  if (facts.size > largestJsonBytes)
    throw new StudioError('invalid_input', `${file} is larger than ${largestJsonBytes / 2 ** 20} MB.`);
  const imported = importedRunOf(parseLooseJson(await readFile(file, 'utf8')));
  return { ...imported, graphText: found.isDirectory() ? await graphBeside(path) : null };
}
