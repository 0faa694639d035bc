// Finds a Chromium for the end-to-end tests, or gets one and says so.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { chromium } from '@playwright/test';
import { root } from './steps.mjs';

const names = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'msedge',
  'microsoft-edge',
];
const fixedPlaces = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

export function findBrowser() {
  const asked = process.env.AGENTCANVAS_CHROMIUM;
  if (asked && existsSync(asked)) return asked;
  const own = chromium.executablePath();
  if (own && existsSync(own)) return own;
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const onPath = names.flatMap((name) =>
    folders.map((folder) => path.join(folder, process.platform === 'win32' ? `${name}.exe` : name)),
  );
  return [...onPath, ...fixedPlaces].find((candidate) => existsSync(candidate)) ?? null;
}

export async function ensureBrowser() {
  const found = findBrowser();
  if (found) return found;
  console.log('No Chromium found: trying the test runner’s own download …');
  const cli = path.join(root, 'node_modules', '@playwright', 'test', 'cli.js');
  run(process.execPath, [cli, 'install', 'chromium'], 180_000);
  if (findBrowser()) return findBrowser();
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    console.log('That did not work: installing Debian’s chromium package …');
    run('apt-get', ['update'], 300_000);
    run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'], 600_000);
    if (findBrowser()) return findBrowser();
  }
  throw new Error(
    'The end-to-end tests need a Chromium. Install one (for example `apt-get install chromium`, or Google Chrome), or set AGENTCANVAS_CHROMIUM to its path, and run `npm test` again.',
  );
}

function run(command, args, timeoutMs) {
  return (
    spawnSync(command, args, {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: timeoutMs,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0
  );
}
