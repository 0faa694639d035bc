// The desktop host: one instance, one window, the engine in this process. Thin on purpose: everything a page can do
// is a request of the contract.
import path from 'node:path';
import type { Logger } from '../main/base/logger.ts';
import type { Engine } from '../main/hosts/engine.ts';
import type { BrowserWindow, ElectronApi } from './electron-api.ts';
import { appOrigin } from './electron-api.ts';
import { handleScheme, registerScheme } from './app-protocol.ts';
import { graphArguments, takeGraphFile } from './graph-files.ts';
import { connectBridge } from './ipc-bridge.ts';
import { menuTemplate } from './menu.ts';
import { installQuit } from './quit.ts';
import { connectRunSignals } from './run-signals.ts';
import { secureSession } from './security.ts';
import type { UpdateSurroundings } from './updates.ts';
import { openWindow } from './window.ts';

export interface ShellEngine extends Engine, AsyncDisposable {
  readonly layout: { readonly renderer: string };
  readonly logger?: Logger;
  /** Label of the run that holds the engine now. */
  activeRun(): string | null;
}

export interface ShellOptions {
  readonly electron: ElectronApi;
  readonly preload: string;
  readonly platform: NodeJS.Platform;
  readonly argv: readonly string[];
  readonly startEngine: () => Promise<ShellEngine>;
  /** Called once the window is there. */
  readonly startUpdates?: (surroundings: UpdateSurroundings) => Promise<Disposable>;
}

/** Resolves when the window is there, or at once when another instance took over. */
export async function startShell(options: ShellOptions): Promise<void> {
  const { app, protocol } = options.electron;
  app.enableSandbox();
  if (!app.requestSingleInstanceLock()) return app.quit();
  registerScheme(protocol);
  const early: string[] = [];
  let open = (file: string): void => void early.push(file);
  app.on('open-file', (event, file) => {
    event.preventDefault();
    open(file);
  });
  await app.whenReady();
  const shell = await runShell(options);
  open = (file) => void shell.openGraph(file);
  for (const file of [...early, ...graphArguments(options.argv, process.cwd())]) await shell.openGraph(file);
}

/** The window and what leads to it. */
class Shell {
  readonly #electron: ElectronApi;
  readonly #engine: ShellEngine;
  readonly #preload: string;
  #window: BrowserWindow | null = null;

  constructor({ electron, preload }: ShellOptions, engine: ShellEngine) {
    this.#electron = electron;
    this.#engine = engine;
    this.#preload = preload;
  }

  get window(): BrowserWindow | null {
    return this.#window?.isDestroyed() === false ? this.#window : null;
  }

  async show(page: string): Promise<void> {
    const { electron, window } = { electron: this.#electron, window: this.window };
    if (window) {
      focus(window);
      await window.loadURL(`${appOrigin}/#${page}`);
      return;
    }
    const dataFolder = electron.app.getPath('userData');
    this.#window = await openWindow(
      { electron, preload: this.#preload, dataFolder, monotonicMs: () => performance.now() },
      page,
    );
  }

  async openGraph(file: string): Promise<void> {
    try {
      await this.show(await takeGraphFile(this.#engine, file));
    } catch (error) {
      this.#electron.dialog.showErrorBox(
        'The graph could not be opened',
        error instanceof Error ? error.message : String(error),
      );
    }
  }

  async chooseGraph(): Promise<void> {
    const options = {
      title: 'Open graph',
      filters: [{ name: 'Graphs', extensions: ['json', 'acgraph'] }],
      properties: ['openFile' as const],
    };
    const { dialog } = this.#electron;
    const { filePaths } = this.window
      ? await dialog.showOpenDialog(this.window, options)
      : await dialog.showOpenDialog(options);
    for (const file of filePaths.slice(0, 1)) await this.openGraph(path.resolve(file));
  }
}

async function runShell(options: ShellOptions): Promise<Shell> {
  const { electron, platform } = options;
  secureSession(electron.session.defaultSession);
  const engine = await options.startEngine();
  const shell = new Shell(options, engine);
  handleScheme(electron.protocol, { rendererFolder: engine.layout.renderer, media: engine.media });
  connectBridge({ ipcMain: electron.ipcMain, engine, windows: () => electron.BrowserWindow.getAllWindows() });
  const { powerSaveBlocker, Notification } = electron;
  const showRun = (runId: string): void => void shell.show(`/evaluate/${encodeURIComponent(runId)}`);
  const signals = connectRunSignals({
    engine,
    powerSaveBlocker,
    Notification,
    window: () => shell.window,
    showRun,
  });
  const stopEngine = async (): Promise<void> => {
    signals[Symbol.dispose]();
    await engine[Symbol.asyncDispose]();
  };
  const activeRun = (): string | null => engine.activeRun();
  const quit = installQuit({
    app: electron.app,
    dialog: electron.dialog,
    window: () => shell.window,
    activeRun,
    stopEngine,
  });
  keepWindowWhileRunning({ app: electron.app, platform, activeRun, isQuitting: () => quit.quitting });
  welcomeOtherStarts(electron.app, shell);
  const actions = {
    show: (page: string): void => void shell.show(page),
    openGraph: (): void => void shell.chooseGraph(),
  };
  electron.Menu.setApplicationMenu(electron.Menu.buildFromTemplate(menuTemplate(platform, actions)));
  await shell.show('/evaluate');
  const logError = (error: unknown): void =>
    engine.logger?.warn('updates: no update this time', { error: String(error) });
  void options.startUpdates?.({
    feed: engine.feed,
    dialog: electron.dialog,
    window: () => shell.window,
    activeRun,
    logError,
  });
  return shell;
}

/** A second start, or a click on the dock, brings this window forward and opens what it was given. */
function welcomeOtherStarts(app: ElectronApi['app'], shell: Shell): void {
  app.on('second-instance', (_event, argv, workingFolder) => {
    const files = graphArguments(argv, workingFolder);
    if (files.length === 0 && shell.window) focus(shell.window);
    else if (files.length === 0) void shell.show('/evaluate');
    for (const file of files) void shell.openGraph(file);
  });
  app.on('activate', () => {
    if (!shell.window) void shell.show('/evaluate');
  });
}

/** Closing the last window quits, which asks while a run is active: the window stays until the answer is yes. */
function keepWindowWhileRunning(options: {
  app: ElectronApi['app'];
  platform: NodeJS.Platform;
  activeRun: () => string | null;
  isQuitting: () => boolean;
}): void {
  const { app, platform, activeRun, isQuitting } = options;
  app.on('browser-window-created', (_event, window) => {
    window.on('close', (event) => {
      if (platform === 'darwin' || isQuitting() || activeRun() === null) return;
      event.preventDefault();
      app.quit();
    });
  });
  app.on('window-all-closed', () => {
    if (platform !== 'darwin') app.quit();
  });
}

function focus(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}
