// The hash that stands for a folder of code.
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { contentOfFolder } from './folder-content.ts';
import { nodeFileSystem as fileSystem } from './node-file-system.ts';
import { temporaryFolder } from './testing/sample-store.ts';

it('changes with every byte, name and file of the folder, bytecode and hidden files included', async () => {
  await using folder = await temporaryFolder();
  const root = join(folder.path, 'a b ☂');
  await mkdir(join(root, 'deep', '__pycache__'), { recursive: true });
  await writeFile(join(root, 'nodeset.py'), 'x = 1\n');
  await writeFile(join(root, 'deep', 'helper.py'), 'y = 1\n');
  const seen = new Set<string>();
  const look = async (): Promise<void> => {
    const content = await contentOfFolder(fileSystem, root);
    seen.add('hash' in content ? content.hash : content.problem);
  };
  await look();
  await look();
  expect(seen.size).toBe(1);
  const edits = ['deep/helper.py', 'deep/new.py', 'deep/__pycache__/helper.cpython-312.pyc', '.hidden'];
  for (const [index, edited] of edits.entries()) {
    await writeFile(join(root, edited), `changed ${index}`);
    await look();
  }
  await rm(join(root, 'deep', 'new.py'));
  await look();
  expect(seen.size).toBe(edits.length + 2);
});

it('is refused where the code reaches out of the folder, or the folder is too large', async () => {
  await using folder = await temporaryFolder();
  const [root, outside] = [join(folder.path, 'nodesets'), join(folder.path, 'outside')];
  await mkdir(join(root, 'one'), { recursive: true });
  await mkdir(outside);
  const inside = "import { a } from '../shared.ts';\nimport z from 'zod';\n";
  await writeFile(join(root, 'one', 'nodeset.ts'), inside);
  await writeFile(join(root, 'shared.ts'), 'export const a = 1;\n');
  expect(await contentOfFolder(fileSystem, root)).toMatchObject({ files: 2 });
  for (const line of [
    "import '../../outside/x.ts';",
    "await import( '/etc/x.mjs' );",
    'export * from "file:///x.js";',
  ]) {
    await writeFile(join(root, 'one', 'nodeset.ts'), `${inside}${line}\n`);
    const content = await contentOfFolder(fileSystem, root);
    expect(content).toEqual({
      problem: expect.stringMatching(/nodeset\.ts imports .* from outside/) as string,
    });
  }
  await writeFile(join(root, 'one', 'nodeset.ts'), inside);
  const tooMany = await contentOfFolder(fileSystem, root, { files: 1, bytes: 1e6 });
  expect(tooMany).toEqual({ problem: 'it holds more than 1 files or 1 MB' });
  await symlink(outside, join(root, 'link'));
  expect(await contentOfFolder(fileSystem, root)).toEqual({ problem: 'link is a link that leads out of it' });
});
