// The documentation as a site: everything is linked, nothing leads nowhere, no scripts.
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

interface DocsProgram {
  readonly buildDocs: (options: { folder?: string; output: string }) => Promise<{ pages: number }>;
  readonly slugOf: (heading: string) => string;
}

/** A plain program without types of its own. */
const program: string = './docs.mjs';
const { buildDocs, slugOf } = (await import(program)) as DocsProgram;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'docs '));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(pages: Readonly<Record<string, string>>): Promise<string> {
  const sources = path.join(folder, 'docs');
  await mkdir(sources, { recursive: true });
  for (const [name, text] of Object.entries(pages)) await writeFile(path.join(sources, name), text);
  return sources;
}

it('the documentation builds: every page is in the navigation, every link and anchor leads somewhere', async () => {
  const output = path.join(folder, 'site');
  const { pages } = await buildDocs({ output });
  expect(pages).toBeGreaterThan(20);
  const files = (await readdir(output, { recursive: true })).filter((file) => file.endsWith('.html'));
  expect(files).toHaveLength(pages);
  for (const file of files) {
    const html = await readFile(path.join(output, file), 'utf8');
    expect(html).not.toMatch(/<script|\son\w+=|style=|https?:\/\/[^"]*\.css/);
    expect(html).toContain('aria-current="page"');
  }
});

it('a page that nobody links, a link and an anchor to nothing are named', async () => {
  const sources = await write({
    'index.md': '# Home\n\n[gone](gone.md) [there](glossary.md#nothing) [fine](glossary.md#words-of-ours)\n',
    'glossary.md': '# Glossary\n\n## Words of ours\n',
    'lost.md': '# Lost\n',
  });
  const building = buildDocs({ folder: sources, output: path.join(folder, 'site') });
  await expect(building).rejects.toThrow(
    /lost\.md is not in the navigation[\s\S]*gone\.md, which does not exist[\s\S]*#nothing: no such heading/,
  );
  await expect(building).rejects.not.toThrow('words-of-ours');
});

it('text of a page is shown, never run', async () => {
  const sources = await write({ 'index.md': '# A <b>title</b>\n\n<script>alert(1)</script>\n' });
  await buildDocs({ folder: sources, output: path.join(folder, 'site') });
  const html = await readFile(path.join(folder, 'site/index.html'), 'utf8');
  expect(html).toContain('&lt;script&gt;');
  expect(html).not.toContain('<script');
});

it('anchors are those of GitHub', () => {
  expect(slugOf('Where a process runs: `docker`, Ray')).toBe('where-a-process-runs-docker-ray');
});
