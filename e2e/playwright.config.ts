// The same specs for both hosts: `web` in any Chromium, `electron` where its binary exists.
import { defineConfig } from '@playwright/test';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

export default defineConfig({
  testDir: import.meta.dirname,
  outputDir: path.join(root, 'test-results'),
  // Two cores are enough for one app and its environments.
  workers: 1,
  fullyParallel: false,
  timeout: 240_000,
  expect: { timeout: 30_000 },
  // A shared machine may be slow at the wrong moment; what needed a second try is reported as flaky.
  retries: process.env['CI'] === undefined ? 0 : 1,
  forbidOnly: process.env['CI'] !== undefined,
  reporter: [
    ['list'],
    [
      'json',
      {
        outputFile: process.env['PLAYWRIGHT_JSON_OUTPUT_FILE'] ?? path.join(root, '.cache/reports/e2e.json'),
      },
    ],
  ],
  use: { trace: 'retain-on-failure', viewport: { width: 1280, height: 800 } },
  projects: [{ name: process.env['AGENTCANVAS_E2E_HOST'] === 'electron' ? 'electron' : 'web' }],
});
