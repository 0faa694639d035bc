// `npm run reliability`: runs every row of the table in docs/reliability.md, or those named with --only, prints their
// figures, writes bench-results/reliability.json and brings the table up to date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import type { RowModule, RowResult, Scale } from './row.ts';
import { rowNames } from './row-names.ts';
import { updateTable, type StoredRow } from './table.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    scale: { type: 'string', default: 'full' },
    seed: { type: 'string', default: '1' },
  },
});
if (values.scale !== 'full' && values.scale !== 'reduced') fail('--scale is full or reduced.');
const scale: Scale = values.scale === 'reduced' ? 'reduced' : 'full';
const seed = Number(values.seed);
if (!Number.isSafeInteger(seed)) fail('--seed is a whole number.');
const names = values.only ?? rowNames.filter(isThere);
for (const name of names)
  if (!isThere(name)) fail(`There is no row "${name}". Rows: ${rowNames.join(', ')}.`);

const folder = path.resolve(import.meta.dirname, '../../bench-results');
const file = path.join(folder, 'reliability.json');
let stored = readStored();
const stop = new AbortController();
process.once('SIGINT', () => stop.abort(new Error('stopped by the user')));
let failed = 0;
for (const name of names) {
  const startMs = performance.now();
  const result = await attempt(name);
  const seconds = Math.round((performance.now() - startMs) / 100) / 10;
  report(result, seconds);
  if (!result.ok) failed++;
  // Another row may have been measured beside this one.
  stored = readStored();
  // A quick look does not replace what was measured in full.
  if (scale === 'full' || stored.get(name)?.scale !== 'full')
    stored.set(name, { ...result, name, seed, scale, seconds, date: new Date().toISOString() });
  save();
  if (stop.signal.aborted) break;
}
console.log(failed === 0 ? `${names.length} rows hold.` : `${failed} of ${names.length} rows do not hold.`);
process.exit(failed === 0 ? 0 : 1);

function isThere(name: string): boolean {
  return existsSync(path.join(import.meta.dirname, `${name}.ts`));
}

async function attempt(name: string): Promise<RowResult> {
  try {
    const { run } = (await import(`./${name}.ts`)) as RowModule;
    return await run({ seed, scale, signal: stop.signal, log: (line) => console.log(`  ${name}: ${line}`) });
  } catch (error) {
    const story = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { name, figures: { failed: 1 }, ok: false, details: story };
  }
}

function report({ name, ok, figures, details }: RowResult, seconds: number): void {
  console.log(`${ok ? 'holds ' : 'BROKEN'} ${name} (seed ${seed}, ${scale}, ${seconds} s)`);
  for (const [figure, value] of Object.entries(figures)) console.log(`    ${figure}: ${value}`);
  if (!ok) {
    console.log(
      `    replay: node .ci/bootstrap.mjs reliability --only ${name} --seed ${seed} --scale ${scale}`,
    );
    console.log(typeof details === 'string' ? details : JSON.stringify(details, null, 2));
  }
}

function readStored(): Map<string, StoredRow> {
  if (!existsSync(file)) return new Map();
  const { rows } = JSON.parse(readFileSync(file, 'utf8')) as { rows: StoredRow[] };
  return new Map(rows.map((row) => [row.name, row]));
}

function save(): void {
  mkdirSync(folder, { recursive: true });
  const machine = {
    cpu: os.cpus()[0]?.model ?? '',
    cores: os.availableParallelism(),
    node: process.versions.node,
    system: `${os.type()} ${os.release()}`,
  };
  const rows = rowNames.flatMap((name) => stored.get(name) ?? []);
  writeFileSync(file, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
  if (scale === 'full')
    updateTable(
      machine,
      rows.filter((row) => row.scale === 'full'),
    );
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
