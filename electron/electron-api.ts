// Electron as the shell sees it: a value handed in by main.ts, so that tests hand in a recording fake and plain Node
// never loads the real one.
import type * as Electron from 'electron';

export type ElectronApi = Pick<
  typeof Electron,
  | 'app'
  | 'BrowserWindow'
  | 'dialog'
  | 'ipcMain'
  | 'Menu'
  | 'Notification'
  | 'powerSaveBlocker'
  | 'protocol'
  | 'screen'
  | 'session'
  | 'shell'
>;

export type BrowserWindow = Electron.BrowserWindow;
export type WebContents = Electron.WebContents;
export type Session = Electron.Session;
export type IpcMainInvokeEvent = Electron.IpcMainInvokeEvent;
export type MenuItemOptions = Electron.MenuItemConstructorOptions;
export type WindowOptions = Electron.BrowserWindowConstructorOptions;
export type Rectangle = Electron.Rectangle;

/** The only place the interface is loaded from. */
export const appOrigin = 'app://agentcanvas';
export const invokeChannel = 'agentcanvas:invoke';
export const messageChannel = 'agentcanvas:message';
