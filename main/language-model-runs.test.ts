// Whole runs of language-model graphs through the real engine, with a scripted endpoint on this machine.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RequestInput, RequestName } from './contract/api.ts';
import type { EvalConfigInput } from './contract/eval-config.ts';
import { canary } from './llm/testing/chat-setup.ts';
import {
  startLoopbackEndpoint,
  tokensPerReply,
  type LoopbackEndpoint,
  type SeenCall,
} from './llm/testing/loopback-endpoint.ts';
import { pythonInterpreter } from './nodeset/testing/test-registry.ts';
import { createStudio, type Studio } from './studio.ts';
import { askStudio } from './testing/python-studio.ts';

const interpreter = pythonInterpreter();
const r2rData = path.resolve(import.meta.dirname, '../../shared/data/r2r');
const ended = ['completed', 'completed_with_errors', 'paused', 'cancelled', 'failed'];
let root: string;
let workspace: string;
let studio: Studio;
let endpoint: LoopbackEndpoint;

const ask = <Name extends RequestName>(name: Name, input: RequestInput<Name>) =>
  askStudio(studio, name, input);

/** Walks by the seed it was sent and stops in step 4. */
function scripted({ body }: SeenCall) {
  const step = Number(/This is step (\d+)/.exec(JSON.stringify(body['messages']))?.[1] ?? 0);
  const action = ['MOVE_FORWARD', 'TURN_LEFT', 'TURN_RIGHT'][Number(body['seed']) % 3] ?? '';
  const text = step >= 4 ? 'I am there.\nSTOP' : `I see a door.\n${action}`;
  return { kind: 'reply', text, firstMs: 15 } as const;
}

async function start(config: EvalConfigInput): Promise<string> {
  return (await ask('runs.start', { config })).runId;
}

async function finished(runId: string) {
  for (;;) {
    const run = await ask('runs.get', { runId });
    if (ended.includes(run.record.status) && (await ask('guard.get', {})).holder === null) return run;
    await delay(40);
  }
}

async function evaluate(config: EvalConfigInput) {
  const runId = await start(config);
  const { record, summary, folder } = await finished(runId);
  const { rows } = await ask('runs.episodes', { runId });
  return { runId, record, summary, folder, rows };
}

async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const found = await Promise.all(
    files.map(async (file) => ((await readFile(file)).includes(text) ? [file] : [])),
  );
  return found.flat();
}

beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'language models '));
  vi.stubEnv('AGENTCANVAS_HOME', path.join(root, 'home'));
  vi.stubEnv('LOCAL_KEY', canary);
  workspace = path.join(root, 'workspace');
  await mkdir(path.join(workspace, 'nodesets'), { recursive: true });
  endpoint = await startLoopbackEndpoint();
  studio = await createStudio({ host: 'cli', workspace, trust: [workspace] });
  const { settings } = await ask('settings.get', {});
  const provider = { name: 'local', baseUrl: endpoint.baseUrl, keyEnv: 'LOCAL_KEY', concurrency: 3 };
  const priced = { name: 'm', provider: 'local', model: 'm1', inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
  const chat = {
    providers: [provider, { ...provider, name: 'keyless', keyEnv: 'NO_SUCH_KEY' }],
    profiles: [priced],
  };
  await ask('settings.set', {
    settings: { ...settings, chat, ...(existsSync(interpreter) && { python: interpreter }) },
  });
}, 30_000);

beforeEach(() => endpoint.answer(scripted));

afterAll(async () => {
  await studio[Symbol.asyncDispose]();
  await endpoint[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
});

const minivln = { graph: 'minivln_llm', selectors: { split: 'val_seen' } };

describe('a run of a language-model graph', () => {
  it('keeps the concurrency of the key with 8 workers, and its tokens and cost add up', async () => {
    const before = endpoint.calls.length;
    const { record, rows, summary } = await evaluate({ ...minivln, episodes: 10, workerCount: 8 });
    expect(record.status).toBe('completed');
    expect(endpoint.mostAtOnce).toBe(3);
    const calls = endpoint.calls.length - before;
    expect(calls).toBe(50);
    expect(rows.map(({ usage }) => usage?.calls)).toEqual(Array.from({ length: 10 }, () => 5));
    const { input, output } = tokensPerReply;
    expect(summary.usage).toMatchObject({
      calls,
      failed: 0,
      retries: 0,
      inputTokens: calls * input,
      outputTokens: calls * output,
      models: ['m1-0613'],
    });
    expect(summary.usage?.costUsd).toBeCloseTo((calls * (input + 2 * output)) / 1e6, 12);
    const sum = rows.reduce((cost, { usage }) => cost + (usage?.costUsd ?? Number.NaN), 0);
    expect(sum).toBeCloseTo(summary.usage?.costUsd ?? 0, 12);
    const { rows: dear } = await ask('runs.episodes', {
      runId: record.runId,
      filter: 'cost_usd > 0 && tokens == 90',
    });
    expect(dear).toHaveLength(10);
  }, 60_000);

  it('is repeated from its recorded replies, identically and without the network', async () => {
    const config = { ...minivln, episodes: 4, workerCount: 2, seed: 5 };
    const recorded = await evaluate({ ...config, chat: { replies: 'record' } });
    expect(recorded.record.status).toBe('completed');
    endpoint.answer({ kind: 'status', status: 500 });
    const before = endpoint.calls.length;
    const replayed = await evaluate({
      ...config,
      workerCount: 4,
      chat: { replies: 'replay', repliesFrom: recorded.runId },
    });
    expect(endpoint.calls).toHaveLength(before);
    const essence = ({ rows }: typeof recorded) =>
      rows.map(({ episodeId, status, steps, metrics }) => ({ episodeId, status, steps, metrics }));
    expect(essence(replayed)).toEqual(essence(recorded));
    expect(replayed.summary.usage).toMatchObject({ calls: 20, replayed: 20, costUsd: 0 });
    const folder = path.join(recorded.folder, 'replies');
    const elsewhere = await evaluate({ ...config, chat: { replies: 'replay', repliesFrom: folder } });
    expect(essence(elsewhere)).toEqual(essence(recorded));
  }, 60_000);

  it('fails on what was not recorded, saying what differs, and asks nobody', async () => {
    const recorded = await evaluate({ ...minivln, episodes: 1, chat: { replies: 'record' } });
    const before = endpoint.calls.length;
    const other = await evaluate({
      ...minivln,
      episodes: 1,
      seed: 9,
      chat: { replies: 'replay', repliesFrom: recorded.runId },
    });
    expect(other.rows[0]).toMatchObject({ status: 'error' });
    expect(other.rows[0]?.errorMessage).toMatch(/no recorded reply for what node 'model' asks m1 in step 0/);
    expect(endpoint.calls).toHaveLength(before);
    const nowhere = await evaluate({ ...minivln, episodes: 1, chat: { replies: 'replay' } });
    expect(nowhere.record).toMatchObject({ status: 'failed', error: { code: 'invalid_input' } });
  }, 60_000);

  it('stops its calls within a second when it is cancelled', async () => {
    endpoint.answer({ kind: 'silence' });
    const before = endpoint.calls.length;
    const runId = await start({ ...minivln, episodes: 6, workerCount: 2 });
    await expect.poll(() => endpoint.calls.length - before, { timeout: 20_000 }).toBe(2);
    const cancelledMs = performance.now();
    await ask('runs.cancel', { runId });
    await expect.poll(() => endpoint.calls.slice(before).every(({ wasDropped }) => wasDropped)).toBe(true);
    expect(performance.now() - cancelledMs).toBeLessThan(1000);
    expect((await finished(runId)).record.status).toBe('cancelled');
    expect(endpoint.calls.length - before).toBe(2);
  }, 60_000);

  it("keeps an episode whose calls fail as an error with the endpoint's words, and counts the failed call", async () => {
    endpoint.answer({ kind: 'status', status: 400, message: 'context too long' });
    const { rows, summary } = await evaluate({ ...minivln, episodes: 1, strictErrors: true });
    expect(rows[0]).toMatchObject({
      status: 'error',
      errorMessage: expect.stringContaining('context too long') as string,
    });
    expect(summary.usage).toMatchObject({ calls: 1, failed: 1, costUsd: 0 });
  }, 60_000);

  it('leaves no key in any file, though endpoint and replies repeat it', async () => {
    endpoint.answer((call) =>
      call.index % 4 === 3
        ? { kind: 'status', status: 400, message: `the key ${canary} has no credit` }
        : { kind: 'reply', text: `Your key is ${canary}. ${'x'.repeat(3000)} ${canary}\nMOVE_FORWARD` },
    );
    const { folder } = await evaluate({
      ...minivln,
      episodes: 2,
      stepBudget: 6,
      recording: 'all',
      chat: { replies: 'record' },
    });
    await delay(300);
    expect(await filesWith(root, canary)).toEqual([]);
    expect((await filesWith(folder, '[redacted]')).length).toBeGreaterThan(3);
  }, 60_000);

  it('is told before the start that a key is missing', async () => {
    const config = { ...minivln, episodes: 1 };
    const check = async (chat: EvalConfigInput['chat']) =>
      (await ask('runs.preflight', { config: { ...config, chat } })).checks.find(
        ({ name }) => name === 'keys',
      );
    expect(await check({})).toMatchObject({ ok: true });
    expect(await check({ profile: 'keyless/m2' })).toMatchObject({
      ok: false,
      message: 'No key for keyless',
      fix: 'set it in Settings > Language models, or set the environment variable NO_SUCH_KEY',
    });
    expect(await check({ profile: 'keyless/m2', replies: 'replay' })).toMatchObject({ ok: true });
    expect(await check({ profile: 'nobody' })).toMatchObject({ ok: false });
    await expect(start({ ...config, chat: { profile: 'keyless/m2' } })).rejects.toThrow(
      /No key for keyless: set it in/,
    );
  }, 60_000);
});

it('shows a reply in its viewer while it comes, and what the Play used', async () => {
  endpoint.answer({ kind: 'reply', text: 'one two three four five six seven eight\nSTOP', betweenMs: 60 });
  const { definition, item } = await ask('graphs.read', { ref: 'minivln_llm' });
  await ask('play.start', { definition, graph: { name: item.name, ref: item.ref } });
  const seen = new Set<string>();
  let used: unknown;
  for (;;) {
    const { frames } = await ask('play.viewers', {});
    const field = frames.find(({ nodeId }) => nodeId === 'reply_view')?.entries.at(-1)?.fields[0]?.value;
    if (field?.kind === 'text') seen.add(field.text);
    const { view } = await ask('play.state', {});
    if (view.status === 'finished') {
      used = view.usage;
      break;
    }
    await delay(20);
  }
  expect(used).toMatchObject({ calls: 1, inputTokens: tokensPerReply.input });
  await ask('play.release', {});
  const texts = [...seen].sort((a, b) => a.length - b.length);
  expect(texts.at(-1)).toBe('one two three four five six seven eight\nSTOP');
  expect(texts.length).toBeGreaterThan(3);
  expect(texts.every((text) => texts.at(-1)?.startsWith(text))).toBe(true);
}, 60_000);

describe.skipIf(!existsSync(interpreter))('a Python nodeset', () => {
  it('asks the same providers through app.llm, on the account of its episode', async () => {
    await writeFile(path.join(workspace, 'nodesets/thinker.py'), thinker);
    await ask('nodesets.rescan', {});
    await mkdir(path.join(workspace, 'graphs'), { recursive: true });
    await writeFile(path.join(workspace, 'graphs/thinker.json'), JSON.stringify(thinkerGraph));
    endpoint.answer(({ body }) => ({
      kind: 'reply',
      text: JSON.stringify(body['messages']).includes('image_url') ? 'seen' : 'read',
    }));
    const { rows, summary, record } = await evaluate({ graph: 'thinker', episodes: 1 });
    expect(record.error).toBeNull();
    expect(rows[0]).toMatchObject({ status: 'completed', metrics: { answers: 2 }, usage: { calls: 2 } });
    expect(summary.usage?.inputTokens).toBe(2 * tokensPerReply.input);
    expect(await filesWith(root, canary)).toEqual([]);
  }, 60_000);
});

describe.skipIf(!existsSync(interpreter) || !existsSync(r2rData))('Room-to-Room', () => {
  it.each(['r2r_llm', 'r2r_mapgpt'])(
    'is walked by %s with a scripted endpoint, memory in its container',
    async (graph) => {
      const prompts: string[] = [];
      endpoint.answer(({ body }) => {
        const prompt = (body['messages'] as { content: string }[]).at(-1)?.content ?? '';
        prompts.push(typeof prompt === 'string' ? prompt : JSON.stringify(prompt));
        const numbers = [...prompts.at(-1)!.matchAll(/^(\d+): /gm)].map((match) => Number(match[1]));
        const choice = prompts.length >= 4 ? 0 : (numbers.at(-1) ?? 0);
        const text =
          graph === 'r2r_llm'
            ? `Move ${prompts.length} of the way.\n${choice}`
            : JSON.stringify({ Thought: 't', 'New Planning': `plan ${prompts.length}`, Action: choice });
        return { kind: 'reply', text };
      });
      const selectors = { data_dir: r2rData, split: 'val_seen' };
      const { rows, record } = await evaluate({ graph, selectors, episodes: 1 });
      expect(record.error).toBeNull();
      expect(rows[0]).toMatchObject({ status: 'completed', steps: 4, usage: { calls: 4 } });
      expect(rows[0]?.metrics).toMatchObject({ actions: 3 });
      expect(prompts).toHaveLength(4);
      expect(prompts[3]).toContain(graph === 'r2r_llm' ? 'Move 1 of the way.' : 'plan 3');
      const places = prompts.map((prompt) => new Set(prompt.match(/Place \d+/g)).size);
      expect(places).toEqual([...places].sort((a, b) => a - b));
      expect(/Trajectory: Place 1( -> Place \d+){3}/.test(prompts[3] ?? '')).toBe(graph === 'r2r_mapgpt');
    },
    90_000,
  );
});

const thinker = `
from app.components import BaseCanvasNode, BaseNodeSet, PortDef
from app.llm import get_llm_config, llm_complete, vlm_complete


class Think(BaseCanvasNode):
    node_type = "thinker__think"
    display_name = "Think"
    description = "Asks twice"
    category = "policy"
    kind = "policy"
    input_ports = []
    output_ports = [PortDef("metrics", "METRICS")]

    async def forward(self, inputs, ctx):
        config = get_llm_config("m")
        read = await llm_complete(config, [{"role": "user", "content": "?"}], system_prompt="s", max_tokens=5)
        seen = await vlm_complete(config, "what", ["iVBORw0KGgoAAAANSUhEUg=="], detail="high")
        import os
        print("my environment", dict(os.environ))
        return {"metrics": {"answers": float((read == "read") + (seen == "seen"))}}


class Thinker(BaseNodeSet):
    name = "thinker"
    description = "asks language models"

    def get_tools(self):
        return [Think()]
`;

const thinkerGraph = {
  name: 'thinker',
  nodes: [
    { id: 'think', type: 'thinker__think', label: 'Think', position: { x: 0, y: 0 }, config: {} },
    {
      id: 'out',
      type: 'graphOut',
      label: 'Out',
      position: { x: 300, y: 0 },
      config: { portName: 'metrics', wireType: 'METRICS' },
    },
  ],
  edges: [{ id: 'e', source: 'think', sourceHandle: 'metrics', target: 'out', targetHandle: 'value' }],
  eval_graph: true,
};
