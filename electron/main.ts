// Entry of the desktop app: the only file that loads Electron itself. The engine is loaded from plain files, where its
// helper programs can be too: beside the asar in an installation, in dist/ in a checkout.
import * as electron from 'electron';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { keyCipher } from './key-cipher.ts';
import { startShell, type ShellEngine } from './shell.ts';
import { startUpdates, type Updater } from './updates.ts';

const here = path.dirname(fileURLToPath(import.meta.url));
const engineFolder = electron.app.isPackaged
  ? path.join(process.resourcesPath, 'engine')
  : path.join(here, '../engine');

await startShell({
  electron,
  preload: path.join(here, 'preload.cjs'),
  platform: process.platform,
  argv: process.argv.slice(1),
  startEngine,
  startUpdates: (surroundings) =>
    startUpdates({
      ...surroundings,
      build: { packaged: electron.app.isPackaged, signed: __SIGNED_BUILD__, platform: process.platform },
      loadUpdater,
    }),
});

/** Left to itself it would download at once, install when the app quits, and print. */
async function loadUpdater(): Promise<Updater> {
  const { autoUpdater } = await import('electron-updater');
  autoUpdater.autoDownload = false;
  autoUpdater.autoInstallOnAppQuit = false;
  autoUpdater.logger = null;
  return autoUpdater;
}

async function startEngine(): Promise<ShellEngine> {
  const engine = (await import(
    pathToFileURL(path.join(engineFolder, 'studio.mjs')).href
  )) as typeof import('../main/studio.ts');
  const at = process.argv.indexOf('--workspace');
  return engine.createStudio({
    host: 'electron',
    workspace: at > 0 ? process.argv[at + 1] : undefined,
    openFolder: async (folder) => void (await electron.shell.openPath(folder)),
    keyCipher: keyCipher(electron.safeStorage, process.platform),
  });
}
