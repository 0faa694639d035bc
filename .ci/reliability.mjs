// `npm run reliability [-- --only name] [--scale full|reduced] [--seed n]`: the table of docs/reliability.md, measured
// with the engine as it is shipped.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { root } from './steps.mjs';

const program = path.join(root, '.ci', 'reliability', 'main.ts');
const { status } = spawnSync(process.execPath, ['--expose-gc', program, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, AC_RELIABILITY_BUNDLE: '1' },
});
process.exit(status ?? 70);
