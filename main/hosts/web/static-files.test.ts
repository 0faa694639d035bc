// Which files a host shows to everybody: the interface, and the documentation beside it.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicFolder, resolveFile } from './static-files.ts';

let root: string;
let renderer: string;

beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'static '));
  renderer = path.join(root, 'renderer');
  for (const [file, text] of Object.entries({
    'renderer/index.html': 'interface',
    'docs/index.html': 'documentation',
    'docs/adr/index.html': 'decisions',
    'docs/docs.css': '',
    'docs/notes.md': '',
    'secret.html': '',
  })) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
  await symlink(path.join(root, 'secret.html'), path.join(root, 'docs/link.html'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function shown(asked: string): Promise<string | null> {
  const { folder, urlPath } = publicFolder(renderer, asked);
  const file = await resolveFile(folder, urlPath);
  return file === null ? null : path.relative(root, file);
}

describe('public files', () => {
  it.each([
    ['/', 'renderer/index.html'],
    ['/docs/', 'docs/index.html'],
    ['/docs/index.html', 'docs/index.html'],
    ['/docs/adr/', 'docs/adr/index.html'],
    ['/docs/docs.css', 'docs/docs.css'],
  ])('%s is %s', async (asked, file) => {
    expect(await shown(asked)).toBe(file);
  });

  it.each([
    '/docs/../secret.html',
    '/docs/%2e%2e/secret.html',
    '/docs/link.html',
    '/docs/notes.md',
    '/docs//index.html',
    '/docs/gone.html',
    '/docsindex.html',
  ])('%s is refused', async (asked) => {
    expect(await shown(asked)).toBeNull();
  });
});
