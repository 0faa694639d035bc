import { mkdtemp, mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { pruneNodesetCache } from './prune-cache.ts';

it('removes old bundles nobody refers to, with their manifests, and keeps the rest', async () => {
  const cache = await mkdtemp(path.join(os.tmpdir(), 'prune-'));
  const folder = path.join(cache, 'nodesets');
  await mkdir(folder);
  const recipe = `${'a'.repeat(32)}.json`;
  await writeFile(path.join(folder, recipe), JSON.stringify({ bundle: 'used-1.mjs' }));
  for (const name of [
    'used-1.mjs',
    'used-1.manifest.json',
    'old-1.mjs',
    'old-1.manifest.json',
    'young-1.mjs',
  ])
    await writeFile(path.join(folder, name), '');
  const longAgo = new Date('2020-01-01');
  for (const name of [recipe, 'used-1.mjs', 'used-1.manifest.json', 'old-1.mjs', 'old-1.manifest.json'])
    await utimes(path.join(folder, name), longAgo, longAgo);
  expect([...(await pruneNodesetCache(cache, Date.now()))].sort()).toEqual([
    'old-1.manifest.json',
    'old-1.mjs',
  ]);
  expect((await readdir(folder)).sort()).toEqual(
    [recipe, 'used-1.manifest.json', 'used-1.mjs', 'young-1.mjs'].sort(),
  );
  expect(await pruneNodesetCache(path.join(cache, 'nowhere'), Date.now())).toEqual([]);
  await rm(cache, { recursive: true });
});
