// A recording stand-in for Electron: it remembers what it was told and lets a test raise the events.
import { EventEmitter } from 'node:events';
import type { ElectronApi, MenuItemOptions, WindowOptions } from '../electron-api.ts';

export class FakeContents extends EventEmitter {
  readonly sent: { channel: string; payload: unknown }[] = [];
  reloads = 0;
  windowOpenHandler: ((details: { url: string }) => { action: string }) | null = null;
  setWindowOpenHandler(handler: (details: { url: string }) => { action: string }): void {
    this.windowOpenHandler = handler;
  }
  send(channel: string, payload: unknown): void {
    this.sent.push({ channel, payload });
  }
  reload(): void {
    this.reloads += 1;
  }
  isDestroyed(): boolean {
    return false;
  }
}

export class FakeWindow extends EventEmitter {
  readonly webContents = new FakeContents();
  readonly options: WindowOptions;
  readonly urls: string[] = [];
  readonly progress: number[] = [];
  title = '';
  focused = false;
  shown = 0;
  destroyed = false;
  constructor(options: WindowOptions) {
    super();
    this.options = options;
  }
  async loadURL(url: string): Promise<void> {
    this.urls.push(url);
  }
  /** As the system does: the page may prevent it. */
  close(): boolean {
    let prevented = false;
    this.emit('close', { preventDefault: () => (prevented = true) });
    if (!prevented) this.destroyed = true;
    return !prevented;
  }
  setProgressBar(share: number): void {
    this.progress.push(share);
  }
  setTitle(title: string): void {
    this.title = title;
  }
  getNormalBounds(): { x: number; y: number; width: number; height: number } {
    return { x: 10, y: 20, width: 1400, height: 900 };
  }
  isMaximized = (): boolean => false;
  isMinimized = (): boolean => false;
  isFocused = (): boolean => this.focused;
  isDestroyed = (): boolean => this.destroyed;
  maximize(): void {}
  restore(): void {}
  show(): void {
    this.shown += 1;
  }
  focus(): void {
    this.focused = true;
  }
}

type InvokeHandler = (event: unknown, ...args: readonly unknown[]) => unknown;

export class FakeElectron {
  readonly windows: FakeWindow[] = [];
  readonly app = Object.assign(new EventEmitter(), {
    sandboxed: false,
    exits: [] as number[],
    quits: 0,
    hasLock: true,
    enableSandbox: () => void (this.app.sandboxed = true),
    requestSingleInstanceLock: () => this.app.hasLock,
    whenReady: () => Promise.resolve(),
    getPath: () => this.dataFolder,
    exit: (code: number) => void this.app.exits.push(code),
    quit: () => {
      this.app.quits += 1;
      this.app.emit('before-quit', { preventDefault: () => {} });
    },
  });
  readonly invokeHandlers = new Map<string, InvokeHandler>();
  readonly ipcMain = {
    handle: (channel: string, handler: InvokeHandler) => void this.invokeHandlers.set(channel, handler),
    removeHandler: (channel: string) => void this.invokeHandlers.delete(channel),
  };
  readonly dialog = {
    answers: [] as number[],
    asked: [] as unknown[],
    errors: [] as string[],
    showMessageBox: (...args: readonly unknown[]) => {
      this.dialog.asked.push(args.at(-1));
      return Promise.resolve({ response: this.dialog.answers.shift() ?? 0 });
    },
    showOpenDialog: () => Promise.resolve({ filePaths: [] as string[] }),
    showErrorBox: (_title: string, message: string) => void this.dialog.errors.push(message),
  };
  readonly menus: MenuItemOptions[][] = [];
  readonly Menu = {
    buildFromTemplate: (template: MenuItemOptions[]) => template,
    setApplicationMenu: (menu: MenuItemOptions[]) => void this.menus.push(menu),
  };
  readonly blockers = new Set<number>();
  readonly powerSaveBlocker = {
    start: () => {
      this.blockers.add(this.blockers.size + 1);
      return this.blockers.size;
    },
    stop: (id: number) => void this.blockers.delete(id),
  };
  readonly schemes: unknown[] = [];
  schemeHandler: ((request: Request) => Promise<Response>) | null = null;
  readonly protocol = {
    registerSchemesAsPrivileged: (schemes: unknown[]) => void this.schemes.push(...schemes),
    handle: (_scheme: string, handler: (request: Request) => Promise<Response>) =>
      void (this.schemeHandler = handler),
  };
  readonly permissionHandlers: {
    request?: (contents: unknown, permission: string, decide: (granted: boolean) => void) => void;
    check?: () => boolean;
    device?: () => boolean;
  } = {};
  headersHandler:
    | ((
        details: { responseHeaders: Record<string, string[]> },
        respond: (answer: { responseHeaders: Record<string, string[]> }) => void,
      ) => void)
    | null = null;
  readonly session = {
    defaultSession: {
      setPermissionRequestHandler: (handler: NonNullable<FakeElectron['permissionHandlers']['request']>) =>
        void (this.permissionHandlers.request = handler),
      setPermissionCheckHandler: (handler: () => boolean) => void (this.permissionHandlers.check = handler),
      setDevicePermissionHandler: (handler: () => boolean) => void (this.permissionHandlers.device = handler),
      webRequest: {
        onHeadersReceived: (handler: NonNullable<FakeElectron['headersHandler']>) =>
          void (this.headersHandler = handler),
      },
    },
  };
  readonly opened: string[] = [];
  readonly shell = { openExternal: (url: string) => Promise.resolve(void this.opened.push(url)) };
  readonly screen = { getAllDisplays: () => [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }] };
  readonly notices: { title: string; body: string; click: () => void }[] = [];
  readonly dataFolder: string;
  readonly BrowserWindow: unknown;
  readonly Notification: unknown;

  constructor(dataFolder: string) {
    this.dataFolder = dataFolder;
    const { windows, app, notices } = this;
    this.BrowserWindow = class extends FakeWindow {
      static getAllWindows = (): FakeWindow[] => windows.filter((window) => !window.destroyed);
      constructor(options: WindowOptions) {
        super(options);
        windows.push(this);
        app.emit('browser-window-created', {}, this);
      }
    };
    this.Notification = class extends EventEmitter {
      static isSupported = (): boolean => true;
      readonly #options: { title: string; body: string };
      constructor(options: { title: string; body: string }) {
        super();
        this.#options = options;
      }
      show(): void {
        notices.push({ ...this.#options, click: () => void this.emit('click') });
      }
    };
  }

  /** The part of Electron's types that the shell uses is what this class has. */
  get api(): ElectronApi {
    return this as unknown as ElectronApi;
  }
}
