// The desktop host against a recording fake: the security checklist item by item, one instance, bridge, quit, crash.
import { mkdtemp, mkdir, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createFakeEngine, type FakeEngine } from '../main/hosts/testing/fake-engine.ts';
import { invokeChannel, messageChannel } from './electron-api.ts';
import { startShell, type ShellEngine } from './shell.ts';
import { FakeElectron, type FakeWindow } from './testing/fake-electron.ts';

let electron: FakeElectron;
let engine: FakeEngine;
let activeRun: string | null;
let disposals: number;
let disposing: () => Promise<void>;
/** Windows and active run when updates were set up. */
let updates: [number, string | null][];

async function start(argv: readonly string[] = []): Promise<void> {
  const layout = { renderer: path.join(electron.dataFolder, 'renderer') };
  await mkdir(layout.renderer, { recursive: true });
  await writeFile(path.join(layout.renderer, 'index.html'), '<!doctype html>');
  await mkdir(path.join(electron.dataFolder, 'docs'), { recursive: true });
  await writeFile(path.join(electron.dataFolder, 'docs/index.html'), '<!doctype html>');
  const shellEngine: ShellEngine = Object.assign(engine, {
    layout,
    activeRun: () => activeRun,
    [Symbol.asyncDispose]: async () => {
      disposals += 1;
      await disposing();
    },
  });
  await startShell({
    electron: electron.api,
    preload: '/app/preload.cjs',
    platform: 'linux',
    argv,
    startEngine: async () => shellEngine,
    startUpdates: async (surroundings) => {
      updates.push([electron.windows.length, surroundings.activeRun()]);
      return { [Symbol.dispose]: () => {} };
    },
  });
}

const window = (): FakeWindow => electron.windows.at(-1) as FakeWindow;
const ours = {
  senderFrame: { parent: null, url: 'app://agentcanvas/' },
  sender: { isDestroyed: () => false },
};
const invoke = (event: unknown, name: unknown, input: unknown): unknown =>
  electron.invokeHandlers.get(invokeChannel)?.(event, name, input);
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

beforeEach(async () => {
  electron = new FakeElectron(await mkdtemp(path.join(os.tmpdir(), 'shell ')));
  activeRun = null;
  disposals = 0;
  updates = [];
  disposing = async () => {};
  engine = createFakeEngine({
    'guard.get': async () => ({ holder: null }),
    'graphs.import': async ({ name }) => ({ ref: `/w/graphs/${name}.json` }),
  });
});

describe('the security checklist', () => {
  beforeEach(() => start());
  const preferences = (): Record<string, unknown> =>
    window().options.webPreferences as Record<string, unknown>;

  it('1 loads local content of the app only', () =>
    expect(window().urls).toEqual(['app://agentcanvas/#/evaluate']));
  it('2 gives the page no Node', () =>
    expect(preferences()).toMatchObject({
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
    }));
  it('3 isolates the preload’s world', () => expect(preferences()['contextIsolation']).toBe(true));
  it('4 sandboxes every process', () =>
    expect([preferences()['sandbox'], electron.app.sandboxed]).toEqual([true, true]));
  it('5 denies every permission', () => {
    const decided: boolean[] = [];
    for (const permission of ['media', 'geolocation', 'notifications', 'clipboard-read', 'openExternal'])
      electron.permissionHandlers.request?.({}, permission, (granted) => decided.push(granted));
    expect([decided, electron.permissionHandlers.check?.(), electron.permissionHandlers.device?.()]).toEqual([
      [false, false, false, false, false],
      false,
      false,
    ]);
  });
  it('6 keeps web security on', () => expect(preferences()['webSecurity']).toBe(true));
  it('7 sends a policy without inline code or evaluation', () => {
    let headers: Record<string, string[]> = {};
    electron.headersHandler?.({ responseHeaders: {} }, (answer) => (headers = answer.responseHeaders));
    expect(headers['Content-Security-Policy']?.[0]).toContain("default-src 'none'");
    expect(headers['Content-Security-Policy']?.[0]).not.toContain('unsafe');
  });
  it('8 runs no insecure content', () => expect(preferences()['allowRunningInsecureContent']).toBe(false));
  it('9 enables no experimental features', () => expect(preferences()['experimentalFeatures']).toBe(false));
  it('10 enables no blink features', () => expect(preferences()).not.toHaveProperty('enableBlinkFeatures'));
  it('11 and 12 attaches no web view', () => {
    let prevented = false;
    window().webContents.emit('will-attach-webview', { preventDefault: () => (prevented = true) });
    expect([preferences()['webviewTag'], prevented]).toEqual([false, true]);
  });
  it('13 navigates nowhere else', () => {
    const blocked = (name: string, url: string): boolean => {
      let prevented = false;
      window().webContents.emit(name, { url, preventDefault: () => (prevented = true) });
      return prevented;
    };
    for (const url of [
      'https://example.org/',
      'file:///etc/passwd',
      'app://agentcanvas.evil/',
      'app://other/',
      'javascript:alert(1)',
      'http://127.0.0.1.evil.example/',
      'http://user:pw@127.0.0.1:8710/',
      'http://127.0.0.1:8710/admin',
      'http://127.0.0.1:8710/?next=1',
      'https://127.0.0.1:8710/',
      'http://192.168.1.5:8710/',
    ]) {
      expect([url, blocked('will-navigate', url), blocked('will-redirect', url)]).toEqual([url, true, true]);
    }
    expect(blocked('will-navigate', 'app://agentcanvas/#/history')).toBe(false);
    // An engine at the end of a tunnel: its front page, never by a redirect.
    const engine = `http://127.0.0.1:8710/#token=${'a'.repeat(64)}`;
    expect([blocked('will-navigate', engine), blocked('will-redirect', engine)]).toEqual([false, true]);
  });
  it('14 and 15 opens no window, and only https in the user’s browser', () => {
    const open = window().webContents.windowOpenHandler;
    for (const url of [
      'https://example.org/docs',
      'http://example.org',
      'file:///bin/sh',
      'smb://x',
      'https://user:pw@example.org',
      'ms-settings:',
      `https://e.org/${'a'.repeat(3000)}`,
    ])
      expect(open?.({ url })).toEqual({ action: 'deny' });
    expect(electron.opened).toEqual(['https://example.org/docs']);
  });
  it('16 is built with a current Electron', async () => {
    const { devDependencies } = JSON.parse(await readFile('package.json', 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    expect(Number(/\d+/.exec(devDependencies['electron'] ?? '')?.[0])).toBeGreaterThanOrEqual(45);
  });
  it('17 answers the app’s own main frame only', async () => {
    const strangers = [
      { ...ours, senderFrame: null },
      { ...ours, senderFrame: { parent: {}, url: 'app://agentcanvas/' } },
      { ...ours, senderFrame: { parent: null, url: 'https://example.org/' } },
      { ...ours, senderFrame: { parent: null, url: 'app://agentcanvas.evil/' } },
      { ...ours, senderFrame: { parent: null, url: 'http://127.0.0.1:8710/' } },
    ];
    for (const stranger of strangers)
      expect(await invoke(stranger, 'guard.get', {})).toMatchObject({
        ok: false,
        error: { code: 'unauthorized' },
      });
    expect(engine.reached).toEqual([]);
    expect(await invoke(ours, 'guard.get', {})).toEqual({ ok: true, value: { holder: null } });
  });
  it('18 serves files by its own scheme, from one folder, by type', async () => {
    const fetchPage = async (url: string, method = 'GET'): Promise<number> =>
      (await electron.schemeHandler?.(new Request(url, { method })))?.status ?? 0;
    expect(electron.schemes).toMatchObject([
      { scheme: 'app', privileges: { standard: true, secure: true, bypassCSP: false, corsEnabled: false } },
    ]);
    expect(await fetchPage('app://agentcanvas/')).toBe(200);
    expect(await fetchPage('app://agentcanvas/docs/')).toBe(200);
    expect(await fetchPage('app://agentcanvas/docs/..%2fwindow.html')).toBe(404);
    expect(await fetchPage('app://agentcanvas/window.json')).toBe(404);
    expect(await fetchPage('app://agentcanvas/..%2fwindow.json')).toBe(404);
    expect(await fetchPage('app://other/')).toBe(405);
    expect(await fetchPage('app://agentcanvas/', 'POST')).toBe(405);
  });
  it('18 gives recorded assets by address and takes uploads, sandboxed, and nothing else of the disk', async () => {
    const file = path.join(electron.dataFolder, 'frame.png');
    await writeFile(file, 'png');
    const received: string[] = [];
    Object.assign(engine, {
      media: {
        resolve: async (address: string) =>
          address === '/assets/r/e/frame.png'
            ? { file, mimeType: 'image/png', bytes: 3, immutable: true, downloadName: null }
            : null,
        receive: async (name: string) => (received.push(name), 'u1'),
      },
    });
    await start();
    const ask = (url: string, init?: RequestInit): Promise<Response> | undefined =>
      electron.schemeHandler?.(new Request(url, init));
    const found = await ask('app://agentcanvas/assets/r/e/frame.png');
    expect([found?.status, await found?.text(), found?.headers.get('content-security-policy')]).toEqual([
      200,
      'png',
      "default-src 'none'; sandbox",
    ]);
    expect((await ask('app://agentcanvas/assets/r/e/other.png'))?.status).toBe(404);
    expect(
      await (await ask('app://agentcanvas/uploads/run.zip', { method: 'POST', body: 'zip' }))?.json(),
    ).toEqual({ ok: true, value: { upload: 'u1' } });
    expect((await ask('app://agentcanvas/uploads/run.zip'))?.status).toBe(405);
    expect(received).toEqual(['run.zip']);
  });
  it('20 exposes three named functions and nothing of Electron', async () => {
    const preload = await readFile(path.join(import.meta.dirname, 'preload.ts'), 'utf8');
    expect([...preload.matchAll(/^ {2}(\w+):/gm)].map((match) => match[1])).toEqual([
      'invoke',
      'onMessage',
      'pathOfDroppedFile',
    ]);
    expect(preload).not.toMatch(/exposeInMainWorld\([^)]*ipcRenderer\)/);
    expect(preload).toContain("if (location.protocol === 'app:') contextBridge.exposeInMainWorld(");
  });
});

describe('the bridge', () => {
  beforeEach(() => start());

  it('lets no invalid payload reach a handler', async () => {
    for (const [name, input] of [
      ['runs.stop', { runId: 5 }],
      [7, {}],
      ['nothing', {}],
      ['runs.stop', { runId: 'x'.repeat(2 ** 21) }],
      ['guard.get', { extra: 1 }],
    ] as const) {
      expect(await invoke(ours, name, input)).toMatchObject({ ok: false });
    }
    expect(engine.reached).toEqual([]);
  });

  it('sends numbered events to the window', () => {
    engine.feed.publish('run.deleted', { runId: 'r' });
    expect(window().webContents.sent).toEqual([
      { channel: messageChannel, payload: { sequence: 1, name: 'run.deleted', payload: { runId: 'r' } } },
    ]);
  });

  it('reloads a page that crashed, and asks when it keeps crashing', async () => {
    electron.dialog.answers = [0];
    for (let crash = 0; crash < 3; crash++)
      window().webContents.emit('render-process-gone', {}, { reason: 'crashed' });
    await settle();
    expect([window().webContents.reloads, electron.dialog.asked.length, disposals]).toEqual([3, 1, 0]);
  });
});

it('sets up updates once the window is there, told which run is active', async () => {
  activeRun = 'a run';
  await start();
  expect(updates).toEqual([[1, 'a run']]);
});

describe('quitting', () => {
  it('stops the engine and exits at once when nothing runs', async () => {
    await start();
    electron.app.quit();
    await settle();
    expect([disposals, electron.app.exits, electron.dialog.asked]).toEqual([1, [0], []]);
  });

  it('asks while a run is active and stays when the answer is no', async () => {
    await start();
    activeRun = 'minivln_cma on val_unseen';
    electron.dialog.answers = [0, 1];
    electron.app.quit();
    await settle();
    expect([disposals, electron.app.exits, electron.dialog.asked.length]).toEqual([0, [], 1]);
    electron.app.quit();
    await settle();
    expect([disposals, electron.app.exits, electron.dialog.asked.length]).toEqual([1, [0], 2]);
  });

  it('keeps the window until the user agrees', async () => {
    await start();
    activeRun = 'a run';
    electron.dialog.answers = [0];
    expect(window().close()).toBe(false);
    await settle();
    expect([electron.app.exits, electron.dialog.asked.length]).toEqual([[], 1]);
  });

  it('exits after four seconds even when the engine does not stop', async () => {
    await start();
    disposing = () => new Promise(() => {});
    const startedMs = performance.now();
    electron.app.quit();
    while (electron.app.exits.length === 0 && performance.now() - startedMs < 6000) await settle();
    expect(electron.app.exits).toEqual([0]);
    expect(performance.now() - startedMs).toBeGreaterThan(3900);
    expect(performance.now() - startedMs).toBeLessThan(4600);
  });
});

describe('other starts', () => {
  it('gives way to the first instance', async () => {
    electron.app.hasLock = false;
    await start();
    expect([electron.windows.length, electron.app.quits]).toEqual([0, 1]);
  });

  it('takes the graph of a second start, shows it and runs nothing', async () => {
    await start();
    const file = path.join(electron.dataFolder, 'my agent.acgraph');
    await writeFile(file, '{"nodes":[]}');
    electron.app.emit('second-instance', {}, ['app', '--flag', file], '/');
    await expect
      .poll(() => window().urls.at(-1))
      .toBe('app://agentcanvas/#/evaluate?graph=%2Fw%2Fgraphs%2Fmy%20agent.json');
    expect(engine.reached.map(({ name }) => name)).toEqual(['graphs.import']);
    expect([electron.windows.length, window().focused]).toEqual([1, true]);
  });

  it('opens a graph given at the first start, and says why one cannot be opened', async () => {
    await start(['/nowhere/x.acgraph']);
    expect(electron.dialog.errors[0]).toContain('/nowhere/x.acgraph');
  });
});

describe('a run outside its window', () => {
  it('keeps the machine awake, shows progress and tells of the end when nobody looks', async () => {
    await start();
    engine.feed.publish('guard.changed', { holder: { kind: 'eval', id: 'r', label: 'r', sinceMs: 0 } });
    expect(electron.blockers.size).toBe(1);
    const counts = {
      planned: 200,
      completed: 50,
      error: 0,
      timeout: 0,
      died: 0,
      noVerdict: 0,
      notRun: 150,
      running: 2,
      retried: 0,
    };
    engine.feed.publish('run.live', { runId: 'r', live: { summary: { counts } } as never });
    engine.feed.flush();
    expect([window().progress.at(-1), window().title]).toEqual([0.25, '25 % – AgentCanvas']);
    engine.feed.publish('run.finished', {
      runId: 'r',
      status: 'completed',
      error: null,
      item: { graphName: 'g', counts } as never,
    });
    expect(electron.notices.map(({ title, body }) => `${title} / ${body}`)).toEqual([
      'g: completed / 50 of 200 episodes have run.',
    ]);
    electron.notices[0]?.click();
    await expect.poll(() => window().urls.at(-1)).toBe('app://agentcanvas/#/evaluate/r');
    engine.feed.publish('guard.changed', { holder: null });
    expect([electron.blockers.size, window().progress.at(-1), window().title]).toEqual([
      0,
      -1,
      'AgentCanvas',
    ]);
  });
});

it('opens where it was, but never off the screens', async () => {
  await writeFile(
    path.join(electron.dataFolder, 'window.json'),
    JSON.stringify({ bounds: { x: 50, y: 60, width: 1000, height: 700 }, maximized: false }),
  );
  await start();
  expect(window().options).toMatchObject({ x: 50, y: 60, width: 1000, height: 700 });
  window().close();
  await expect.poll(() => readFile(path.join(electron.dataFolder, 'window.json'), 'utf8')).toContain('1400');
  await writeFile(
    path.join(electron.dataFolder, 'window.json'),
    JSON.stringify({ bounds: { x: 9000, y: 60, width: 1000, height: 700 } }),
  );
  await start();
  expect(window().options).not.toHaveProperty('x');
});
