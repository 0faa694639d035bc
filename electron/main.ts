// Entry of the desktop app: the only file that loads Electron itself.
import * as electron from 'electron';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createStudio } from '../main/studio.ts';
import { startShell } from './shell.ts';

const here = path.dirname(fileURLToPath(import.meta.url));

await startShell({
  electron,
  preload: path.join(here, 'preload.cjs'),
  platform: process.platform,
  argv: process.argv.slice(1),
  startEngine: () => createStudio({ host: 'electron' }),
});
