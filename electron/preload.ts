// Runs sandboxed in the page's isolated world and hands it three named functions; nothing of Electron or Node.
import { contextBridge, ipcRenderer, webUtils } from 'electron';

const invokeChannel = 'agentcanvas:invoke';
const messageChannel = 'agentcanvas:message';

const bridge = {
  /** A request of the contract; resolves with its reply. */
  invoke: (name: string, input: unknown): Promise<unknown> => ipcRenderer.invoke(invokeChannel, name, input),
  /** Numbered events from now on; returns the function that ends it. */
  onMessage: (listener: (message: unknown) => void): (() => void) => {
    const forward = (_event: unknown, message: unknown): void => listener(message);
    ipcRenderer.on(messageChannel, forward);
    return () => void ipcRenderer.off(messageChannel, forward);
  },
  /** Path of a file that the user dropped on the page. */
  pathOfDroppedFile: (file: File): string => webUtils.getPathForFile(file),
};

// The page of another engine in this window speaks to its own host.
if (location.protocol === 'app:') contextBridge.exposeInMainWorld('agentcanvas', bridge);
