// A secret the engine knows, printed and returned by an environment in every way it has: it is in no reply, no event, no
// export and no file of the workspace.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { RequestInput, RequestName, RequestOutput } from './contract/api.ts';
import { createStudio, type Studio } from './studio.ts';

const canary = 'sk-canary-5f1c9a77e0b34d2';
const parts = JSON.stringify(canary.split('-'));
let root: string;

/** Its own text holds the secret in parts only. */
const leaky = `
import { defineNode, defineNodeset } from 'agentcanvas';
const secret = ${parts}.join('-');
export default defineNodeset({
  name: 'fragile',
  parallelism: 'replicated',
  create() {
    let index = 0;
    let step = 0;
    const state = () => ({
      values: { split: secret, episode_index: index },
      episodeCount: 2,
      stepBudget: 9,
      currentEpisode: { episodeId: 'e' + index, sceneId: 'scene ' + secret, instruction: 'say ' + secret },
    });
    return {
      nodes: [
        defineNode({ name: 'observe', outputs: [{ name: 'position' }], forward: () => ({ position: secret }) }),
        defineNode({
          name: 'step',
          inputs: [{ name: 'position' }],
          outputs: [{ name: 'position' }, { name: 'done', wireType: 'BOOL' }],
          forward(_inputs, context) {
            step++;
            console.log('printed ' + secret);
            console.error(JSON.stringify({ [secret]: secret }));
            context.log('note', secret);
            if (index === 1) throw new Error('the key ' + secret + ' is wrong');
            return { position: [secret, { [secret]: secret }], done: step >= 3 };
          },
        }),
        defineNode({
          name: 'evaluate',
          inputs: [{ name: 'trigger' }],
          outputs: [{ name: 'metrics', wireType: 'METRICS' }],
          forward: () => ({ metrics: { success: 1, [secret]: 2 } }),
        }),
      ],
      envPanel: {
        fields: [{ name: 'episode_index', kind: 'number' }],
        actions: [{ name: 'play', sideEffect: 'run_start' }],
        onLoad: state,
        onFieldChange(_field, value) {
          index = Number(value);
          return state();
        },
        onAction() {
          step = 0;
          return state();
        },
        getOptions: () => [secret],
      },
      evalMetadata: () => ({ envName: secret, metrics: ['success'] }),
    };
  },
});
`;

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'canary-'));
  vi.stubEnv('AGENTCANVAS_HOME', path.join(root, 'home'));
  vi.stubEnv('OPENAI_API_KEY', canary);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
});

async function filesWithSecret(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const found = await Promise.all(
    files.map(async (file) => ((await readFile(file)).includes(canary) ? [path.relative(folder, file)] : [])),
  );
  return found.flat();
}

async function openLeaky(): Promise<Studio> {
  const workspace = path.join(root, 'workspace');
  await mkdir(path.join(workspace, 'nodesets'), { recursive: true });
  await mkdir(path.join(workspace, 'graphs'));
  await writeFile(path.join(workspace, 'nodesets', 'fragile.ts'), leaky);
  const graph = path.join(import.meta.dirname, 'eval/testing/graphs/fragile.json');
  await copyFile(graph, path.join(workspace, 'graphs', 'fragile.json'));
  return createStudio({ host: 'cli', workspace, trust: [workspace] });
}

it('a secret leaks through no sink', { timeout: 60_000 }, async () => {
  const said: string[] = [];
  let runId: string;
  {
    await using studio = await openLeaky();
    const ask = async <Name extends RequestName>(
      name: Name,
      input: RequestInput<Name>,
    ): Promise<RequestOutput<Name> | null> => {
      const reply = await studio.dispatcher.dispatch(name, input);
      said.push(`${name} ${JSON.stringify(reply)}`);
      return reply.ok ? (reply.value as RequestOutput<Name>) : null;
    };
    const finished = Promise.withResolvers<string>();
    studio.feed.subscribe((message) => {
      said.push(JSON.stringify(message));
      if (message.name === 'run.finished') finished.resolve(message.payload.status);
    });
    const started = await ask('runs.start', { config: { graph: 'fragile', episodes: 2, recording: 'all' } });
    runId = started?.runId ?? '';
    expect(await finished.promise).toBe('completed_with_errors');
    await vi.waitFor(async () => expect(await ask('guard.get', {})).toEqual({ holder: null }));
    await ask('runs.list', {});
    await ask('runs.get', { runId });
    await ask('runs.episodes', { runId });
    await ask('runs.live', { runId });
    await ask('nodesets.list', {});
    await ask('nodesets.log', { name: 'fragile' });
    await ask('graphs.introspect', { ref: 'fragile' });
    for (const ordinal of [0, 1]) {
      await ask('runs.attempts', { runId, ordinal });
      await ask('replay.open', { runId, ordinal });
      await ask('replay.steps', { runId, ordinal });
      await ask('replay.firings', { runId, ordinal, step: 1 });
      await ask('replay.log', { runId, ordinal });
      await ask('replay.csv', { runId, ordinal });
    }
    for (const format of ['csv', 'tsv', 'json', 'jsonl', 'latex', 'html'] as const)
      await ask('runs.export', { runId, format });
    await ask('runs.exportFile', { runId, format: 'csv' });
  }
  expect(
    said
      .filter((text) => text.includes(canary))
      .map((text) => text.slice(Math.max(0, text.indexOf(canary) - 200), text.indexOf(canary) + 60)),
  ).toEqual([]);
  // Not because nothing was said at all.
  expect(said.filter((text) => text.includes('[redacted]')).length).toBeGreaterThan(10);
  expect(await filesWithSecret(root)).toEqual([]);
});
