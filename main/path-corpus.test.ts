// Every place that turns a name from outside into a path, against the names that lead elsewhere: absolute, upwards,
// encoded, with drive letters and devices, and through links.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StudioError } from './base/errors.ts';
import { resolveFile } from './hosts/web/static-files.ts';
import { createMediaFiles, type MediaFiles } from './media-files.ts';
import type { RunStore } from './store/ports.ts';
import { openSampleStore } from './store/testing/sample-store.ts';

let folder: string;
let media: MediaFiles;

const secret = 'secret.json';
const upwards = [
  '..',
  '.',
  '../..',
  '..\\..',
  '....//',
  '.../...',
  '..;/',
  '%2e%2e',
  '%252e%252e',
  '..%2f..',
];
const corpus: readonly string[] = [
  ...upwards.map((step) => `${step}/${secret}`),
  ...upwards.map((step) => `assets/${step}/${secret}`),
  ...upwards.map((step) => `a/${step}/${step}/${secret}`),
  `/${secret}`,
  `//${secret}`,
  `/etc/passwd`,
  'C:\\Windows\\win.ini',
  'C:/Windows/win.ini',
  '\\\\server\\share\\file.json',
  '//server/share/file.json',
  'file:///etc/passwd',
  `nul`,
  'con.json',
  `..\u0000/${secret}`,
  `${secret}\u0000.png`,
  `%00${secret}`,
  '~/.ssh/id_rsa',
  '.hidden.json',
  'a/.git/config.json',
  `link/${secret}`,
  `linked.json`,
  `%c0%ae%c0%ae/${secret}`,
  '%',
  '%zz',
  '',
  ' ',
  'a'.repeat(5000),
  '\u202egnp.json',
];

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'paths-'));
  const outside = path.join(folder, 'outside');
  for (const name of ['outside', 'served', 'runs', 'exports', 'uploads'])
    await mkdir(path.join(folder, name));
  await writeFile(path.join(outside, secret), '{}');
  await writeFile(path.join(folder, secret), '{}');
  for (const name of ['served', 'runs', 'exports', 'uploads']) {
    await symlink(outside, path.join(folder, name, 'link'));
    await symlink(path.join(outside, secret), path.join(folder, name, 'linked.json'));
  }
  media = createMediaFiles({
    runsFolder: path.join(folder, 'runs'),
    exportsFolder: path.join(folder, 'exports'),
    uploadsFolder: path.join(folder, 'uploads'),
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** `nul` is a name like any other where it is no device. */
async function placeOf(store: RunStore, name: string): Promise<string> {
  try {
    const place = store.folderOf(name);
    const isInside = path.dirname(place) === path.dirname(store.folderOf('a')) && !/[\0/\\]/.test(name);
    return isInside ? 'refused or a folder of its own' : place;
  } catch (error) {
    return error instanceof StudioError ? 'refused or a folder of its own' : String(error);
  }
}

describe('a name that leads elsewhere', () => {
  it('is no file of the interface', async () => {
    await writeFile(path.join(folder, 'served', 'there.json'), '{}');
    expect(await resolveFile(path.join(folder, 'served'), '/there.json')).not.toBeNull();
    for (const name of corpus) {
      const found = [name, `/${name}`, `/${encodeURIComponent(name)}`].map((each) =>
        resolveFile(path.join(folder, 'served'), each),
      );
      expect([name, await Promise.all(found)]).toEqual([name, [null, null, null]]);
    }
  });

  it('is no asset and no export', async () => {
    await writeFile(path.join(folder, 'exports', 'there.csv'), 'a');
    expect(await media.resolve('/exports/there.csv')).not.toBeNull();
    for (const name of corpus)
      for (const address of [
        name,
        `/exports/${name}`,
        `/assets/${name}`,
        `/assets/run/${name}`,
        `/assets/run/key/${name}`,
      ])
        expect([address, await media.resolve(address)]).toEqual([address, null]);
  });

  it('is no upload and no run', async () => {
    await using store = await openSampleStore(path.join(folder, 'store'));
    for (const name of corpus) {
      expect(() => media.uploadPath(name)).toThrow(/no upload/);
      expect([name, await placeOf(store, name)]).toEqual([name, 'refused or a folder of its own']);
      await expect(store.readRecord(name)).rejects.toMatchObject({
        code: expect.any(String) as string,
      });
    }
  });
});
