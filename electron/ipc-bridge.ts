// One invoke channel for requests and one channel for events. The sender is checked, the payload validated by the
// dispatcher, and a page that reloads or crashed simply asks for snapshots again.
import { describeError } from '../main/dispatch.ts';
import { StudioError } from '../main/base/errors.ts';
import type { Engine } from '../main/hosts/engine.ts';
import { invokeChannel, messageChannel, type BrowserWindow, type ElectronApi } from './electron-api.ts';
import { isTrustedSender } from './security.ts';

const maxInputBytes = 2 ** 20;
const maxGraphBytes = 8 * 2 ** 20 + 2 ** 16;
const graphRequests = ['graphs.save', 'graphs.import', 'graphs.validate'];

export interface BridgeOptions {
  readonly ipcMain: ElectronApi['ipcMain'];
  readonly engine: Engine;
  /** Windows that get events now. */
  readonly windows: () => readonly BrowserWindow[];
}

export function connectBridge({ ipcMain, engine, windows }: BridgeOptions): Disposable {
  ipcMain.handle(invokeChannel, async (event, name: unknown, input: unknown) => {
    if (!isTrustedSender(event))
      return refusal('unauthorized', 'Requests are answered for the app’s own page only.');
    if (typeof name !== 'string') return refusal('invalid_input', 'A request has a name.');
    if (!isSmall(input, graphRequests.includes(name) ? maxGraphBytes : maxInputBytes))
      return refusal('invalid_input', 'The request is too large or not plain data.');
    return engine.dispatcher.dispatch(name, input);
  });
  const subscription = engine.feed.subscribe((message) => {
    for (const window of windows())
      if (!window.isDestroyed()) window.webContents.send(messageChannel, message);
  });
  return {
    [Symbol.dispose]: () => {
      ipcMain.removeHandler(invokeChannel);
      subscription[Symbol.dispose]();
    },
  };
}

function refusal(
  code: 'unauthorized' | 'invalid_input',
  message: string,
): { ok: false; error: ReturnType<typeof describeError> } {
  return { ok: false, error: describeError(new StudioError(code, message)) };
}

function isSmall(input: unknown, limitBytes: number): boolean {
  try {
    return input === undefined || Buffer.byteLength(JSON.stringify(input)) <= limitBytes;
  } catch {
    return false;
  }
}
