// The app under test: a fresh workspace in a folder with a space, a host on it, a page that watches for everything that
// must never happen (console errors, uncaught exceptions, violations of the content security policy).
import { _electron, chromium, test as base, expect, type Page } from '@playwright/test';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

export const root = path.resolve(import.meta.dirname, '..');
export const screenshots = path.join(root, 'e2e/screenshots');

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface App {
  readonly page: Page;
  readonly workspace: string;
  /** The command line on the same workspace. */
  readonly cli: (...args: readonly string[]) => Promise<CommandResult>;
  /** Another page of the same host, as a second window of the browser. */
  readonly openAnother: () => Promise<Page>;
  /** Process id of the engine. */
  readonly enginePid: number;
  /**
   * The engine is killed (SIGKILL) and started again on the same workspace, as after a crash. `whileAway` sees the old
   * page without its engine; the returned page is opened at the new address.
   */
  readonly killAndStartAgain: (whileAway: (page: Page) => Promise<void>) => Promise<Page>;
}

interface Host {
  readonly page: Page;
  readonly enginePid: number;
  readonly openAnother: () => Promise<Page>;
  readonly killAndStartAgain: App['killAndStartAgain'];
  readonly close: () => Promise<void>;
}

const environment = (workspace: string): Record<string, string> => ({
  ...(process.env as Record<string, string>),
  AGENTCANVAS_HOME: path.join(workspace, '..', 'home'),
});

export const test = base.extend<{ app: App; faults: string[]; hasFragile: boolean }>({
  /** With the environment `fragile` and its graph in the workspace, its folder trusted. */
  hasFragile: [false, { option: true }],
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the names of this argument
  faults: async ({}, use) => {
    const faults: string[] = [];
    await use(faults);
    expect(faults, 'console errors, exceptions and policy violations').toEqual([]);
  },
  app: async ({ faults, hasFragile }, use, info) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'e2e space '));
    const workspace = path.join(folder, 'My workspace');
    await mkdir(workspace);
    if (hasFragile) await addFragile(workspace);
    if (hasFragile) await runCli(workspace, ['--trust', workspace, 'graphs', 'list']);
    const host =
      info.project.name === 'electron'
        ? await startElectron(workspace, faults)
        : await startWeb(workspace, faults);
    await use({
      page: host.page,
      workspace,
      enginePid: host.enginePid,
      openAnother: host.openAnother,
      killAndStartAgain: host.killAndStartAgain,
      cli: (...args) => runCli(workspace, args),
    });
    await host.close();
    await rm(folder, { recursive: true, force: true });
  },
});

export { expect };

/**
 * An environment whose split says how it behaves: `slow` waits in every step, so that a run of many episodes is still
 * going on when it is looked at, however fast the machine; `throws` fails in episode 3.
 */
export async function addFragile(workspace: string): Promise<void> {
  for (const kind of ['graphs', 'nodesets'])
    await cp(path.join(root, 'main/eval/testing', kind), path.join(workspace, kind), { recursive: true });
}

interface WebServer {
  readonly address: string;
  readonly process: ChildProcess;
}

async function serve(workspace: string): Promise<WebServer> {
  const server = spawn(
    process.execPath,
    [path.join(root, 'dist/engine/cli.mjs'), 'serve', '--json', '--workspace', workspace],
    { env: environment(workspace), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  return { address: await servingAddress(server), process: server };
}

async function end(server: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill(signal);
  await exited;
}

async function startWeb(workspace: string, faults: string[]): Promise<Host> {
  let server = await serve(workspace);
  const executablePath = process.env['AGENTCANVAS_CHROMIUM'];
  const browser = await chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    watchPage(page, faults);
    await page.goto(server.address);
    await page.getByText('Connected', { exact: true }).waitFor();
    return page;
  };
  const first = await open();
  return {
    page: first,
    enginePid: server.process.pid ?? 0,
    openAnother: open,
    async killAndStartAgain(whileAway) {
      const before = faults.length;
      await end(server.process, 'SIGKILL');
      await whileAway(first);
      await first.close();
      // Requests to an engine that is gone are all that may fail.
      for (const fault of faults.splice(before)) expect(fault).toMatch(/ERR_(CONNECTION|INCOMPLETE|EMPTY)/);
      server = await serve(workspace);
      return open();
    },
    async close() {
      await browser.close();
      await end(server.process, 'SIGTERM');
    },
  };
}

async function startElectron(workspace: string, faults: string[]): Promise<Host> {
  const app = await _electron.launch({ args: [root, '--workspace', workspace], env: environment(workspace) });
  const page = await app.firstWindow();
  watchPage(page, faults);
  await page.getByText('Connected', { exact: true }).waitFor();
  return {
    page,
    enginePid: app.process().pid ?? 0,
    openAnother: () => Promise.reject(new Error('The desktop app has one window.')),
    killAndStartAgain: () => Promise.reject(new Error('The engine of the desktop app is the app itself.')),
    close: () => app.close(),
  };
}

/** The address from the line `{"event":"serving",…}`. */
async function servingAddress(server: ChildProcess): Promise<string> {
  if (!server.stdout) throw new Error('no output');
  for await (const line of createInterface({ input: server.stdout })) {
    const event = JSON.parse(line) as { event?: string; address?: string };
    if (event.event === 'serving' && event.address) return event.address;
  }
  throw new Error('The host ended before it was serving.');
}

function watchPage(page: Page, faults: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  void page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) =>
      console.error(
        `policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`,
      ),
    );
  });
}

async function runCli(workspace: string, args: readonly string[]): Promise<CommandResult> {
  const child = spawn(
    process.execPath,
    [path.join(root, 'dist/engine/cli.mjs'), '--workspace', workspace, ...args],
    { env: environment(workspace), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}
