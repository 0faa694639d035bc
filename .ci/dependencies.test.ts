// What is installed and shipped: from the lock file only, without install scripts nobody allowed, with every runtime
// dependency named in docs/architecture.md, and with a bill of materials.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { writeBillOfMaterials } from './sbom.mjs';

const root = path.resolve(import.meta.dirname, '..');
const readJson = async (file: string): Promise<unknown> =>
  JSON.parse(await readFile(path.join(root, file), 'utf8'));
const manifest = z
  .object({ dependencies: z.record(z.string(), z.string()), allowScripts: z.record(z.string(), z.boolean()) })
  .parse(await readJson('package.json'));
const lock = z
  .object({
    packages: z.record(
      z.string(),
      z.looseObject({
        version: z.string().optional(),
        integrity: z.string().optional(),
        resolved: z.string().optional(),
        hasInstallScript: z.boolean().optional(),
        link: z.boolean().optional(),
      }),
    ),
  })
  .parse(await readJson('package-lock.json'));
const installed = Object.entries(lock.packages).filter(([place]) => place !== '');
const nameOf = (place: string): string => place.replace(/^.*node_modules\//, '');

describe('the dependencies', () => {
  it('are fixed by the lock file, each with the hash of its content', async () => {
    expect(installed.length).toBeGreaterThan(100);
    const loose = installed.filter(([, { integrity }]) => !/^sha(?:512|256|1)-/.test(integrity ?? ''));
    expect(loose.map(([place]) => place)).toEqual([]);
    // Where a package comes from is the user's registry, or git and files would be there too.
    const elsewhere = installed.filter(
      ([, { resolved, link }]) => link === true || /^(?:git|file)/.test(resolved ?? ''),
    );
    expect(elsewhere).toEqual([]);
    expect(await readFile(path.join(root, '.ci/install.mjs'), 'utf8')).toMatch(/\[\.\.\.args, 'ci',/);
  });

  it('run no install script that package.json does not decide on', () => {
    const withScript = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true);
    const names = new Set(withScript.map(([place]) => nameOf(place)));
    expect(names.size).toBeGreaterThan(0);
    expect([...names].filter((name) => !(name in manifest.allowScripts))).toEqual([]);
    // None needs to run: what they would fetch is in the packages, or fetched on demand.
    expect(Object.values(manifest.allowScripts).filter(Boolean)).toEqual([]);
  });

  it('of the running app are those of docs/architecture.md, one sentence each', async () => {
    const page = await readFile(path.join(root, 'docs/architecture.md'), 'utf8');
    const section = page.split('## Runtime dependencies')[1]?.split('\n## ')[0] ?? '';
    const rows = [...section.matchAll(/^\| (?<name>[^|]+?) \| (?<sentence>[^|]+?) \|$/gm)].slice(1);
    const named = rows
      .map(({ groups }) => groups?.['name'] ?? '')
      .filter((name) => !/^-+$/.test(name))
      .flatMap((name) => name.split(/, | and /).map((each) => each.replaceAll('`', '').trim()));
    expect(named.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(
      Object.keys(manifest.dependencies).toSorted((a, b) => (a < b ? -1 : 1)),
    );
    for (const { groups } of rows) expect(groups?.['sentence']?.length).toBeGreaterThan(5);
  });
});

it('the bill of materials names every runtime dependency as locked', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sbom-'));
  try {
    const bill = z
      .object({
        bomFormat: z.literal('CycloneDX'),
        components: z.array(z.looseObject({ name: z.string(), version: z.string(), purl: z.string() })),
      })
      .parse(JSON.parse(await readFile(await writeBillOfMaterials(folder), 'utf8')));
    const listed = new Set(bill.components.map(({ purl }) => decodeURIComponent(purl)));
    for (const name of Object.keys(manifest.dependencies))
      expect(listed).toContain(`pkg:npm/${name}@${lock.packages[`node_modules/${name}`]?.version}`);
    expect(bill.components.length).toBeGreaterThan(100);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
