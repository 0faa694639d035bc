// Graphs by name and by path.
import { mkdtemp, mkdir, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { GraphLibrary } from './library.ts';

const text = (description: string): string =>
  JSON.stringify({ name: 'x', description, nodes: [{ id: 'a', type: 'toy__step' }], edges: [] });
let root: string;
let library: GraphLibrary;

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'graph library '));
  for (const folder of ['library', 'workspace']) await mkdir(path.join(root, folder));
  await writeFile(path.join(root, 'library', 'agent.json'), text('shipped'));
  await writeFile(path.join(root, 'library', 'both.json'), text('shipped'));
  await writeFile(path.join(root, 'workspace', 'both.acgraph'), text('mine'));
  await writeFile(path.join(root, 'workspace', 'broken.json'), '{');
  library = new GraphLibrary({
    libraryFolder: path.join(root, 'library'),
    workspaceFolder: path.join(root, 'workspace'),
    writeFile,
  });
});

it('finds a name in the workspace before the library, and the shipped one by its prefix', async () => {
  expect((await library.load('both')).definition.description).toBe('mine');
  expect((await library.load('library:both')).definition.description).toBe('shipped');
  expect((await library.load('agent')).file).toMatchObject({ ref: 'library:agent', origin: 'library' });
  expect((await library.load(path.join(root, 'workspace', 'both.acgraph'))).file.origin).toBe('workspace');
});

it('lists all of them with what they need, also one that cannot be read', async () => {
  const entries = await library.list();
  expect(entries.map(({ file, nodesets }) => [file.origin, file.name, nodesets.join()])).toEqual([
    ['workspace', 'both', 'toy'],
    ['workspace', 'broken', ''],
    ['library', 'agent', 'toy'],
    ['library', 'both', 'toy'],
  ]);
  expect(entries[1]?.description).toMatch(/^Cannot be read/);
});

it('says which names there are, and never leaves its folders by a name', async () => {
  await expect(library.load('nothing')).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('agent') as string,
  });
  for (const name of ['../library/agent', '..', '.hidden', 'a/../../x', 'library:../agent'])
    await expect(library.load(name)).rejects.toMatchObject({ code: 'not_found' });
});

it('saves in the workspace, refuses to write what ships, and takes graphs in under a free name', async () => {
  await library.save('both', text('changed'));
  expect((await library.load('both')).definition.description).toBe('changed');
  await expect(library.save('agent', text('x'))).rejects.toMatchObject({ code: 'read_only' });
  expect((await library.add('both', text('new'))).name).toBe('both');
  expect((await library.add('both', text('newer'))).name).toBe('both 2');
  expect((await library.add('../../etc/x', text('y'))).path).toBe(
    path.join(root, 'workspace', '_.._etc_x.json'),
  );
  expect(await readFile(path.join(root, 'library', 'agent.json'), 'utf8')).toBe(text('shipped'));
  await expect(library.add('junk', 'junk')).rejects.toMatchObject({ code: 'invalid_input' });
});
