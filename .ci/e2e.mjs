// `npm run e2e`: the end-to-end specs alone; `-- --electron` runs the same specs against the real Electron binary.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { ensureBrowser } from './browser.mjs';
import { root } from './steps.mjs';

const asked = process.argv.slice(2);
const electron = asked.includes('--electron');
const env = { ...process.env, AGENTCANVAS_E2E_HOST: electron ? 'electron' : 'web' };
if (electron) fetchElectron();
else env.AGENTCANVAS_CHROMIUM = await ensureBrowser();
const rest = asked.filter((word) => word !== '--electron');
const runner = path.join(root, 'node_modules', '@playwright', 'test', 'cli.js');
const { status } = spawnSync(
  process.execPath,
  [runner, 'test', '--config', 'e2e/playwright.config.ts', ...rest],
  { cwd: root, stdio: 'inherit', env },
);
process.exit(status ?? 70);

/** Electron's own installer; it does nothing when the binary is there. */
function fetchElectron() {
  const { status: fetched } = spawnSync(
    process.execPath,
    [path.join(root, 'node_modules', 'electron', 'install.js')],
    { stdio: 'inherit', timeout: 300_000 },
  );
  if (fetched === 0) return;
  console.error('The Electron binary could not be fetched. Check the network and run the command again.');
  process.exit(1);
}
