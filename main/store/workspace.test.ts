// The workspace: where it is, who owns it, settings that survive damage, and trust that follows no links.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { nodeFileSystem } from './node-file-system.ts';
import { isSameProcessAlive, ownIdentity } from './process-identity.ts';
import { collectProvenance } from './provenance.ts';
import { temporaryFolder } from './testing/sample-store.ts';
import { acquireWorkspaceLock } from './workspace-lock.ts';
import { contains, findOrMakeWorkspace, openSettings, userFolder } from './workspace.ts';
import { openTrustList } from './trust-list.ts';

const fileSystem = nodeFileSystem;
const now = (): number => 1_700_000_000_000;

describe('findOrMakeWorkspace', () => {
  it('takes the named folder, else the nearest one upwards, else the one in the home folder', async () => {
    await using folder = await temporaryFolder();
    const homeFolder = join(folder.path, 'home');
    const deep = join(folder.path, 'project', 'a', 'b');
    await mkdir(deep, { recursive: true });
    const usual = await findOrMakeWorkspace({ fileSystem, startFolder: deep, homeFolder });
    expect(usual).toMatchObject({ folder: join(homeFolder, 'AgentCanvas'), isDefault: true });
    const named = await findOrMakeWorkspace({
      fileSystem,
      startFolder: join(folder.path, 'project'),
      explicit: '.',
      homeFolder,
    });
    expect(named).toMatchObject({
      folder: join(folder.path, 'project'),
      isDefault: false,
      file: { name: 'project' },
    });
    expect((await readdir(named.folder)).sort()).toEqual([
      'a',
      'agentcanvas.json',
      'graphs',
      'nodesets',
      'outputs',
    ]);
    const nearest = await findOrMakeWorkspace({ fileSystem, startFolder: deep, homeFolder });
    expect(nearest.folder).toBe(named.folder);
  });

  it('refuses a damaged workspace file and a file in place of the folder, and overwrites neither', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'agentcanvas.json');
    await writeFile(path, '{"name": ');
    await expect(findOrMakeWorkspace({ fileSystem, startFolder: folder.path })).rejects.toMatchObject({
      code: 'corrupt',
    });
    expect(await readFile(path, 'utf8')).toBe('{"name": ');
    await expect(findOrMakeWorkspace({ fileSystem, startFolder: '/', explicit: path })).rejects.toMatchObject(
      { code: 'invalid_input' },
    );
  });
});

describe('ownership', () => {
  async function startOwner(folder: string): Promise<{ child: ChildProcess; said: string }> {
    const script = fileURLToPath(new URL('./testing/own-workspace.ts', import.meta.url));
    const child = spawn(process.execPath, [script, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [said] = await once(child.stdout, 'data');
    return { child, said: String(said).trim() };
  }

  it('belongs to one process; a killed owner is found stale at once', async () => {
    await using folder = await temporaryFolder();
    const { child, said } = await startOwner(folder.path);
    expect(said).toBe('owned');
    const busy = await acquireWorkspaceLock({ fileSystem, folder: folder.path, now });
    expect(busy).toMatchObject({
      kind: 'busy',
      alive: true,
      owner: { pid: child.pid, address: '/run/some.sock' },
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const taken = await acquireWorkspaceLock({ fileSystem, folder: folder.path, now });
    expect(taken).toMatchObject({ kind: 'owned', lock: { staleOwner: { pid: child.pid } } });
    expect(await acquireWorkspaceLock({ fileSystem, folder: folder.path, now })).toMatchObject({
      kind: 'busy',
      owner: { pid: process.pid },
    });
    const second = await startOwner(folder.path);
    expect(second.said).toBe('busy');
    second.child.kill();
    await once(second.child, 'exit');
    await (taken.kind === 'owned' ? taken.lock[Symbol.asyncDispose]() : undefined);
    const again = await acquireWorkspaceLock({ fileSystem, folder: folder.path, now });
    expect(again).toMatchObject({ kind: 'owned', lock: { staleOwner: null } });
    await (again.kind === 'owned' ? again.lock[Symbol.asyncDispose]() : undefined);
  });

  it('takes a process for the same only by pid, start time and boot', () => {
    const own = ownIdentity();
    expect(isSameProcessAlive(own)).toBe(true);
    expect(isSameProcessAlive({ ...own, pid: 2 ** 22 + 1 })).toBe(false);
    expect(isSameProcessAlive({ ...own, startTicks: 1 })).toBe(own.startTicks === null);
    expect(isSameProcessAlive({ ...own, bootId: 'another boot' })).toBe(false);
  });
});

describe('settings', () => {
  it('use the last good copy when the file is damaged, keep the damaged one, and never write defaults over it', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'settings.json');
    const file = openSettings({ fileSystem, now }, path);
    const fresh = await file.read();
    expect(fresh).toMatchObject({ source: 'defaults', problem: null, value: { deadlines: { stepSec: 60 } } });
    expect(await readdir(folder.path)).toEqual([]);
    await file.write({ ...fresh.value, python: '/usr/bin/python3' });
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ deadlines: { step_sec: 60 } });
    await writeFile(path, '{"python": "/a');
    const recovered = await file.read();
    expect(recovered).toMatchObject({ source: 'last_good', value: { python: '/usr/bin/python3' } });
    expect(recovered.problem).toContain('settings.json');
    expect((await readdir(folder.path)).sort()).toEqual([
      'settings.json.damaged-1700000000000',
      'settings.json.last-good',
    ]);
    expect(await readFile(`${path}.damaged-1700000000000`, 'utf8')).toBe('{"python": "/a');
  });

  it('take what a person wrote by hand as the new last good copy', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'settings.json');
    const file = openSettings({ fileSystem, now }, path);
    await writeFile(path, '{"process_limits": {"crash_budget": 7}}');
    expect((await file.read()).value.processLimits.crashBudget).toBe(7);
    await rm(path);
    expect(await file.read()).toMatchObject({
      source: 'last_good',
      value: { processLimits: { crashBudget: 7 } },
    });
  });
});

describe('trust', () => {
  it('covers a folder and what is in it, outlives the process, and is not fooled by links or names', async () => {
    await using folder = await temporaryFolder();
    const [trusted, other, library] = ['trusted', 'trusted-not', 'library'].map((name) =>
      join(folder.path, name),
    );
    for (const made of [trusted, other, library]) await mkdir(join(made!, 'inner'), { recursive: true });
    const home = join(folder.path, 'user');
    const list = openTrustList({ fileSystem, now }, home, [library!]);
    expect(await list.trusts(trusted!)).toBe(false);
    await list.add(`${trusted}/`);
    const reopened = openTrustList({ fileSystem, now }, home, [library!]);
    expect(await reopened.folders()).toEqual([trusted]);
    expect(
      await Promise.all(
        [trusted!, join(trusted!, 'inner', 'x.json'), library!].map((path) => reopened.trusts(path)),
      ),
    ).toEqual([true, true, true]);
    expect(await reopened.trusts(other!)).toBe(false);
    expect(await reopened.trusts(join(trusted!, '..', 'trusted-not', 'inner'))).toBe(false);
    await symlink(other!, join(trusted!, 'link'));
    expect(await reopened.trusts(join(trusted!, 'link', 'inner'))).toBe(false);
    await reopened.remove(trusted!);
    expect(await reopened.trusts(trusted!)).toBe(false);
    expect(contains('/a/b', '/a/b/..c')).toBe(true);
  });

  it('loses none of several changes at once, and what was removed meanwhile does not come back', async () => {
    await using folder = await temporaryFolder();
    const list = openTrustList({ fileSystem, now }, join(folder.path, 'home'));
    const at = (name: string): string => join(folder.path, name);
    await list.add(at('old'));
    await list.addContent({ path: at('old'), hash: 'a' });
    await Promise.all([
      list.add(at('one')),
      list.remove(at('old')),
      list.addContent({ path: at('two'), hash: 'b' }),
      list.removeContent(at('old')),
      list.add(at('three')),
    ]);
    expect(await list.folders()).toEqual([at('one'), at('three')]);
    expect(await list.contents()).toEqual([{ path: at('two'), hash: 'b' }]);
  });

  it('is kept in the user folder of the platform, or where AGENTCANVAS_HOME says', () => {
    expect(userFolder({ AGENTCANVAS_HOME: '/x' }, 'linux', '/home/me')).toBe('/x');
    expect(userFolder({}, 'linux', '/home/me')).toBe('/home/me/.config/agentcanvas');
    expect(userFolder({ XDG_CONFIG_HOME: 'relative' }, 'linux', '/home/me')).toBe(
      '/home/me/.config/agentcanvas',
    );
    expect(userFolder({}, 'darwin', '/Users/me')).toBe('/Users/me/Library/Application Support/AgentCanvas');
  });
});

describe('provenance', () => {
  it('says what the run ran on, and leaves out what does not answer', async () => {
    await using folder = await temporaryFolder();
    const found = await collectProvenance({
      appVersion: '1',
      graphHash: 'h',
      workspaceFolder: folder.path,
      timeoutMs: 500,
    });
    expect(found).toMatchObject({
      appVersion: '1',
      graphHash: 'h',
      gitCommit: null,
      gitDirty: null,
      nodesets: [],
    });
    expect(found.cores).toBeGreaterThan(0);
    const here = await collectProvenance({
      appVersion: '1',
      graphHash: 'h',
      workspaceFolder: fileURLToPath(new URL('.', import.meta.url)),
    });
    expect(here.gitCommit ?? '0'.repeat(40)).toMatch(/^[0-9a-f]{40}$/);
  });
});
