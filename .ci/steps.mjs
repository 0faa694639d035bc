// The steps that judge a commit: name, program, arguments. Tests report counts through JSON files, the rest by exit code.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import process from 'node:process';

export const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name, file) => path.join(root, 'node_modules', name, file);
export const reports = path.join(root, '.cache', 'reports');

export function checkSteps() {
  return [
    { name: 'format', args: [bin('oxfmt', 'bin/oxfmt'), '--check'] },
    { name: 'lint', args: [bin('oxlint', 'bin/oxlint'), '--type-aware'] },
    { name: 'types', args: [bin('typescript', 'bin/tsc'), '-b'] },
    {
      name: 'unit',
      args: [
        bin('vitest', 'vitest.mjs'),
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${path.join(reports, 'unit.json')}`,
      ],
      report: path.join(reports, 'unit.json'),
    },
    { name: 'build', args: ['.ci/build.mjs', 'engine', 'renderer', 'electron', 'docs'] },
  ];
}

/** Needs everything built. */
export function packagingSteps() {
  const report = path.join(reports, 'packaging.json');
  return [
    {
      name: 'package',
      args: [
        bin('vitest', 'vitest.mjs'),
        'run',
        '--config',
        '.ci/packaging/vitest.config.ts',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
      ],
      report,
    },
  ];
}

export function endToEndSteps() {
  if (!existsSync(path.join(root, 'e2e', 'playwright.config.ts'))) return [];
  const report = path.join(reports, 'e2e.json');
  return [
    {
      name: 'e2e',
      args: [bin('@playwright/test', 'cli.js'), 'test', '--config', 'e2e/playwright.config.ts'],
      env: { PLAYWRIGHT_JSON_OUTPUT_FILE: report },
      report,
    },
  ];
}

export async function runStep(step) {
  const startedMs = performance.now();
  const code = await new Promise((resolve) => {
    const child = spawn(process.execPath, step.args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...step.env },
    });
    child.once('error', () => resolve(70));
    child.once('exit', (exitCode) => resolve(exitCode ?? 70));
  });
  return { ok: code === 0, seconds: (performance.now() - startedMs) / 1000 };
}
