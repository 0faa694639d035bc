// The whole engine on workspaces that a crash or a bad disk left behind.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { RecoveryItem } from './contract/recovery.ts';
import { sampleRecord } from './store/testing/sample-store.ts';
import { nodeFileSystem } from './store/node-file-system.ts';
import { systemClock } from './base/clock.ts';
import { openRunStore } from './store/run-store.ts';
import { createStudio, type Studio } from './studio.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'recovery-'));
  vi.stubEnv('AGENTCANVAS_HOME', path.join(folder, 'home'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const workspace = (): string => path.join(folder, 'ws');
const open = (): Promise<Studio> => createStudio({ host: 'cli', workspace: workspace() });

async function found({ dispatcher }: Studio): Promise<readonly RecoveryItem[]> {
  const reply = await dispatcher.dispatch('app.recovery', {});
  if (!reply.ok) throw new Error(reply.error.message);
  return (reply.value as { items: RecoveryItem[] }).items;
}

async function leaveRunning(runId: string): Promise<void> {
  await using store = await openRunStore({
    fileSystem: nodeFileSystem,
    clock: systemClock,
    runsFolder: path.join(workspace(), 'outputs/eval_runs'),
    trashFolder: path.join(workspace(), '.trash'),
    indexPath: path.join(workspace(), '.cache/index.sqlite'),
  });
  const record = sampleRecord({ runId, status: 'running' });
  await using _run = await store.create({ record, graphText: '{"name":"g","nodes":[],"edges":[]}' });
}

it('says what happened to a run, that nothing is lost, and what a button will do', async () => {
  await mkdir(workspace());
  await leaveRunning('20261130T120000.000Z-aaaaaa');
  await using studio = await open();
  const [item, ...others] = await found(studio);
  expect(others).toEqual([]);
  expect(item).toMatchObject({
    kind: 'interrupted_run',
    runId: '20261130T120000.000Z-aaaaaa',
    lost: 'Nothing that was finished is lost.',
    toDo: 'Resume runs exactly the 10 missing episodes.',
    action: 'resume',
  });
});

it('leaves out what was acknowledged, and a run that is gone', async () => {
  await mkdir(workspace());
  await leaveRunning('20261130T120000.000Z-aaaaaa');
  await leaveRunning('20261130T120000.000Z-bbbbbb');
  await using studio = await open();
  const [first] = await found(studio);
  await studio.dispatcher.dispatch('app.acknowledgeRecovery', { id: first?.id });
  const [second, ...none] = await found(studio);
  expect(none).toEqual([]);
  await studio.dispatcher.dispatch('runs.delete', { runIds: [second?.runId] });
  expect(await found(studio)).toEqual([]);
});

it('says that the index and the settings were damaged, and uses what is good', async () => {
  {
    await using studio = await open();
    const { settings } = await ask(studio);
    await studio.dispatcher.dispatch('settings.set', { settings: { ...settings, python: '/opt/python' } });
  }
  await writeFile(path.join(workspace(), '.cache/index.sqlite'), 'garbage'.repeat(2000));
  await writeFile(path.join(workspace(), 'settings.json'), '{"python": "/opt');
  await using studio = await open();
  expect((await ask(studio)).settings).toMatchObject({ python: '/opt/python' });
  expect((await found(studio)).map(({ kind }) => kind).toSorted()).toEqual([
    'damaged_settings',
    'rebuilt_index',
  ]);
});

async function ask({ dispatcher }: Studio): Promise<{ settings: Record<string, unknown> }> {
  const reply = await dispatcher.dispatch('settings.get', {});
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.value as { settings: Record<string, unknown> };
}
