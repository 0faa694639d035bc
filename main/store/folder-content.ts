// One hash over everything in a folder from which code may run: names, links and bytes of every file. Nothing is run.
// A folder whose code reaches out of it has no such hash: an edit outside would go unnoticed.
import { dirname, join, relative, resolve } from 'node:path';
import { sha256, stableHash } from '../base/stable-hash.ts';
import type { FileSystemPort } from './ports.ts';
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
/** Of relative and absolute specifiers; packages are not of the folder. */
const specifier =
  /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(['"`])(\.{1,2}\/[^'"`]*|\.\.|\/[^'"`]*|file:[^'"`]*)\1/g;

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
  } catch (error) {
    if (error instanceof NoHash) return { problem: error.message };
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
    if (!contains(root, real)) throw new NoHash(`${file} is a link that leads out of it`);
    found.push({ file, hash: `link to ${relative(root, real)}` });
    return;
  }
  const stat = await fileSystem.stat(path);
  if (!stat) return;
  if (stat.isFolder) return await visit(walk, path);
  walk.bytes += stat.bytes;
  if (found.length >= limits.files || walk.bytes > limits.bytes)
    throw new NoHash(`it holds more than ${limits.files} files or ${limits.bytes / 1e6} MB`);
  const content = await fileSystem.readFile(path);
  if (script.test(path)) refuseEscape(root, path, Buffer.from(content).toString('utf8'));
  found.push({ file, hash: sha256(content) });
}

function refuseEscape(root: string, path: string, text: string): void {
  for (const [, , wanted = ''] of text.matchAll(specifier)) {
    const isInside = /^\.\.?(\/|$)/.test(wanted) && contains(root, resolve(dirname(path), wanted));
    if (!isInside) throw new NoHash(`${relative(root, path)} imports ${wanted} from outside it`);
  }
}
