// `npm start`: the desktop app where Electron's binary is or can be fetched, otherwise the same app through the web
// host: in a window of a browser of this machine, or at the printed address. `-- --web` asks for the latter.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { findBrowser } from './browser.mjs';
import { root } from './steps.mjs';

const fetchLimitMs = 60_000;
const asked = process.argv.slice(2);
const wantsWeb = asked.includes('--web');
const rest = asked.filter((word) => word !== '--web');
const electron = wantsWeb ? null : electronBinary();

await (electron ? startElectron(electron) : startWeb());

/** Electron's own installer fetches the binary; offline it gives up, or we do. */
function electronBinary() {
  const folder = path.join(root, 'node_modules', 'electron');
  const found = () => {
    const name = path.join(folder, 'path.txt');
    const binary = existsSync(name) ? path.join(folder, 'dist', readFileSync(name, 'utf8').trim()) : '';
    return binary !== '' && existsSync(binary) ? binary : null;
  };
  if (found()) return found();
  console.error('Fetching the Electron binary (at most 60 s) …');
  const env = { ...process.env };
  delete env.ELECTRON_SKIP_BINARY_DOWNLOAD;
  const { error, status } = spawnSync(process.execPath, [path.join(folder, 'install.js')], {
    env,
    stdio: 'ignore',
    timeout: fetchLimitMs,
  });
  if (found()) return found();
  const why =
    error?.code === 'ETIMEDOUT'
      ? 'the download took longer than 60 s'
      : `its download failed (exit code ${status ?? 'none'})`;
  console.error(`Electron is not here and ${why}: opening the same app through the web host.`);
  return null;
}

async function startElectron(binary) {
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
    console.error('There is no display for a desktop window: opening the same app through the web host.');
    return startWeb();
  }
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const child = spawn(binary, [root, ...args, ...rest], { stdio: 'inherit' });
  child.once('exit', (code) => process.exit(code ?? 0));
}

async function startWeb() {
  const server = spawn(
    process.execPath,
    [path.join(root, 'dist', 'engine', 'cli.mjs'), 'serve', '--json', ...rest],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal));
  server.once('exit', (code) => process.exit(code ?? 0));
  for await (const line of createInterface({ input: server.stdout })) {
    const event = JSON.parse(line);
    if (event.event !== 'serving') continue;
    console.log(`AgentCanvas is at ${event.address}`);
    console.log('The address carries the key to this session. Ctrl-C ends it.');
    openWindow(event.address);
  }
}

/** A window without tabs and address bar, in a profile of its own; only where there is a display. */
function openWindow(address) {
  const hasDisplay = process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  const browser = hasDisplay ? findBrowser() : null;
  if (!browser) return;
  const profile = mkdtempSync(path.join(os.tmpdir(), 'agentcanvas-window-'));
  const args = [
    `--app=${address}`,
    `--user-data-dir=${profile}`,
    '--no-first-run',
    '--no-default-browser-check',
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ];
  spawn(browser, args, { stdio: 'ignore', detached: true }).unref();
}
