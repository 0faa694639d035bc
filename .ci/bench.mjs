// `npm run bench [name…] [--flag…]`: prints tables and writes JSON to bench-results/. Benchmarks decide nothing in CI.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { root } from './steps.mjs';

const folder = path.join(root, '.ci', 'bench');
const known = readdirSync(folder)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -3));
const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const flags = process.argv.slice(2).filter((word) => word.startsWith('--'));
for (const name of asked.length > 0 ? asked : ['overhead', 'memory']) {
  const file = path.join(folder, `${name}.ts`);
  if (!existsSync(file)) {
    console.error(`There is no benchmark "${name}". There are: ${known.join(', ')}.`);
    process.exit(2);
  }
  const { status } = spawnSync(process.execPath, ['--expose-gc', file, ...flags], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 70);
}
