// Removes what the compile cache no longer refers to. Only old files go: a run that lasts may still start replicas of
// a version whose source has changed since.
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';

const keptForMs = 30 * 24 * 3_600_000;

/** Best effort: a file that cannot be looked at or removed stays. */
export async function pruneNodesetCache(cacheFolder: string, nowMs: number): Promise<readonly string[]> {
  const folder = path.join(cacheFolder, 'nodesets');
  const files = await readdir(folder).catch(() => []);
  const recipes = files.filter((file) => /^[0-9a-f]{32}\.json$/.test(file));
  const referred = new Set(await Promise.all(recipes.map((file) => bundleOf(path.join(folder, file)))));
  const loose = files.filter((file) => !recipes.includes(file) && !referred.has(bundleNameOf(file)));
  const removed: string[] = [];
  for (const file of loose) if (await removeIfOld(path.join(folder, file), nowMs)) removed.push(file);
  return removed;
}

/** `x-<hash>.manifest.json` goes with `x-<hash>.mjs`. */
function bundleNameOf(file: string): string {
  return file.replace(/\.manifest\.json$/, '.mjs');
}

async function bundleOf(recipe: string): Promise<string> {
  try {
    const content: unknown = JSON.parse(await readFile(recipe, 'utf8'));
    return content !== null && typeof content === 'object' && 'bundle' in content
      ? String(content.bundle)
      : '';
  } catch {
    return '';
  }
}

async function removeIfOld(file: string, nowMs: number): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(file);
    if (nowMs - mtimeMs < keptForMs) return false;
    await rm(file);
    return true;
  } catch {
    return false;
  }
}
