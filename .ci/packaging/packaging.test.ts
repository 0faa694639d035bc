// What an installer would contain, packed around a stand-in for Electron's binary, and that the packed engine works
// away from this checkout.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { listPackage } from '@electron/asar';
import { FuseState, FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import { beforeAll, describe, expect, it } from 'vitest';
import { updateFeed } from '../update-feed.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const packed = path.join(
  root,
  'release',
  `${process.platform === 'win32' ? 'win' : process.platform}-unpacked`,
);
const resources = path.join(packed, 'resources');

describe('the feed of updates', () => {
  const repository = { GITHUB_REPOSITORY: 'some-owner/some-repository' };

  it('is the releases of the repository that signs, and nothing in an unsigned build', () => {
    expect(updateFeed({ ...repository, AGENTCANVAS_SIGNED: '1' })).toEqual({
      provider: 'github',
      owner: 'some-owner',
      repo: 'some-repository',
      releaseType: 'release',
    });
    for (const signed of [undefined, '', '0', 'true'])
      expect(updateFeed({ ...repository, AGENTCANVAS_SIGNED: signed })).toBeNull();
  });

  it('is never made up: a signed build without a repository is not packed', () => {
    for (const GITHUB_REPOSITORY of [undefined, '', 'owner', '/name', 'a/b/c'])
      expect(() => updateFeed({ GITHUB_REPOSITORY, AGENTCANVAS_SIGNED: '1' })).toThrow('GITHUB_REPOSITORY');
  });

  it('has what each system updates from: a zip on macOS, the installer on Windows', async () => {
    const targets = await readFile(path.join(root, 'electron-builder.yml'), 'utf8');
    expect(targets).toMatch(/^mac:\n(?: {2}.*\n)*? {2}target: \[dmg, zip\]$/m);
    expect(targets).toMatch(/^win:\n {2}target: \[nsis\]$/m);
    expect(targets).not.toMatch(/^publish:/m);
    const workflow = await readFile(path.join(root, '.github/workflows/release.yml'), 'utf8');
    for (const file of ['release/*.zip', 'release/*.blockmap', 'release/latest*.yml'])
      expect(workflow).toContain(file);
  });
});

/** The stand-in is laid out like Electron for Linux. */
describe.skipIf(process.platform !== 'linux')('the packed app', () => {
  beforeAll(async () => {
    await run(process.execPath, ['.ci/build.mjs', 'engine', 'renderer', 'electron'], { cwd: root });
    await run(process.execPath, ['.ci/package.mjs', '--dir', '--stub'], { cwd: root });
  });

  it('holds the shell and nothing else in its asar', () => {
    const files = listPackage(path.join(resources, 'app.asar'), { isPack: false }).filter((file) =>
      /\.\w+$/.test(file),
    );
    expect(files.toSorted()).toEqual([
      '/dist/electron/main.mjs',
      '/dist/electron/preload.cjs',
      '/package.json',
    ]);
  });

  it('has engine, interface, Python host and library as plain files, without sources, maps and tests', async () => {
    const files = (await readdir(resources, { recursive: true })).map((file) =>
      file.split(path.sep).join('/'),
    );
    for (const file of [
      'engine/cli.mjs',
      'engine/studio.mjs',
      'engine/node-host.mjs',
      'engine/reaper-main.mjs',
      'engine/bulk-worker.mjs',
      'engine/agentcanvas.mjs',
      'renderer/index.html',
      'resources/graphs/minivln_random.json',
      'resources/nodesets/minivln/nodeset.ts',
      'resources/python/agentcanvas_host/__main__.py',
      `engine/node_modules/onnxruntime-node/bin/napi-v6/${process.platform}/${process.arch}/onnxruntime_binding.node`,
    ]) {
      expect(files).toContain(file);
    }
    expect(files.filter((file) => /\.map$|\.test\.ts$|__pycache__|\.tsbuildinfo$/.test(file))).toEqual([]);
    const bindings = files.filter((file) => file.endsWith('onnxruntime_binding.node'));
    expect(bindings).toHaveLength(1);
  });

  it('is small', async () => {
    const files = await readdir(resources, { recursive: true, withFileTypes: true });
    const sizes = await Promise.all(
      files.filter((entry) => entry.isFile()).map((entry) => stat(path.join(entry.parentPath, entry.name))),
    );
    const megabytes = sizes.reduce((sum, { size }) => sum + size, 0) / 2 ** 20;
    expect(megabytes).toBeGreaterThan(10);
    expect(megabytes).toBeLessThan(120);
  });

  it('has every fuse in the safe position but the one the engine needs', async () => {
    const wire = await getCurrentFuseWire(path.join(packed, 'agentcanvas'));
    expect({
      runAsNode: wire[FuseV1Options.RunAsNode],
      cookies: wire[FuseV1Options.EnableCookieEncryption],
      nodeOptions: wire[FuseV1Options.EnableNodeOptionsEnvironmentVariable],
      inspect: wire[FuseV1Options.EnableNodeCliInspectArguments],
      integrity: wire[FuseV1Options.EnableEmbeddedAsarIntegrityValidation],
      onlyAsar: wire[FuseV1Options.OnlyLoadAppFromAsar],
      fileProtocol: wire[FuseV1Options.GrantFileProtocolExtraPrivileges],
    }).toEqual({
      runAsNode: FuseState.ENABLE,
      cookies: FuseState.ENABLE,
      nodeOptions: FuseState.DISABLE,
      inspect: FuseState.DISABLE,
      integrity: FuseState.ENABLE,
      onlyAsar: FuseState.ENABLE,
      fileProtocol: FuseState.DISABLE,
    });
  });

  it('has no feed of updates, because it is not signed', async () => {
    expect(await readdir(resources)).not.toContain('app-update.yml');
  });

  it('has one where it is signed, which names the repository', async () => {
    const output = await mkdtemp(path.join(os.tmpdir(), 'signed app '));
    const env = {
      ...process.env,
      AGENTCANVAS_SIGNED: '1',
      GITHUB_REPOSITORY: 'some-owner/some-repository',
      AGENTCANVAS_PACKAGE_OUTPUT: output,
    };
    await run(process.execPath, ['.ci/package.mjs', '--dir', '--stub'], { cwd: root, env });
    const folder = (await readdir(output)).find((name) => name.endsWith('-unpacked')) ?? '';
    const feed = await readFile(path.join(output, folder, 'resources', 'app-update.yml'), 'utf8');
    expect(feed).toContain('provider: github\n');
    expect(feed).toContain('owner: some-owner\n');
    expect(feed).toContain('repo: some-repository\n');
    await rm(output, { recursive: true, force: true });
  });

  it('runs an evaluation from a folder that knows nothing of this checkout', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'packed app '));
    await cp(resources, path.join(folder, 'resources'), { recursive: true });
    const program = path.join(folder, 'resources', 'engine', 'cli.mjs');
    const environment = { ...process.env, AGENTCANVAS_HOME: path.join(folder, 'home'), NODE_PATH: '' };
    const args = [
      program,
      '--workspace',
      path.join(folder, 'ws'),
      'eval',
      'minivln_expert',
      '--split',
      'val_unseen',
      '--episodes',
      '3',
      '--workers',
      '2',
      '--json',
    ];
    const { stdout } = await run(process.execPath, args, { env: environment, cwd: folder });
    const last: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({
      event: 'run.finished',
      status: 'completed',
      counts: { completed: 3 },
      metrics: { success: { mean: 1 } },
    });
  });

  it('says what it is: version, file association, licence', async () => {
    const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
      version: string;
      main: string;
    };
    expect(manifest.main).toBe('dist/electron/main.mjs');
    expect(await readFile(path.join(root, 'electron-builder.yml'), 'utf8')).toContain('ext: acgraph');
  });
});
