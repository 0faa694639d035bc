// The real command line as a child process on a workspace of its own, in a folder whose name has a space and a quote.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readdir, readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

const root = path.resolve(import.meta.dirname, '../../..');
const program = path.join(root, 'dist/engine/cli.mjs');

/** The bundle as users run it, built if the sources changed. */
export function buildCli(): void {
  execFileSync(process.execPath, [path.join(root, '.ci/build.mjs'), 'engine'], {
    cwd: root,
    stdio: 'inherit',
  });
}

export interface Surroundings {
  readonly folder: string;
  readonly workspace: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export async function makeSurroundings(): Promise<Surroundings> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "cli it's "));
  const workspace = path.join(folder, 'ws');
  await mkdir(path.join(workspace, 'graphs'), { recursive: true });
  return {
    folder,
    workspace,
    environment: { ...process.env, AGENTCANVAS_HOME: path.join(folder, 'home'), INIT_CWD: folder },
  };
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly events: readonly CliEvent[];
}

export interface CliEvent {
  readonly event?: string;
  readonly [name: string]: unknown;
}

export interface Running {
  readonly child: ChildProcess;
  /** Resolves with the first event that fits. */
  waitFor(fits: (event: CliEvent) => boolean): Promise<CliEvent>;
  readonly finished: Promise<Finished>;
}

export function startCli({ workspace, environment, folder }: Surroundings, args: readonly string[]): Running {
  const child = spawn(process.execPath, [program, '--workspace', workspace, ...args], {
    env: environment,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const events: CliEvent[] = [];
  const waiting = new Set<{
    fits: (event: CliEvent) => boolean;
    resolve: (event: CliEvent) => void;
    reject: (error: Error) => void;
  }>();
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  createInterface({ input: child.stdout }).on('line', (line) => {
    stdout += `${line}\n`;
    if (!line.startsWith('{')) return;
    const event = JSON.parse(line) as CliEvent;
    events.push(event);
    for (const waiter of waiting) {
      if (!waiter.fits(event)) continue;
      waiting.delete(waiter);
      waiter.resolve(event);
    }
  });
  const finished = once(child, 'close').then(() => {
    for (const waiter of waiting) waiter.reject(new Error(`ended with ${child.exitCode}: ${stderr}`));
    return { code: child.exitCode, stdout, stderr, events };
  });
  return {
    child,
    finished,
    waitFor(fits) {
      const seen = events.find(fits);
      if (seen) return Promise.resolve(seen);
      return new Promise((resolve, reject) => waiting.add({ fits, resolve, reject }));
    },
  };
}

export function runCli(surroundings: Surroundings, ...args: readonly string[]): Promise<Finished> {
  return startCli(surroundings, args).finished;
}

export interface FinalRow {
  readonly ordinal: number;
  readonly final: boolean;
  readonly status: string;
  readonly attempt: number;
  readonly metrics: Readonly<Record<string, unknown>>;
  readonly steps: number;
}

/** The attempts on disk, without their checksums. */
export async function readJournal({ workspace }: Surroundings, runId: string): Promise<FinalRow[]> {
  const text = await readFile(path.join(workspace, 'outputs/eval_runs', runId, 'episodes.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as FinalRow);
}

/** Processes whose environment names this surroundings' home: the engine's children carry it. */
export async function livingProcesses({ environment }: Surroundings): Promise<number[]> {
  const mark = `AGENTCANVAS_HOME=${environment['AGENTCANVAS_HOME']}`;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const living = await Promise.all(
    pids.map(async (pid) => {
      const [text, stat] = await Promise.all([
        readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''),
        readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''),
      ]);
      const isZombie = /\) Z /.test(stat);
      return text.split('\0').includes(mark) && !isZombie ? pid : null;
    }),
  );
  return living.filter((pid) => pid !== null);
}
