// Published and exact scores of the shipped Python nodesets, through whole runs of the real engine with four workers.
// AGENTCANVAS_TEST_PYTHON names an interpreter that has gymnasium; without it those tests are skipped.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { EvalConfigInput } from './contract/eval-config.ts';
import type { EpisodeAttempt } from './contract/run.ts';
import { localTransport } from './hosts/engine.ts';
import { pythonInterpreter } from './nodeset/testing/test-registry.ts';
import { createStudio, type Studio } from './studio.ts';

const repository = path.resolve(import.meta.dirname, '..');
const data = path.resolve(repository, '../shared/data/r2r');
const turnsFile = path.join(data, 'peer/val_seen_random_agent_official.json.gz');
const interpreter = process.env['AGENTCANVAS_TEST_PYTHON'] ?? pythonInterpreter();
const workerCount = 4;

function environmentIds(): readonly string[] {
  const program =
    'import gymnasium\ntry:\n import ale_py; gymnasium.register_envs(ale_py)\nexcept ImportError: pass\nprint("\\n".join(gymnasium.registry))';
  try {
    const text = execFileSync(interpreter, ['-c', program], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.trim().split('\n');
  } catch {
    return [];
  }
}

let root: string;
let studio: Studio;

beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'scores ☂ '));
  vi.stubEnv('AGENTCANVAS_HOME', path.join(root, 'home'));
  vi.stubEnv('GYMNASIUM_PYTHON', interpreter);
  const workspace = path.join(root, 'workspace');
  await mkdir(path.join(workspace, 'graphs'), { recursive: true });
  await writeFile(path.join(workspace, 'settings.json'), JSON.stringify({ python: interpreter }));
  const shipped = await readFile(path.join(repository, 'resources/graphs/r2r_random.json'), 'utf8');
  const replaying = shipped
    .replace('"turns_file": ""', `"turns_file": ${JSON.stringify(turnsFile)}`)
    .replace('"r2r_random"', '"r2r_recorded"');
  await writeFile(path.join(workspace, 'graphs/r2r_recorded.json'), replaying);
  studio = await createStudio({ host: 'cli', workspace });
}, 60_000);

afterAll(async () => {
  await studio[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
});

/** The final attempt of every planned episode, which all completed. */
async function evaluate(config: EvalConfigInput): Promise<readonly EpisodeAttempt[]> {
  const finished = Promise.withResolvers<void>();
  using _subscription = studio.feed.subscribe((message) => {
    if (message.name === 'run.finished') finished.resolve();
  });
  const reply = await localTransport(studio).request('runs.start', {
    config: { ...config, workerCount, recording: 'none' },
  });
  if (!reply.ok) throw new Error(reply.error.message);
  const { runId } = reply.value;
  await finished.promise;
  const got = await localTransport(studio).request('runs.get', { runId });
  if (got.ok && got.value.record.error) throw new Error(got.value.record.error.message);
  const journal = path.join(studio.workspaceFolder, 'outputs/eval_runs', runId, 'episodes.jsonl');
  const rows = (await readFile(journal, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as EpisodeAttempt);
  expect(rows.filter(({ status }) => status !== 'completed')).toEqual([]);
  expect(new Set(rows.map(({ worker }) => worker)).size).toBe(workerCount);
  return rows;
}

function valuesOf(rows: readonly EpisodeAttempt[], metric: string): readonly number[] {
  return rows.map(({ metrics }) => Number(metrics[metric]));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function standardError(values: readonly number[]): number {
  const centre = mean(values);
  const sum = values.reduce((total, value) => total + (value - centre) ** 2, 0);
  return Math.sqrt(sum / (values.length - 1) / values.length);
}

/** TL, NE, SR, OSR and SPL (shortest distance as the ruler), as printed in the table. */
const scores = ['path_length', 'navigation_error', 'success', 'oracle_success', 'spl'] as const;

function means(rows: readonly EpisodeAttempt[]): Record<string, number> {
  return Object.fromEntries(scores.map((name) => [name, mean(valuesOf(rows, name))]));
}

/** Scores further from [centre, deviation] than a run of any seed may be. */
function beyondFourDeviations(
  found: Record<string, number>,
  expected: Record<(typeof scores)[number], readonly [number, number]>,
): readonly { name: string; deviations: number }[] {
  return scores
    .map((name) => {
      const [centre, deviation] = expected[name];
      return { name, deviations: Math.abs((found[name] ?? Number.NaN) - centre) / deviation };
    })
    .filter(({ deviations }) => !(deviations <= 4));
}

const hasRoomToRoom = existsSync(data) && existsSync(interpreter);

describe.skipIf(!hasRoomToRoom)('Room-to-Room val_unseen', () => {
  const selectors = { data_dir: data, split: 'val_unseen' };

  it('gives a random agent of any seed scores within four deviations of the expectation', async () => {
    const rows = await evaluate({ graph: 'r2r_random', selectors, seed: 20_261_130 });
    expect(rows).toHaveLength(2349);
    const expected = {
      path_length: [9.797, 0.035],
      navigation_error: [9.288, 0.087],
      success: [0.159, 0.0054],
      oracle_success: [0.2134, 0.0058],
      spl: [0.1395, 0.0048],
    } as const;
    expect(beyondFourDeviations(means(rows), expected)).toEqual([]);
  }, 400_000);
});

describe.skipIf(!hasRoomToRoom)('Room-to-Room val_seen', () => {
  const selectors = { data_dir: data, split: 'val_seen' };

  it('is walked by the shortest-path agent as published: TL 10.1854, everything else perfect', async () => {
    const rows = await evaluate({ graph: 'r2r_shortest', selectors });
    expect(rows).toHaveLength(1020);
    const found = means(rows);
    expect(found['path_length']).toBeCloseTo(10.1854, 4);
    expect(found).toMatchObject({ navigation_error: 0, success: 1, oracle_success: 1, spl: 1 });
  }, 400_000);

  it('gives the official random agent its scores when its recorded turns are replayed', async () => {
    const rows = await evaluate({ graph: 'r2r_recorded', selectors });
    expect(rows).toHaveLength(1020);
    const found = means(rows);
    expect(found['path_length']).toBeCloseTo(9.61463, 5);
    expect(found['navigation_error']).toBeCloseTo(9.49384, 5);
    expect(found['success']).toBeCloseTo(0.162745, 6);
    expect(found['oracle_success']).toBeCloseTo(0.210784, 6);
    expect(found['spl']).toBeCloseTo(0.149118, 6);
  }, 400_000);

  it('gives a random agent of any seed scores within four deviations of the expectation', async () => {
    const found = means(await evaluate({ graph: 'r2r_random', selectors, seed: 20_261_130 }));
    const expected = {
      path_length: [9.618, 0.052],
      navigation_error: [9.565, 0.131],
      success: [0.1488, 0.0082],
      oracle_success: [0.2029, 0.0092],
      spl: [0.1376, 0.0076],
    } as const;
    expect(beyondFourDeviations(found, expected)).toEqual([]);
  }, 400_000);
});

const registered = existsSync(interpreter) ? environmentIds() : [];

describe.skipIf(registered.length === 0)('random actions in Gymnasium', () => {
  const returnsOf = async (
    selectors: Record<string, string>,
    episodes: number,
  ): Promise<readonly number[]> => {
    const rows = await evaluate({ graph: 'gymnasium_random', selectors, episodes, seed: 7 });
    expect(rows).toHaveLength(episodes);
    return valuesOf(rows, 'return');
  };

  it('return 0.013940 on slippery FrozenLake 4x4, the value of dynamic programming', async () => {
    const kwargs = { map_name: '4x4', is_slippery: true };
    const returns = await returnsOf({ env_id: 'FrozenLake-v1', env_kwargs: JSON.stringify(kwargs) }, 2000);
    expect(Math.abs(mean(returns) - 0.01394)).toBeLessThanOrEqual(4 * standardError(returns));
    // The keyword arguments reach the environment: it refuses one that it does not know.
    const unknown = { env_id: 'FrozenLake-v1', env_kwargs: '{"is_frozen": true}' };
    await expect(returnsOf(unknown, 4)).rejects.toThrow('is_frozen');
  }, 400_000);

  const taxi = ['Taxi-v4', 'Taxi-v3'].find((id) => registered.includes(id));
  it.skipIf(taxi === undefined)(
    'return -771.09 on Taxi with its default arguments, within 200 steps',
    async () => {
      const returns = await returnsOf({ env_id: taxi ?? '', env_kwargs: '{}' }, 200);
      expect(Math.abs(mean(returns) + 771.09)).toBeLessThanOrEqual(4 * standardError(returns));
    },
    400_000,
  );

  // Mean and standard error of others' runs; 0 where they printed none. Atari without sticky actions, all 18 actions.
  const atari = { repeat_action_probability: 0, full_action_space: true };
  const published = [
    { id: 'CartPole-v1', kwargs: {}, episodes: 500, mean: 22.2, error: 0.36 },
    { id: 'HalfCheetah-v5', kwargs: {}, episodes: 200, mean: -278.5, error: 13 },
    { id: 'Walker2d-v5', kwargs: {}, episodes: 500, mean: 1.89, error: 0.29 },
    { id: 'ALE/Breakout-v5', kwargs: atari, episodes: 200, mean: 1.57, error: 0 },
  ];
  it.for(published.filter(({ id }) => registered.includes(id)))(
    'return $mean on $id within four standard errors of the difference',
    { timeout: 400_000 },
    async ({ id, kwargs, episodes, mean: expected, error }) => {
      const returns = await returnsOf({ env_id: id, env_kwargs: JSON.stringify(kwargs) }, episodes);
      const tolerance = 4 * Math.hypot(standardError(returns), error);
      expect(Math.abs(mean(returns) - expected)).toBeLessThanOrEqual(tolerance);
    },
  );

  it.skipIf(!registered.includes('Pendulum-v1'))(
    'reach Pendulum as arrays, by way of the engine',
    async () => {
      const rows = await evaluate({
        graph: 'gymnasium_random',
        selectors: { env_id: 'Pendulum-v1', env_kwargs: '{"g": 10.0}' },
        episodes: 8,
      });
      expect(valuesOf(rows, 'length')).toEqual(rows.map(() => 200));
      expect(mean(valuesOf(rows, 'return'))).toBeLessThan(-500);
    },
    400_000,
  );
});
