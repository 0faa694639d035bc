// A second engine, as behind a tunnel: added to the list, opened, and its run goes on without anybody looking.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from '@playwright/test';
import { addFragile, expect, root, test } from './app.ts';
import {
  askForFragile,
  chooseGraph,
  expectReady,
  expectStatus,
  expectUnderWay,
  inspect,
  runIdOf,
  showPage,
  startRun,
} from './steps.ts';

test.skip(({ browserName }) => browserName !== 'chromium');

interface Engine {
  readonly address: string;
  readonly process: ChildProcess;
  readonly folder: string;
}

async function serveElsewhere(): Promise<Engine> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'e2e far '));
  const workspace = path.join(folder, 'ws');
  await addFragile(workspace);
  const program = path.join(root, 'dist/engine/cli.mjs');
  const server = spawn(
    process.execPath,
    [program, 'serve', '--json', '--workspace', workspace, '--trust', workspace],
    {
      env: { ...process.env, AGENTCANVAS_HOME: path.join(folder, 'home') },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  for await (const line of createInterface({ input: server.stdout })) {
    const event = JSON.parse(line) as { event?: string; address?: string };
    if (event.event === 'serving' && event.address)
      return { address: event.address, process: server, folder };
  }
  throw new Error('The other engine ended before it was serving.');
}

let far: Engine;
test.beforeEach(async () => {
  far = await serveElsewhere();
});
test.afterEach(async () => {
  const ended = once(far.process, 'exit');
  far.process.kill('SIGTERM');
  await ended;
  await rm(far.folder, { recursive: true, force: true });
});

async function openConnection(page: Page): Promise<Page> {
  const opening = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Open GPU box' }).click();
  const other = await opening;
  await other.getByText('Connected', { exact: true }).waitFor();
  return other;
}

test('a connection is added, opened, and its run goes on without the window', async ({ app }, info) => {
  test.skip(info.project.name === 'electron', 'the window goes there itself');
  const { page, workspace } = app;
  await showPage(page, 'Settings');
  const form = page.getByRole('form', { name: 'Add connection' });
  await form.getByLabel('Connection name').fill('GPU box');
  await form.getByLabel('Connection address').fill(far.address);
  await form.getByLabel('SSH host').fill('you@gpu-box');
  const port = new URL(far.address).port;
  await expect(form).toContainText(`ssh -N -L ${port}:127.0.0.1:${port} you@gpu-box`);
  await inspect(page, 'connections');
  await form.getByRole('button', { name: 'Add connection' }).click();
  await expect(page.getByRole('link', { name: 'Open GPU box' })).toBeVisible();
  const token = /token=(\w+)/.exec(far.address)?.[1] ?? 'none';
  const settings = await readFile(path.join(workspace, 'settings.json'), 'utf8');
  expect(settings).toContain('GPU box');
  expect(settings).not.toContain(token);

  const count = 40;
  const there = await openConnection(page);
  await showPage(there, 'Evaluate');
  await chooseGraph(there, 'fragile');
  await askForFragile(there, 'slow', count);
  await expectReady(there, count);
  const run = await startRun(there);
  await expectUnderWay(there, count);
  await there.close();

  // Nobody looks; the page here is another engine's. The cookie opens it again, without the token.
  await page.reload();
  await showPage(page, 'Settings');
  const again = await openConnection(page);
  await again.goto(`${new URL(far.address).origin}/#/evaluate/${encodeURIComponent(run)}`);
  expect(runIdOf(again)).toBe(run);
  await expectStatus(again, 'completed');
});

test('help opens the documentation of this very version', async ({ app }, info) => {
  test.skip(info.project.name === 'electron', 'in the window it takes the place of the page');
  const { page } = app;
  const opening = page.waitForEvent('popup');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Help' }).click();
  const help = await opening;
  await expect(help.getByRole('heading', { level: 1, name: 'AgentCanvas' })).toBeVisible();
  await help.getByRole('link', { name: 'Coming from AgentCanvas' }).first().click();
  await expect(help.getByRole('heading', { level: 1 })).toHaveText('Coming from AgentCanvas');
  await help.getByRole('link', { name: 'Back to the app' }).click();
  await expect(help.getByText('Connected', { exact: true })).toBeVisible();
});
