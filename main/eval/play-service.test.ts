// Real replicas of a shipped environment, played by hand.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import type { EventMap, EventName } from '../contract/api.ts';
import type { GraphDefinition } from '../contract/graph.ts';
import type { PlayView } from '../contract/play.ts';
import { canvasRequests } from '../contract/play.ts';
import { parseGraph } from '../graph/definition.ts';
import { PlayService } from './play-service.ts';
import { makeWorkspace, openLiveBench, removeWorkspace, type LiveBench } from './testing/live-bench.ts';

const graphs = fileURLToPath(new URL('../../resources/graphs', import.meta.url));
const budget = 12;

let folder: string;
let bench: LiveBench;
let play: PlayService;
let random: GraphDefinition;
const events: { readonly name: EventName; readonly payload: unknown }[] = [];

beforeAll(async () => {
  folder = await makeWorkspace();
  bench = await openLiveBench(folder);
  random = parseGraph(await readFile(path.join(graphs, 'minivln_random.json'), 'utf8'));
  play = new PlayService({
    clock: systemClock,
    registry: bench.registry,
    guard: bench.guard,
    events: { publish: (name, payload) => void events.push({ name, payload }) },
  });
}, 60_000);

afterAll(async () => {
  await play[Symbol.asyncDispose]();
  await bench[Symbol.asyncDispose]();
  await removeWorkspace(folder);
});

type StartOptions = Partial<Parameters<PlayService['start']>[0]>;

const start = (options: StartOptions = {}): PlayView =>
  play.start({
    definition: random,
    graph: { name: 'random', ref: null },
    seed: 7,
    stepBudget: budget,
    stepDelayMs: 0,
    first: 'run',
    ...options,
  });

async function until(isIt: (view: PlayView) => boolean): Promise<PlayView> {
  for (let waitedMs = 0; !isIt(play.view); waitedMs += 5) {
    if (waitedMs > 20_000) throw new Error(`still ${JSON.stringify(play.view)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return play.view;
}

/** What must be equal however the run was carried out. */
const outcome = (view: PlayView): unknown => {
  const { durationMs: _time, ...result } = view.result ?? { durationMs: 0 };
  const nodes = play.nodes.map(({ nodeId, firings, step, error }) => [nodeId, firings, step, error]);
  return { result, firings: view.firings, nodes };
};

describe('Play', () => {
  let uninterrupted: unknown;

  it('runs a graph to its end, tells it in valid events, and gives the guard back', async () => {
    expect(start().status).toBe('preparing');
    expect(bench.guard.holder).toMatchObject({ kind: 'canvas', label: 'random' });
    const view = await until(({ status }) => status === 'finished');
    expect(view.result).toMatchObject({ status: 'completed', nodeErrors: [], error: null });
    expect(view.step).toBeGreaterThan(0);
    expect(Object.keys(view.result?.harvest ?? {})).toContain('success');
    expect(bench.guard.holder).toBeNull();
    uninterrupted = outcome(view);
    expect(canvasRequests['play.state'].output.parse({ view, nodes: play.nodes }).view).toEqual(view);
    expect(new Set(events.map(({ name }) => name))).toEqual(new Set(['play.changed', 'play.firing']));
    const firing = events.filter(({ name }) => name === 'play.firing');
    const last = firing.map(({ payload }) => payload as EventMap['play.firing']);
    expect(last.flatMap(({ viewers }) => viewers)).toContain('camera_view');
  });

  it('gives the same result when it is paused, stepped and resumed', async () => {
    start({ first: 'firing' });
    await until(({ status }) => status === 'paused');
    expect(play.view.firings).toBe(1);
    for (let count = 2; count <= 6; count++) {
      expect(await play.step('firing')).toMatchObject({ status: 'paused', firings: count });
    }
    const before = play.view.step;
    expect(await play.step('iteration')).toMatchObject({ status: 'paused', step: before + 1 });
    play.resume();
    await until(({ step, status }) => step >= before + 2 || status === 'finished');
    if (play.view.status !== 'finished') play.pause();
    await until(({ status }) => status === 'paused' || status === 'finished');
    if (play.view.status === 'paused') play.resume();
    expect(outcome(await until(({ status }) => status === 'finished'))).toEqual(uninterrupted);
  });

  it('keeps the processes for the next Play and lets go of them when a batch starts', async () => {
    expect(play.view.isPrepared).toBe(true);
    const lease = bench.guard.acquire({ kind: 'eval', id: 'r1', label: 'night run' });
    await until(({ isPrepared }) => !isPrepared);
    expect(() => start()).toThrow(/night run/);
    expect(() => play.prepare(random, { name: 'random', ref: null })).toThrow(/night run/);
    expect(play.view.status).toBe('finished');
    lease[Symbol.dispose]();
  });

  it('loads an environment without playing, and its panel chooses the episode', async () => {
    play.prepare(random, { name: 'random', ref: null });
    const view = await until(({ status }) => status === 'idle');
    const [panel] = view.panels;
    expect(bench.guard.holder).toBeNull();
    expect(panel?.info.fields.map(({ name }) => name)).toContain('episode_index');
    await play.changeField('minivln', 'episode_index', 3, new AbortController().signal);
    expect(play.view.panels[0]?.state.values['episode_index']).toBe(3);
    expect((await play.options('minivln', 'split', new AbortController().signal)).length).toBeGreaterThan(1);
    await expect(play.act('minivln', 'fly', new AbortController().signal)).rejects.toThrow(/no action "fly"/);
  });

  it('stops before the next firing, takes another delay while it runs, and can be aborted', async () => {
    start({ stepDelayMs: 60_000 });
    await until(({ step }) => step === 1);
    await expect(
      play.changeField('minivln', 'episode_index', 1, new AbortController().signal),
    ).rejects.toThrow(/Pause or stop/);
    expect(() => start()).toThrow(/playing/);
    play.stop(true);
    expect(await until(({ status }) => status === 'finished')).toMatchObject({
      result: { status: 'stopped' },
    });
    await until(({ isPrepared }) => !isPrepared);
    start({ first: 'iteration' });
    await until(({ status }) => status === 'paused');
    play.stop(false);
    expect((await until(({ status }) => status === 'finished')).result).toMatchObject({
      status: 'stopped',
      steps: 1,
    });
    expect(bench.guard.holder).toBeNull();
  });

  it('goes back to a kept step: containers and counter as they were, and on from there', async () => {
    const counting = parseGraph(
      JSON.stringify({
        name: 'counting',
        step_budget: 6,
        eval_graph: false,
        nodes: [
          { id: 'seed', type: 'nullSource', config: { wire_type: 'TEXT' } },
          {
            id: 'in',
            type: 'iterIn',
            config: { pairedWith: 'out', initPorts: [{ name: 'text', wire_type: 'TEXT' }] },
          },
          { id: 'log', type: 'historyLog', config: {} },
          {
            id: 'out',
            type: 'iterOut',
            config: { pairedWith: 'in', ports: [{ name: 'step', wire_type: 'ANY' }] },
          },
        ],
        edges: [
          { id: '1', source: 'seed', target: 'in', sourceHandle: 'value', targetHandle: 'init_text' },
          { id: '2', source: 'in', target: 'out', sourceHandle: 'step', targetHandle: 'step' },
        ],
        containers: [{ id: 'graph_state', states: { seen: { type: 'counter' } } }],
        access_grants: [{ id: 'g', node_id: 'log', container_id: 'graph_state' }],
      }),
    );
    start({ definition: counting, stepBudget: null, first: 'iteration' });
    await until(({ status }) => status === 'paused');
    await play.step('iteration');
    expect(play.view).toMatchObject({ step: 2, checkpoints: [1, 2], stepBudget: 6 });
    expect(play.restore(1)).toMatchObject({ status: 'paused', step: 1, checkpoints: [1] });
    expect(() => play.restore(5)).toThrow(/not kept/);
    play.resume();
    expect((await until(({ status }) => status === 'finished')).result).toMatchObject({ steps: 6 });
  });

  it('refuses a graph with errors before it takes the guard, and stops while it prepares', async () => {
    const broken = { ...random, nodes: random.nodes.filter(({ type }) => type !== 'iterOut') };
    expect(() => start({ definition: broken })).toThrow(/iter/i);
    expect(bench.guard.holder).toBeNull();
    await play.release();
    start();
    play.stop(false);
    expect(await until(({ status }) => status !== 'preparing')).toMatchObject({
      status: 'idle',
      error: null,
    });
    expect(bench.guard.holder).toBeNull();
  });

  it('leaves no process and no guard behind when the engine closes during a run', async () => {
    start({ stepDelayMs: 60_000 });
    await until(({ step }) => step === 1);
    await play[Symbol.asyncDispose]();
    expect(bench.processes.list().filter(({ label }) => label.includes('#'))).toEqual([]);
    expect(bench.guard.holder).toBeNull();
  });
});
