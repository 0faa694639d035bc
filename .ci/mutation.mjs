// `npm run mutation [target…]`: Stryker over the files that keep the promises, each judged only by the test files that
// are about it. Prints score and survivors; fails below 90 %. `docs/mutation.md` explains what survives.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { root } from './steps.mjs';

const lowestScore = 90;
const folder = path.join(root, '.cache', 'mutation');

const poolTests = ['main/eval/env-worker-pool.test.ts', 'main/eval/pool-endings.test.ts'];

const targets = {
  'restart-policy': {
    mutate: ['main/process/restart-policy.ts', 'main/eval/slot-health.ts'],
    tests: ['main/process/restart-policy.test.ts', 'main/eval/slot-health.test.ts'],
  },
  'execution-guard': {
    mutate: ['main/eval/execution-guard.ts'],
    tests: ['main/eval/execution-guard.test.ts'],
  },
  'flush-rule': {
    mutate: ['main/inference/flush-rule.ts', 'main/inference/failure-rule.ts'],
    tests: ['main/inference/flush-rule.test.ts'],
  },
  'batch-queue': {
    mutate: ['main/inference/batch-queue.ts'],
    tests: ['main/inference/batch-queue.test.ts'],
  },
  journal: {
    mutate: ['main/store/journal.ts', 'main/store/journal-lines.ts'],
    // Those on real files say the same, far more slowly.
    tests: ['main/store/journal-damage.test.ts'],
  },
  'env-worker-pool': {
    mutate: ['main/eval/env-worker-pool.ts'],
    tests: poolTests,
  },
  'worker-slot': {
    mutate: ['main/eval/worker-slot.ts'],
    tests: ['main/eval/worker-slot.test.ts', ...poolTests],
  },
  lease: {
    mutate: ['main/eval/lease.ts'],
    tests: ['main/eval/lease.test.ts', ...poolTests],
  },
  'episode-queue': {
    mutate: ['main/eval/episode-queue.ts'],
    tests: ['main/eval/episode-queue.test.ts', ...poolTests],
  },
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(name in targets));
if (unknown !== undefined) {
  console.error(`There is no target "${unknown}". There are: ${Object.keys(targets).join(', ')}.`);
  process.exit(2);
}

mkdirSync(folder, { recursive: true });
const rows = (asked.length > 0 ? asked : Object.keys(targets)).map(run);
print(rows);
writeFileSync(path.join(folder, 'mutation.json'), `${JSON.stringify(rows, null, 1)}\n`);
process.exit(rows.every(({ score }) => score >= lowestScore) ? 0 : 1);

function run(name) {
  const { mutate, tests } = targets[name];
  const report = path.join(folder, `${name}.json`);
  rmSync(report, { force: true });
  console.error(`mutating ${mutate.join(', ')}`);
  const { status } = spawnSync(
    process.execPath,
    [
      path.join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js'),
      'run',
      path.join('.ci', 'stryker.config.mjs'),
      '--mutate',
      mutate.join(','),
      '--incremental',
      '--incrementalFile',
      path.join('.cache', 'mutation', `${name}.incremental.json`),
    ],
    {
      cwd: root,
      stdio: ['ignore', 2, 2],
      env: {
        ...process.env,
        MUTATION_TESTS: tests.join(','),
        LANE_ORDERS: '300',
        MUTATION_REPORT: report,
        MUTATION_SANDBOX: path.join('.cache', 'mutation', `sandbox-${name}`),
      },
    },
  );
  if (status !== 0 || !existsSync(report)) {
    console.error(`Stryker failed on ${name} (exit code ${status}).`);
    process.exit(70);
  }
  return { name, ...countsOf(JSON.parse(readFileSync(report, 'utf8'))) };
}

function countsOf({ files }) {
  const counts = { killed: 0, timeout: 0, survived: 0, uncovered: 0 };
  const survivors = [];
  for (const [file, { mutants, source }] of Object.entries(files)) {
    const lines = source.split('\n');
    for (const { status, location, mutatorName, replacement } of mutants) {
      if (status === 'Killed') counts.killed++;
      else if (status === 'Timeout') counts.timeout++;
      else if (status === 'Survived') counts.survived++;
      else if (status === 'NoCoverage') counts.uncovered++;
      if (status !== 'Survived' && status !== 'NoCoverage') continue;
      const { line, column } = location.start;
      survivors.push({
        place: `${file}:${line}:${column}`,
        mutator: mutatorName,
        was: textAt(lines, location),
        now: replacement ?? '',
      });
    }
  }
  const found = counts.killed + counts.timeout;
  const all = found + counts.survived + counts.uncovered;
  return { ...counts, score: all === 0 ? 100 : (100 * found) / all, survivors };
}

function textAt(lines, { start, end }) {
  if (start.line !== end.line) return `${lines[start.line - 1].slice(start.column - 1)} …`;
  return lines[start.line - 1].slice(start.column - 1, end.column - 1);
}

function print(all) {
  for (const { name, survivors } of all)
    for (const { place, mutator, was, now } of survivors)
      console.log(`${name}  ${place}  ${mutator}: ${shown(was)} -> ${shown(now)}`);
  console.log('');
  for (const { name, score, killed, timeout, survived, uncovered } of all)
    console.log(
      `${score.toFixed(1).padStart(5)} %  ${name.padEnd(16)} ${killed} killed, ${timeout} timed out, ${survived} survived, ${uncovered} not covered`,
    );
}

function shown(text) {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 69)}…` : line;
}
