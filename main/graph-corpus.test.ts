// Graphs and nodesets written to the public format by somebody else, each with its expected result, through the real
// engine: every construct of docs/graph-format.md, every import name that AgentCanvas's nodesets use.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { EpisodeAttempt } from './contract/run.ts';
import { localTransport } from './hosts/engine.ts';
import { pythonInterpreter } from './nodeset/testing/test-registry.ts';
import { createStudio, type Studio } from './studio.ts';

interface Expected {
  /** Verdict of the only episode, with its metrics. */
  readonly status?: string;
  readonly metrics?: Readonly<Record<string, number>>;
  /** Of every episode. */
  readonly rows?: readonly Readonly<Record<string, number>>[];
  readonly selectors?: Readonly<Record<string, string>>;
  /** Part of the episode's error. */
  readonly error?: string;
  /** Rule of the diagnostic that refuses it. */
  readonly refused?: string;
  /** Part of the message about the nodeset that cannot be used. */
  readonly failed?: string;
}

const corpus = path.join(import.meta.dirname, 'graph/testing/corpus');
const expected = JSON.parse(readFileSync(path.join(corpus, 'expected.json'), 'utf8')) as Record<
  string,
  Expected
>;
const graphs = Object.entries(expected);
const interpreter = pythonInterpreter();
const hasPython = existsSync(interpreter) && process.platform !== 'win32';

let root: string;
let studio: Studio;

beforeAll(async () => {
  if (!hasPython) return;
  root = await mkdtemp(path.join(os.tmpdir(), 'corpus ☂ '));
  vi.stubEnv('AGENTCANVAS_HOME', path.join(root, 'home'));
  vi.stubEnv('ELSEWHERE_PYTHON', interpreter);
  const workspace = path.join(root, 'workspace');
  await mkdir(workspace, { recursive: true });
  for (const folder of ['nodesets', 'graphs'])
    await cp(path.join(corpus, folder), path.join(workspace, folder), { recursive: true });
  await writeFile(path.join(workspace, 'settings.json'), JSON.stringify({ python: interpreter }));
  studio = await createStudio({ host: 'cli', workspace, trust: [workspace] });
  // Kept for all graphs, instead of a process per graph.
  for (const name of ['kit', 'borrow']) await localTransport(studio).request('nodesets.load', { name });
}, 90_000);

afterAll(async () => {
  if (!hasPython) return;
  await studio[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
}, 30_000);

async function run(graph: string, { selectors = {}, rows }: Expected): Promise<readonly EpisodeAttempt[]> {
  const finished = Promise.withResolvers<void>();
  using _subscription = studio.feed.subscribe((message) => {
    if (message.name === 'run.finished') finished.resolve();
  });
  const episodes = rows?.length ?? 1;
  const config = { graph, episodes, selectors, recording: 'none', retry: { attempts: 1, on: [] } } as const;
  const reply = await localTransport(studio).request('runs.start', {
    config: { ...config, retry: { attempts: 1, on: [] } },
  });
  if (!reply.ok) throw new Error(reply.error.message);
  await finished.promise;
  const { runId } = reply.value;
  const got = await localTransport(studio).request('runs.get', { runId });
  if (got.ok && got.value.record.error) throw new Error(got.value.record.error.message);
  const journal = path.join(studio.workspaceFolder, 'outputs/eval_runs', runId, 'episodes.jsonl');
  return (await readFile(journal, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as EpisodeAttempt);
}

async function refusalOf(graph: string): Promise<readonly string[]> {
  const text = await readFile(path.join(corpus, 'graphs', `${graph}.json`), 'utf8');
  const reply = await localTransport(studio).request('graphs.validate', { text });
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.value.diagnostics.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
}

it('the corpus lists exactly the files it has', () => {
  const files = readdirSync(path.join(corpus, 'graphs')).map((file) => file.replace(/\.json$/, ''));
  expect(files.sort()).toEqual(graphs.map(([name]) => name).sort());
});

const valid = graphs.filter(([, { failed, refused, error }]) => !failed && !refused && !error);
const failing = graphs.filter(([, { error }]) => error !== undefined);
const refused = graphs.filter(([, wanted]) => wanted.refused !== undefined);
const unusable = graphs.filter(([, { failed }]) => failed !== undefined);

describe.skipIf(!hasPython)('somebody else’s graph', () => {
  it.each(valid)('%s gives what its file says', async (name, wanted) => {
    const rows = await run(name, wanted);
    const { rows: each = [wanted.metrics] } = wanted;
    expect(rows.map(({ status }) => status)).toEqual(each.map(() => wanted.status));
    expect(rows.map(({ metrics }) => metrics)).toEqual(each);
  });

  it.each(failing)('%s ends with the error of its node', async (name, wanted) => {
    const [row] = await run(name, wanted);
    expect(row?.status).toBe(wanted.status);
    expect(JSON.stringify(row?.error)).toContain(wanted.error);
  });

  it.each(refused)('%s is refused by its rule, and not run', async (name, wanted) => {
    expect(await refusalOf(name)).toContain(wanted.refused);
    await expect(run(name, wanted)).rejects.toThrow(/./);
  });

  it.each(unusable)('%s says which name its nodeset reached for', async (name, wanted) => {
    await expect(run(name, wanted)).rejects.toThrow(wanted.failed);
  });
});
