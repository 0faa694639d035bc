// A workspace of its own for one experiment: the nodesets of this folder, graphs over them, settings, a user folder, and
// a mark in the environment by which everything that was started is found again.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { recurrentPolicy } from '../../main/inference/testing/sample-models.ts';
import { loopGraph } from './graphs.ts';
import { markVariable } from './living.ts';

export interface BenchWorkspace extends AsyncDisposable {
  readonly folder: string;
  /** Beside it: flags, sockets and whatever else an experiment leaves. */
  readonly scratch: string;
  readonly mark: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface BenchWorkspaceOptions {
  /** Part of the path. */
  readonly name?: string;
  readonly nodesets?: readonly string[];
  readonly settings?: Readonly<Record<string, unknown>>;
}

export async function createBenchWorkspace(options: BenchWorkspaceOptions = {}): Promise<BenchWorkspace> {
  const { name = 'reliability', nodesets = ['wanderer.ts'], settings = {} } = options;
  const scratch = await mkdtemp(path.join(os.tmpdir(), `${name}-`));
  const folder = path.join(scratch, 'workspace');
  await mkdir(path.join(folder, 'graphs'), { recursive: true });
  await mkdir(path.join(folder, 'nodesets'));
  await mkdir(path.join(scratch, 'flags'));
  for (const file of nodesets)
    await cp(path.join(import.meta.dirname, 'nodesets', file), path.join(folder, 'nodesets', file));
  const graphs = [
    loopGraph({ name: 'plain', environment: 'wanderer', ports: ['observation', 'action'] }),
    loopGraph({ name: 'policy', environment: 'wanderer', ports: ['observation', 'action'], policy: true }),
    loopGraph({ name: 'hanging', environment: 'hanging', ports: ['count', 'count'], start: 'start' }),
  ];
  for (const graph of graphs)
    await writeFile(path.join(folder, 'graphs', `${graph.name}.json`), JSON.stringify(graph));
  await writeFile(
    path.join(folder, 'policy.onnx'),
    recurrentPolicy({ observation: 6, hidden: 16, actions: 4 }),
  );
  await writeFile(path.join(folder, 'settings.json'), JSON.stringify(settings));
  const mark = randomUUID();
  const environment = {
    [markVariable]: mark,
    AGENTCANVAS_HOME: path.join(scratch, 'home'),
    AC_WANDERER_FLAGS: path.join(scratch, 'flags'),
  };
  return {
    folder,
    scratch,
    mark,
    environment,
    [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true, maxRetries: 3 }),
  };
}

export interface JournalRow {
  readonly ordinal: number;
  readonly final: boolean;
  readonly status: string;
  readonly attempt: number;
  readonly steps: number;
  readonly seed: number;
  readonly durationMs: number;
  readonly startedAt: string;
  readonly worker: number;
  readonly metrics: Readonly<Record<string, unknown>>;
}

/** Files have names in snake case. */
interface StoredRow extends Omit<JournalRow, 'durationMs' | 'startedAt'> {
  readonly duration_ms: number;
  readonly started_at: string;
}

/** The rows on disk, as written: one line each, a checksum in front. A torn last line is left out. */
export async function readJournal(folder: string, runId: string): Promise<readonly JournalRow[]> {
  const file = path.join(folder, 'outputs/eval_runs', runId, 'episodes.jsonl');
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(0, -1);
  return lines.map((line) => {
    const row = JSON.parse(line.slice(line.indexOf('{'))) as StoredRow;
    return { ...row, durationMs: row.duration_ms, startedAt: row.started_at };
  });
}

/** What must not depend on how a run was carried out, by ordinal. */
export function outcomesOf(rows: readonly JournalRow[]): readonly string[] {
  return rows
    .filter((row) => row.final)
    .toSorted((a, b) => a.ordinal - b.ordinal)
    .map(({ ordinal, seed, status, steps, metrics }) =>
      JSON.stringify({ ordinal, seed, status, steps, metrics }),
    );
}
