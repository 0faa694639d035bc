// The command line as users run it, in the surroundings that break programs: awkward paths, another locale, proxies that
// lead nowhere, options for Node in the environment, few descriptors. Each evaluates a few episodes to the same results.
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { createBenchWorkspace, outcomesOf, readJournal } from './bench-workspace.ts';
import { livingWith, untilNoneLives } from './living.ts';
import { pythonInterpreter } from './hang-cases.ts';
import { atScale, Faults, type RowOptions, type RowResult } from './row.ts';

const root = path.resolve(import.meta.dirname, '../..');
const program = path.join(root, 'dist/engine/cli.mjs');

interface Surroundings {
  readonly name: string;
  /** Name of the folder everything is in. */
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly descriptors?: number;
  readonly workers?: number;
}

const all: readonly Surroundings[] = [
  { name: 'nothing special' },
  { name: 'path with spaces', folder: 'my work space ' },
  { name: 'path with quotes', folder: `it's "quoted" \`and\` $HOME` },
  { name: 'path in CJK', folder: '評価 実験室' },
  { name: 'path with emoji', folder: '🤖 runs 👩‍🔬' },
  { name: 'path with % and #', folder: '100% #1 a&b;c?d' },
  { name: 'LANG=C', environment: { LANG: 'C', LC_ALL: 'C', PYTHONUTF8: '0' }, folder: '評価' },
  {
    name: 'proxies that lead nowhere',
    environment: {
      http_proxy: 'http://127.0.0.1:9',
      https_proxy: 'http://127.0.0.1:9',
      HTTP_PROXY: 'http://127.0.0.1:9',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      ALL_PROXY: 'socks5://127.0.0.1:9',
      NODE_USE_ENV_PROXY: '1',
    },
  },
  {
    name: 'NODE_OPTIONS',
    environment: { NODE_OPTIONS: '--max-old-space-size=900 --trace-warnings --inspect=127.0.0.1:0' },
  },
  { name: '256 descriptors, 8 workers', descriptors: 256, workers: 8 },
];

export async function run({ scale, signal, log }: RowOptions): Promise<RowResult> {
  execFileSync(process.execPath, [path.join(root, '.ci/build.mjs'), 'engine'], {
    cwd: root,
    stdio: 'ignore',
  });
  const reduced = ['nothing special', 'path with quotes', 'NODE_OPTIONS'];
  const cases = atScale(
    scale,
    all,
    all.filter(({ name }) => reduced.includes(name)),
  );
  const faults = new Faults();
  let expected = '';
  let passed = 0;
  for (const each of process.platform === 'win32'
    ? cases.filter((one) => one.descriptors === undefined)
    : cases) {
    signal.throwIfAborted();
    const before = faults.count;
    const outcomes = await evaluateIn(each, faults);
    expected ||= outcomes;
    faults.check(outcomes === expected, () => `${each.name}: other results`);
    if (faults.count === before) passed++;
    log(`${each.name}: ${faults.count === before ? 'passes' : 'FAILS'}`);
  }
  return {
    name: 'hostile-surroundings',
    figures: { surroundings: cases.length, passed },
    ok: faults.count === 0,
    details: faults.stories,
  };
}

/** The outcomes of the TypeScript and, where there is a Python, of the Python environment. */
async function evaluateIn(each: Surroundings, faults: Faults): Promise<string> {
  const { folder = 'plain', environment = {}, workers = 2 } = each;
  const python = pythonInterpreter();
  await using workspace = await createBenchWorkspace({
    name: 'hostile',
    nodesets: ['wanderer.ts', ...(python === '' ? [] : ['hanging.py'])],
    settings: { python },
  });
  const moved = path.join(workspace.scratch, folder, 'ws');
  await mkdir(path.dirname(moved), { recursive: true });
  await rename(workspace.folder, moved);
  const variables = {
    ...workspace.environment,
    AGENTCANVAS_HOME: path.join(workspace.scratch, folder, 'home'),
    ...environment,
  };
  const outcomes: string[] = [];
  for (const graph of ['policy', ...(python === '' ? [] : ['hanging'])]) {
    const { code, output } = await evaluate(moved, {
      graph,
      workers,
      variables,
      descriptors: each.descriptors,
    });
    faults.check(code === 0, () => `${each.name}: ${graph} ended with ${code}: ${output.slice(-600)}`);
    const runs = await readdir(path.join(moved, 'outputs/eval_runs')).catch(() => []);
    const latest = runs.toSorted((a, b) => (a < b ? -1 : 1)).at(-1) ?? '';
    outcomes.push(...outcomesOf(await readJournal(moved, latest)));
  }
  const gone = await untilNoneLives(async () => (await livingWith(workspace.mark)).length > 0, 2000);
  faults.check(gone !== undefined, () => `${each.name}: processes are left`);
  return outcomes.join('\n');
}

interface Evaluation {
  readonly graph: string;
  readonly workers: number;
  readonly variables: Readonly<Record<string, string>>;
  readonly descriptors: number | undefined;
}

function evaluate(
  workspace: string,
  { graph, workers, variables, descriptors }: Evaluation,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const args = [program, '--workspace', workspace, '--trust', workspace, 'eval', graph];
  const options = ['--episodes', '16', '--workers', String(workers), '--seed', '4'];
  const command = [process.execPath, ...args, ...options];
  const [file = '', ...rest] =
    descriptors === undefined
      ? command
      : ['/bin/sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh', ...command];
  const child = spawn(file, rest, {
    cwd: workspace,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output }));
  });
}
