import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findNodesets } from './scan.ts';

let folder: string;
const source = 'export default { name: "x" };';

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'scan-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function put(...files: readonly string[]): Promise<void> {
  for (const file of files) {
    const full = path.join(folder, file);
    await mkdir(path.dirname(full), { recursive: true });
    await writeFile(full, source);
  }
}

describe('finding nodesets', () => {
  it('takes single files and folders with a nodeset file, and passes over helpers, tests and declarations', async () => {
    await put(
      'lib/alone.ts',
      'lib/boxed/nodeset.ts',
      'lib/plain.mjs',
      'lib/plain.test.ts',
      'lib/types.d.ts',
      'lib/empty/readme.md',
      'lib/.hidden.ts',
      'lib/node_modules/nodeset.ts',
    );
    await writeFile(path.join(folder, 'lib/helper.ts'), 'export const helper = 1;');
    const { sources, bad } = await findNodesets([{ folder: path.join(folder, 'lib'), origin: 'library' }]);
    expect(sources.map(({ name }) => name)).toEqual(['alone', 'boxed', 'plain']);
    expect(sources[1]).toMatchObject({
      path: path.join(folder, 'lib/boxed'),
      entry: path.join(folder, 'lib/boxed/nodeset.ts'),
      language: 'typescript',
    });
    expect(bad).toEqual([]);
  });

  it('lets the workspace replace what the library brings, and finds nothing in folders that do not exist', async () => {
    await put('lib/a.ts', 'work/a.ts');
    const folders = [
      { folder: path.join(folder, 'lib'), origin: 'library' as const },
      { folder: path.join(folder, 'work'), origin: 'workspace' as const },
      { folder: path.join(folder, 'nowhere'), origin: 'workspace' as const },
    ];
    const { sources } = await findNodesets(folders);
    expect(sources).toMatchObject([{ name: 'a', origin: 'workspace' }]);
  });

  it('refuses two of one name in a folder and names both', async () => {
    await put('lib/a.ts', 'lib/a/nodeset.ts');
    const { sources, bad } = await findNodesets([{ folder: path.join(folder, 'lib'), origin: 'library' }]);
    expect(sources).toEqual([]);
    expect(bad[0]?.error.message).toMatch(/two nodesets are named "a": .*a.* and .*a.*; rename one/);
  });
});
