// The hash that stands for a folder of code.
import { execFileSync } from 'node:child_process';
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

it('is refused where what does not count would run: a link or an import into .git, a #name of a package around it', async () => {
  await using folder = await temporaryFolder();
  const root = join(folder.path, 'nodesets');
  await mkdir(join(root, '.git'), { recursive: true });
  await writeFile(join(root, '.git', 'hidden.ts'), 'export {};\n');
  const nodeset = join(root, 'nodeset.ts');
  await writeFile(nodeset, "import './.git/hidden.ts';\n");
  const refused = { problem: expect.stringMatching(/from outside it$/) as string };
  expect(await contentOfFolder(fileSystem, root)).toEqual(refused);
  await writeFile(nodeset, "import '#name';\n");
  await writeFile(join(folder.path, 'package.json'), '{}');
  expect(await contentOfFolder(fileSystem, root)).toEqual(refused);
  await writeFile(join(root, 'package.json'), '{}');
  expect(await contentOfFolder(fileSystem, root)).toMatchObject({ files: 2 });
  await symlink(join(root, '.git', 'hidden.ts'), join(root, 'link.ts'));
  expect(await contentOfFolder(fileSystem, root)).toMatchObject({ problem: expect.stringContaining('link') });
});

it('is refused for Python that is imported by name from a folder around it', async () => {
  await using folder = await temporaryFolder();
  const root = join(folder.path, 'workspace', 'nodesets');
  await mkdir(join(root, 'one'), { recursive: true });
  await writeFile(join(root, 'one', 'nodeset.ts'), 'export {};\n');
  expect(await contentOfFolder(fileSystem, root)).toMatchObject({ files: 1 });
  await writeFile(join(root, 'one', '__init__.py'), '');
  const refused = { problem: expect.stringContaining('workspace.nodesets') as string };
  expect(await contentOfFolder(fileSystem, root)).toEqual(refused);
  expect(await contentOfFolder(fileSystem, join(root, 'one'))).toEqual(refused);
  expect(await contentOfFolder(fileSystem, join(folder.path, 'workspace'))).toEqual(refused);
  expect(await contentOfFolder(fileSystem, folder.path)).toMatchObject({ files: 2 });
});

it.skipIf(process.platform === 'win32')(
  'is refused, and waits for nobody, where there is a pipe or what cannot be read',
  async () => {
    await using folder = await temporaryFolder();
    const pipe = join(folder.path, 'pipe.py');
    execFileSync('mkfifo', [pipe]);
    expect(await contentOfFolder(fileSystem, folder.path)).toEqual({
      problem: 'pipe.py is neither a file nor a folder',
    });
    const closed = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    const unreadable = { ...fileSystem, readFile: () => Promise.reject(closed) };
    await rm(pipe);
    await writeFile(join(folder.path, 'nodeset.py'), '');
    expect(await contentOfFolder(unreadable, folder.path)).toEqual({
      problem: 'it cannot be read: EACCES: permission denied',
    });
  },
);

it('takes no longer than its length to look through a script of blanks', async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'nodeset.ts'), `import${' '.repeat(300_000)}x\n`);
  const startMs = performance.now();
  expect(await contentOfFolder(fileSystem, folder.path)).toMatchObject({ files: 1 });
  expect(performance.now() - startMs).toBeLessThan(2000);
});
