// What the page may not do: every rule of Electron's security checklist that is a matter of configuration, in one
// place. The page shows local files of ours only; everything else is refused.
import { contentSecurityPolicy } from '../main/hosts/web/replies.ts';
import {
  appOrigin,
  type ElectronApi,
  type IpcMainInvokeEvent,
  type Session,
  type WebContents,
  type WindowOptions,
} from './electron-api.ts';

/** Options of every window. */
export function secureWebPreferences(preload: string): NonNullable<WindowOptions['webPreferences']> {
  return {
    preload,
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    webviewTag: false,
    navigateOnDragDrop: false,
    safeDialogs: true,
    spellcheck: false,
    backgroundThrottling: true,
  };
}

/** No permission is ever granted, and no answer leaves without the policy. */
export function secureSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, decide) => decide(false));
  session.setPermissionCheckHandler(() => false);
  session.setDevicePermissionHandler(() => false);
  session.webRequest.onHeadersReceived((details, respond) => {
    respond({
      responseHeaders: { ...details.responseHeaders, 'Content-Security-Policy': [contentSecurityPolicy] },
    });
  });
}

/**
 * Links to documentation open in the user's browser; the page goes nowhere but to engines on this machine, opens
 * nothing, embeds nothing.
 */
export function secureContents(contents: WebContents, shell: ElectronApi['shell']): void {
  contents.on('will-navigate', (event) => {
    if (!isOurs(event.url) && !isEngineOnLoopback(event.url)) event.preventDefault();
  });
  contents.on('will-redirect', (event) => {
    if (!isOurs(event.url)) event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    if (mayOpenExternally(url)) void shell.openExternal(url);
    return { action: 'deny' };
  });
}

export function isOurs(url: string): boolean {
  return url === appOrigin || url.startsWith(`${appOrigin}/`);
}

/**
 * The page of another engine on this machine, which is where a tunnel ends: plain http on loopback, nothing but its
 * front page. It gets no bridge (preload) and no answer (isTrustedSender).
 */
export function isEngineOnLoopback(url: string): boolean {
  if (url.length > 2000 || !URL.canParse(url)) return false;
  const { protocol, hostname, pathname, search, username, password } = new URL(url);
  const isLoopback = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return protocol === 'http:' && isLoopback && `${pathname}${search}${username}${password}` === '/';
}

/** Https without credentials and of sane length; anything else could start programs. */
export function mayOpenExternally(url: string): boolean {
  if (url.length > 2000 || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return protocol === 'https:' && username === '' && password === '';
}

/** Requests are answered only for the main frame of our own page. */
export function isTrustedSender(event: Pick<IpcMainInvokeEvent, 'senderFrame' | 'sender'>): boolean {
  const frame = event.senderFrame;
  return frame !== null && frame.parent === null && isOurs(frame.url) && !event.sender.isDestroyed();
}
