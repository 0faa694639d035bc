// Whole runs of Gymnasium's CartPole on Ray, with what dies in the middle. AGENTCANVAS_TEST_RAY_PYTHON names an
// interpreter that has ray and gymnasium, else python3 is asked; where it has neither these tests are skipped.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EvalConfigInput } from './contract/eval-config.ts';
import { events } from './contract/events.ts';
import type { EpisodeAttempt } from './contract/run.ts';
import { localTransport } from './hosts/engine.ts';
import { pythonInterpreter } from './nodeset/testing/test-registry.ts';
import { listProcesses } from './process/process-table.ts';
import { createStudio, type Studio } from './studio.ts';

const interpreter = process.env['AGENTCANVAS_TEST_RAY_PYTHON'] ?? pythonInterpreter();
const episodeCount = 200;

function hasRay(): boolean {
  if (process.platform !== 'linux' || interpreter === '') return false;
  try {
    execFileSync(
      interpreter,
      [
        '-c',
        'import importlib.util as u, sys; sys.exit(not (u.find_spec("ray") and u.find_spec("gymnasium")))',
      ],
      { stdio: 'ignore' },
    );
    return true;
  } catch {
    return false;
  }
}

let root: string;
let studio: Studio;

async function openStudio(ray: object): Promise<void> {
  root = await mkdtemp(path.join(os.tmpdir(), 'ray run ☂ '));
  vi.stubEnv('AGENTCANVAS_HOME', path.join(root, 'home'));
  vi.stubEnv('GYMNASIUM_PYTHON', interpreter);
  const workspace = path.join(root, 'workspace');
  await mkdir(workspace, { recursive: true });
  const settings = { python: interpreter, spawners: { ray } };
  await writeFile(path.join(workspace, 'settings.json'), JSON.stringify(settings));
  studio = await createStudio({ host: 'cli', workspace });
}

afterEach(async () => {
  await studio[Symbol.asyncDispose]();
  await vi.waitFor(
    async () => {
      const left = await ours('');
      if (left.length > 0) throw new Error(`processes outlive the engine: ${left.join(', ')}`);
    },
    { timeout: 2_000, interval: 100 },
  );
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
}, 30_000);

/** Processes of this test whose command line contains the text. */
async function ours(text: string): Promise<readonly number[]> {
  const mark = `AGENTCANVAS_HOME=${path.join(root, 'home')}`;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const read = (file: string): Promise<string> =>
        readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
      const [environment, command, stat] = await Promise.all([
        read('environ'),
        read('cmdline'),
        read('stat'),
      ]);
      const isRunning = stat !== '' && !/\) Z /.test(stat) && pid !== process.pid;
      return isRunning && environment.includes(mark) && command.replaceAll('\0', ' ').includes(text)
        ? [pid]
        : [];
    }),
  );
  return found.flat();
}

interface Evaluated {
  readonly finals: readonly EpisodeAttempt[];
  readonly attempts: number;
}

/** `at` is called once when that many episodes have finished. */
async function evaluate(
  config: Partial<EvalConfigInput>,
  at: ReadonlyMap<number, () => Promise<void>> = new Map(),
): Promise<Evaluated> {
  const finished = Promise.withResolvers<string>();
  const steps = new Map(at);
  using _subscription = studio.feed.subscribe((message) => {
    if (message.name === 'run.finished') finished.resolve('');
    if (message.name !== 'run.live') return;
    const done = events['run.live'].parse(message.payload).live.summary.counts.completed;
    for (const [count, action] of steps)
      if (done >= count) {
        steps.delete(count);
        void action();
      }
  });
  const reply = await localTransport(studio).request('runs.start', {
    config: {
      graph: 'cartpole_policy',
      episodes: episodeCount,
      workerCount: 2,
      stepBudget: 60,
      recording: 'none',
      ...config,
    },
  });
  if (!reply.ok) throw new Error(reply.error.message);
  const { runId } = reply.value;
  await finished.promise;
  const got = await localTransport(studio).request('runs.get', { runId });
  if (got.ok && got.value.record.error) throw new Error(got.value.record.error.message);
  expect([...steps.keys()]).toEqual([]);
  const journal = path.join(studio.workspaceFolder, 'outputs/eval_runs', runId, 'episodes.jsonl');
  const rows = (await readFile(journal, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as EpisodeAttempt);
  return { finals: rows.filter(({ final }) => final), attempts: rows.length };
}

function totalsOf({ finals }: Evaluated): readonly unknown[] {
  return finals
    .map(({ ordinal, status, steps, metrics }) => ({ ordinal, status, steps, metrics }))
    .sort((a, b) => a.ordinal - b.ordinal);
}

async function killOne(text: string): Promise<void> {
  const [pid] = await ours(text);
  if (pid === undefined) throw new Error(`no process of this test runs ${text}`);
  process.kill(pid, 'SIGKILL');
}

describe.skipIf(!hasRay())('a run on a local Ray', () => {
  beforeEach(async () => {
    await openStudio({ cpus: 2, object_store_mb: 80 });
  });

  it('gives the totals of a run without Ray, whatever dies in the middle', async () => {
    const plain = await evaluate({});
    const deaths = new Map([
      [40, () => killOne('-m agentcanvas_host')],
      [80, () => killOne('ray::Replica')],
      [120, () => killOne('raylet/raylet')],
    ]);
    const onRay = await evaluate({ spawner: 'ray' }, deaths);
    expect(onRay.finals).toHaveLength(episodeCount);
    expect(onRay.attempts).toBeGreaterThan(episodeCount);
    expect(totalsOf(onRay)).toEqual(totalsOf(plain));
  }, 240_000);
});

/** A node that loses its power: its raylet and the workers it started end at once. */
async function killNode(raylet: number): Promise<void> {
  const processes = await listProcesses();
  const workers = processes.filter(({ parentPid }) => parentPid === raylet);
  for (const { pid } of [{ pid: raylet }, ...workers]) process.kill(pid, 'SIGKILL');
}

describe.skipIf(!hasRay())('a run on a Ray cluster of two nodes', () => {
  let cluster: ChildProcess;
  let raylet: number;

  beforeEach(async () => {
    const program = path.join(import.meta.dirname, 'nodeset/spawners/testing/ray_cluster.py');
    cluster = spawn(interpreter, [program], { stdio: ['pipe', 'pipe', 'ignore'] });
    if (!cluster.stdout) throw new Error('no output');
    const [line] = (await once(createInterface({ input: cluster.stdout }), 'line')) as [string];
    const said = JSON.parse(line) as { address: string; raylet: number };
    raylet = said.raylet;
    await openStudio({ address: said.address });
  }, 60_000);

  afterEach(async () => {
    const ended = once(cluster, 'exit');
    cluster.stdin?.end();
    await ended;
  }, 30_000);

  it('loses a node in the middle and gives the same totals from the other', async () => {
    const plain = await evaluate({});
    const deaths = new Map([[60, () => killNode(raylet)]]);
    const onRay = await evaluate({ spawner: 'ray' }, deaths);
    expect(onRay.finals).toHaveLength(episodeCount);
    expect(onRay.attempts).toBeGreaterThan(episodeCount);
    expect(totalsOf(onRay)).toEqual(totalsOf(plain));
  }, 240_000);
});
