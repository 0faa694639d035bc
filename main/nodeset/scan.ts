// Finds nodesets in the library and the workspace by their files. Nothing is imported or run, so it is safe in any
// folder; what a candidate contains is asked later, in a process, and only where its folder is trusted.
import { readdir, readFile } from 'node:fs/promises';
import type { Dirent } from 'node:fs';
import path from 'node:path';
import { StudioError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Attachment } from '../contract/settings.ts';
import type { NodesetSource } from './version.ts';

export interface NodesetFolder {
  /** Absolute; a folder that does not exist holds no nodesets. */
  readonly folder: string;
  readonly origin: NodesetSource['origin'];
}

/** A candidate that cannot even be tried, with what to do. */
export interface BadCandidate {
  readonly source: NodesetSource;
  readonly error: StudioError;
}

export interface ScanResult {
  readonly sources: readonly NodesetSource[];
  readonly bad: readonly BadCandidate[];
}

export interface FoundSources {
  readonly sources: NodesetSource[];
  readonly bad: BadCandidate[];
}

/** Python nodesets of a folder, found from the syntax tree. */
export type PythonFinder = (folder: NodesetFolder) => Promise<FoundSources>;

const entryNames = ['nodeset.ts', 'nodeset.mts', 'nodeset.js', 'nodeset.mjs'];
const singleFile = /^(?<name>[^._].*?)\.(?:ts|mts|js|mjs)$/;
const notNodesets = /\.(?:d|test|spec|bench|config)\.[cm]?[jt]s$/;
const skippedFolder = /^[._]|^node_modules$/;
/** As deep as agentcanvas_host/scan.py looks. */
const deepestPython = 6;
const defaultExport = /export\s+default\b|\bas\s+default\b/;

/** Later folders win over earlier ones: a workspace may replace what the library brings. */
export async function findNodesets(
  folders: readonly NodesetFolder[],
  findPython?: PythonFinder,
): Promise<ScanResult> {
  const byName = new Map<string, NodesetSource>();
  const bad: BadCandidate[] = [];
  for (const folder of folders) {
    const python =
      findPython && (await holdsPython(folder.folder, deepestPython)) ? await findPython(folder) : undefined;
    const found = [...(await typescriptIn(folder)), ...(python?.sources ?? [])];
    bad.push(...(python?.bad ?? []));
    const here = new Map<string, NodesetSource>();
    for (const source of found) {
      const first = here.get(source.name);
      if (first) bad.push({ source: first, error: twoOfAName(first, source) });
      else here.set(source.name, source);
    }
    for (const [name, source] of here) byName.set(name, source);
  }
  const spoiled = new Set(bad.map(({ source }) => source));
  return { sources: [...byName.values()].filter((source) => !spoiled.has(source)), bad };
}

/** Without a usable Python the rest of the nodesets still works. */
export function tolerating(find: PythonFinder, logger: Logger): PythonFinder {
  return async (folder) => {
    try {
      return await find(folder);
    } catch (error) {
      logger.warn('Python nodesets could not be looked for', {
        folder: folder.folder,
        error: messageOf(error),
      });
      return { sources: [], bad: [] };
    }
  };
}

/** Servers at URLs beside what was found on disk. Of two with one name neither is used. */
export function withAttached({ sources, bad }: ScanResult, attachments: readonly Attachment[]): ScanResult {
  const attached = attachments.map(({ name, url, tokenEnv }): NodesetSource => ({
    name,
    path: url,
    entry: url,
    language: 'python',
    origin: 'attached',
    tokenEnv,
  }));
  const twice = attached.flatMap((source) => {
    const other = sources.find(({ name }) => name === source.name);
    return other ? [{ source: other, error: twoOfAName(other, source) }] : [];
  });
  const spoiled = new Set(twice.map(({ source }) => source.name));
  const all = [...sources, ...attached].filter(({ name }) => !spoiled.has(name));
  return { sources: all, bad: [...bad, ...twice] };
}

async function typescriptIn({ folder, origin }: NodesetFolder): Promise<readonly NodesetSource[]> {
  const entries = await entriesOf(folder);
  const found = await Promise.all(entries.map((entry) => candidateOf(folder, entry)));
  return found.flatMap((candidate) =>
    candidate ? [{ ...candidate, language: 'typescript' as const, origin }] : [],
  );
}

async function candidateOf(
  folder: string,
  entry: Dirent,
): Promise<Pick<NodesetSource, 'name' | 'path' | 'entry'> | undefined> {
  const full = path.join(folder, entry.name);
  if (entry.isDirectory()) {
    if (skippedFolder.test(entry.name)) return undefined;
    const inside = (await entriesOf(full)).map((each) => each.name);
    const main = entryNames.find((name) => inside.includes(name));
    return main === undefined ? undefined : { name: entry.name, path: full, entry: path.join(full, main) };
  }
  const name = singleFile.exec(entry.name)?.groups?.['name'];
  if (name === undefined || notNodesets.test(entry.name) || !(await hasDefaultExport(full))) return undefined;
  return { name, path: full, entry: full };
}

/** Files beside nodesets that only help them export nothing by default. */
async function hasDefaultExport(file: string): Promise<boolean> {
  try {
    return defaultExport.test(await readFile(file, 'utf8'));
  } catch {
    return false;
  }
}

/** Without a Python file no helper needs to start. */
async function holdsPython(folder: string, levels: number): Promise<boolean> {
  const entries = await entriesOf(folder);
  if (entries.some((entry) => entry.isFile() && entry.name.endsWith('.py'))) return true;
  if (levels === 0) return false;
  const inside = entries.filter((entry) => entry.isDirectory() && !skippedFolder.test(entry.name));
  const answers = await Promise.all(
    inside.map((entry) => holdsPython(path.join(folder, entry.name), levels - 1)),
  );
  return answers.some(Boolean);
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return [];
    throw new StudioError('io_failed', `cannot read ${folder}: ${messageOf(error)}; check its permissions`, {
      cause: error,
    });
  }
}

function twoOfAName(first: NodesetSource, second: NodesetSource): StudioError {
  return new StudioError(
    'nodeset_failed',
    `two nodesets are named "${first.name}": ${first.path} and ${second.path}; rename one`,
  );
}
