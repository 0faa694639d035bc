import { mkdtemp, mkdir, readFile, readdir, rm, writeFile, cp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodesetCompiler } from './compile.ts';

const nodesets = fileURLToPath(new URL('./testing/nodesets', import.meta.url));
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'compile 漢-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function workspaceWithCounter(): Promise<{ name: string; entry: string }> {
  const entry = path.join(folder, 'counter.ts');
  await cp(path.join(nodesets, 'counter.ts'), entry);
  await cp(path.join(nodesets, 'shared'), path.join(folder, 'shared'), { recursive: true });
  return { name: 'counter', entry };
}

describe('the compiler', () => {
  it('bundles what a nodeset imports into one module and leaves agentcanvas to the app', async () => {
    const compiled = await createNodesetCompiler({ cacheFolder: folder }).compile(
      await workspaceWithCounter(),
    );
    const code = await readFile(compiled.bundlePath, 'utf8');
    expect(code).toContain('at ${position}');
    expect(code).toMatch(/from "file:\/\/\/.*agentcanvas\.ts"/);
    expect(code).not.toMatch(/from "\.\//);
  });

  it('takes an unchanged nodeset from the cache, and a change of any input makes another bundle', async () => {
    const source = await workspaceWithCounter();
    const first = await createNodesetCompiler({ cacheFolder: folder }).compile(source);
    // A second compilation would overwrite the marker.
    const original = await readFile(first.bundlePath, 'utf8');
    await writeFile(first.bundlePath, '// marker');
    const again = await createNodesetCompiler({ cacheFolder: folder }).compile(source);
    expect(again).toEqual(first);
    expect(await readFile(again.bundlePath, 'utf8')).toBe('// marker');
    await writeFile(first.bundlePath, original);
    await writeFile(
      path.join(folder, 'shared/position.ts'),
      'export const describePosition = (at: number): string => `now ${at}`;',
    );
    const changed = await createNodesetCompiler({ cacheFolder: folder }).compile(source);
    expect(changed.hash).not.toBe(first.hash);
    expect(await readFile(first.bundlePath, 'utf8')).toContain('at ${position}');
    expect(await readFile(changed.bundlePath, 'utf8')).toContain('now ${at}');
  });

  it('builds again when the cached bundle is gone or the recipe is torn', async () => {
    const source = await workspaceWithCounter();
    const first = await createNodesetCompiler({ cacheFolder: folder }).compile(source);
    await rm(first.bundlePath);
    for (const file of await readdir(path.dirname(first.bundlePath)))
      await writeFile(path.join(path.dirname(first.bundlePath), file), '{"bun');
    const again = await createNodesetCompiler({ cacheFolder: folder }).compile(source);
    expect(again.hash).toBe(first.hash);
    expect(await readFile(again.bundlePath, 'utf8')).toContain('at ${position}');
  });

  it('survives many compilations of one source at once, leaving no partial file', async () => {
    const source = await workspaceWithCounter();
    const compilers = Array.from({ length: 6 }, () => createNodesetCompiler({ cacheFolder: folder }));
    const results = await Promise.all(
      compilers.flatMap((compiler) => [compiler.compile(source), compiler.compile(source)]),
    );
    expect(new Set(results.map(({ hash }) => hash)).size).toBe(1);
    const files = await readdir(path.join(folder, 'nodesets'));
    expect(files.filter((file) => file.endsWith('.part'))).toEqual([]);
    expect(files).toHaveLength(2);
  });

  it('reports each mistake with file, line and column', async () => {
    const entry = path.join(folder, 'broken.ts');
    await writeFile(entry, 'import { nothing } from "./missing.ts";\nexport default {\n');
    await expect(
      createNodesetCompiler({ cacheFolder: folder }).compile({ name: 'broken', entry }),
    ).rejects.toThrow(new RegExp(`${entry}:3:1: `));
  });

  it('says how to get a package that is not installed', async () => {
    const entry = path.join(folder, 'wants.ts');
    await writeFile(entry, 'import x from "no-such-package";\nexport default x;\n');
    await expect(
      createNodesetCompiler({ cacheFolder: folder }).compile({ name: 'wants', entry }),
    ).rejects.toThrow(
      /wants\.ts:1:\d+: the package "no-such-package" is not installed; run `npm install no-such-package`/,
    );
  });

  it('leaves installed packages where they are and notices a new version of one', async () => {
    const entry = path.join(folder, 'uses.ts');
    const home = path.join(folder, 'node_modules', 'tiny');
    await mkdir(home, { recursive: true });
    await writeFile(
      path.join(home, 'package.json'),
      '{"name":"tiny","version":"1.0.0","type":"module","main":"index.js"}',
    );
    await writeFile(path.join(home, 'index.js'), 'export const tiny = 1;');
    await writeFile(entry, 'import { tiny } from "tiny";\nexport default tiny;\n');
    const compiler = createNodesetCompiler({ cacheFolder: folder });
    const first = await compiler.compile({ name: 'uses', entry });
    expect(await readFile(first.bundlePath, 'utf8')).toMatch(
      /from "file:\/\/\/.*node_modules\/tiny\/index\.js"/,
    );
    await writeFile(
      path.join(home, 'package.json'),
      '{"name":"tiny","version":"1.0.1","type":"module","main":"index.js"}',
    );
    expect((await compiler.compile({ name: 'uses', entry })).hash).not.toBe(first.hash);
  });
});
