// The one window: secure options, remembered place, and a page that comes back after a crash without touching the run.
import path from 'node:path';
import { appOrigin, type BrowserWindow, type ElectronApi } from './electron-api.ts';
import { secureContents, secureWebPreferences } from './security.ts';
import { openingBounds, readWindowState, writeWindowState } from './window-state.ts';

const crashesBeforeAsking = 3;
const crashWindowMs = 60_000;

export interface WindowHost {
  readonly electron: Pick<ElectronApi, 'BrowserWindow' | 'dialog' | 'screen' | 'shell'>;
  readonly preload: string;
  /** Folder of the user's data. */
  readonly dataFolder: string;
  readonly monotonicMs: () => number;
}

/** `page` is an address of the interface, for example `/evaluate`. */
export async function openWindow(host: WindowHost, page: string): Promise<BrowserWindow> {
  const { BrowserWindow, screen, shell } = host.electron;
  const stateFile = path.join(host.dataFolder, 'window.json');
  const state = await readWindowState(stateFile);
  const window = new BrowserWindow({
    ...openingBounds(
      state,
      screen.getAllDisplays().map((display) => display.workArea),
    ),
    minWidth: 960,
    minHeight: 600,
    show: false,
    title: 'AgentCanvas',
    backgroundColor: '#ffffff',
    autoHideMenuBar: true,
    webPreferences: secureWebPreferences(host.preload),
  });
  if (state.maximized) window.maximize();
  secureContents(window.webContents, shell);
  window.once('ready-to-show', () => window.show());
  window.on('close', () => {
    const bounds = window.getNormalBounds();
    void writeWindowState(stateFile, { bounds, maximized: window.isMaximized() }).catch(() => {});
  });
  reattachAfterCrash(window, host);
  await window.loadURL(`${appOrigin}/#${page}`);
  return window;
}

/** The engine lives in another process than the page: reloading it asks for snapshots and goes on. */
function reattachAfterCrash(window: BrowserWindow, { electron, monotonicMs }: WindowHost): void {
  let crashes: number[] = [];
  window.webContents.on('render-process-gone', (_event, { reason }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return;
    const nowMs = monotonicMs();
    crashes = [...crashes.filter((atMs) => nowMs - atMs < crashWindowMs), nowMs];
    if (crashes.length < crashesBeforeAsking) return window.webContents.reload();
    crashes = [];
    void electron.dialog
      .showMessageBox(window, {
        type: 'warning',
        message: 'The window has crashed several times.',
        detail: 'Runs are not affected: the engine goes on. Show the window again?',
        buttons: ['Show again', 'Leave closed'],
        defaultId: 0,
        cancelId: 1,
      })
      .then(({ response }) => (response === 0 ? window.webContents.reload() : undefined));
  });
}
