// One hash over everything in a folder from which code may run: names, links and bytes of every file. Nothing is run.
// A folder whose code reaches out of it has no such hash: an edit outside would go unnoticed.
import { dirname, join, relative, resolve, sep } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { sha256, stableHash } from '../base/stable-hash.ts';
import type { FileSystemPort } from './ports.ts';
import { systemCode } from './storage-error.ts';
import { contains } from './workspace.ts';

export type FolderContent =
  | { readonly hash: string; readonly files: number }
  /** Why no hash can stand for it. */
  | { readonly problem: string };

export interface ContentLimits {
  readonly files: number;
  readonly bytes: number;
}

const defaultLimits: ContentLimits = { files: 5000, bytes: 64e6 };
/** What git keeps about the files; the files themselves count. */
const skipped = new Set(['.git', '.DS_Store']);
const script = /\.[cm]?[jt]sx?$/;
/** Of relative and absolute specifiers and of `#names`; packages are not of the folder. Linear in any text. */
const specifier =
  /(?:\bfrom|\bimport|\brequire)\s*(?:\(\s*)?(['"`])(\.{1,2}\/[^'"`]*|\.\.|\/[^'"`]*|file:[^'"`]*|#[^'"`]*)\1/g;

interface Walk {
  readonly fileSystem: FileSystemPort;
  /** With links followed. */
  readonly root: string;
  readonly limits: ContentLimits;
  readonly found: { readonly file: string; readonly hash: string }[];
  bytes: number;
}

class NoHash extends Error {}

export async function contentOfFolder(
  fileSystem: FileSystemPort,
  folder: string,
  limits: ContentLimits = defaultLimits,
): Promise<FolderContent> {
  const root = await fileSystem.realPath(folder);
  const walk: Walk = { fileSystem, root, limits, found: [], bytes: 0 };
  try {
    await visit(walk, root);
    refuseNamesFromAbove([resolve(folder), root], walk);
  } catch (error) {
    if (error instanceof NoHash) return { problem: error.message };
    // Whoever asks wants to know whether code may run: what cannot be looked at has no hash, and is no failure.
    if (systemCode(error) !== undefined) return { problem: `it cannot be read: ${messageOf(error)}` };
    throw error;
  }
  const files = walk.found.sort((a, b) => (a.file < b.file ? -1 : 1));
  return { hash: stableHash({ folder: files }), files: files.length };
}

async function visit(walk: Walk, folder: string): Promise<void> {
  for (const { name } of await walk.fileSystem.listFolder(folder)) {
    const path = join(folder, name);
    if (!skipped.has(name)) await take(walk, path);
  }
}

async function take(walk: Walk, path: string): Promise<void> {
  const { fileSystem, root, limits, found } = walk;
  const file = relative(root, path).replaceAll('\\', '/');
  const real = await fileSystem.realPath(path);
  if (real !== path) {
    if (!isCovered(root, real)) throw new NoHash(`${file} is a link that leads out of it`);
    found.push({ file, hash: `link to ${relative(root, real)}` });
    return;
  }
  const stat = await fileSystem.stat(path);
  if (!stat) return;
  if (stat.isFolder) return await visit(walk, path);
  if (!stat.isFile) throw new NoHash(`${file} is neither a file nor a folder`);
  walk.bytes += stat.bytes;
  if (found.length >= limits.files || walk.bytes > limits.bytes)
    throw new NoHash(`it holds more than ${limits.files} files or ${limits.bytes / 1e6} MB`);
  const content = await fileSystem.readFile(path);
  if (script.test(path)) await refuseEscape(walk, path, Buffer.from(content).toString('utf8'));
  found.push({ file, hash: sha256(content) });
}

async function refuseEscape(walk: Walk, path: string, text: string): Promise<void> {
  const { root } = walk;
  for (const [, , wanted = ''] of text.matchAll(specifier)) {
    const isInside = wanted.startsWith('#')
      ? await isInPackage(walk, dirname(path))
      : /^\.\.?(\/|$)/.test(wanted) && isCovered(root, resolve(dirname(path), wanted));
    if (!isInside) throw new NoHash(`${relative(root, path)} imports ${wanted} from outside it`);
  }
}

/** The nearest package.json says what a `#name` is, and says it of its own folder alone. */
async function isInPackage({ fileSystem, root }: Walk, folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    if (await fileSystem.stat(join(at, 'package.json'))) return true;
    if (at === root) return false;
  }
}

/** In the folder, and in nothing of it that does not count. */
function isCovered(root: string, path: string): boolean {
  return (
    contains(root, path) &&
    !relative(root, path)
      .split(sep)
      .some((name) => skipped.has(name))
  );
}

/**
 * Python nodesets in `workspace/nodesets` are imported by that name from the folder around `workspace`: packages around
 * them run as well, and the folder is on the import path (resources/python/agentcanvas_host/nodeset_loader.py).
 */
function refuseNamesFromAbove(folders: readonly string[], { found }: Walk): void {
  const sources = found.filter(({ file }) => file.endsWith('.py')).map(({ file }) => file.split('/'));
  for (const folder of folders) {
    const above = folder.split(sep);
    const isNamed = (source: readonly string[]): boolean => {
      const names = [...above, ...source];
      return above.some((name, at) => at > 0 && name === 'workspace' && names[at + 1] === 'nodesets');
    };
    if (sources.some(isNamed))
      throw new NoHash('Python imports it as workspace.nodesets, from a folder around it');
  }
}
