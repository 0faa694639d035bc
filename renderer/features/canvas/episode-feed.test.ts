// A recorded episode as a source of firings, over an engine that only answers about its log.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Reply, RequestName } from '#contract/api.ts';
import type { RecordedFiring } from '#contract/replay.ts';
import { requests } from '#contract/requests.ts';
import { createClient, type StudioTransport } from '../../api/client.ts';
import { EpisodeFeed } from './episode-feed.ts';

/** `start` fires once, in each step `move` and the two viewers do. */
const steps = 500;
const names = ['move', 'camera', 'log'];
const log: RecordedFiring[] = [
  firing('start', 0, 0),
  ...Array.from({ length: steps }, (_item, step) =>
    names.map((name, at) => firing(name, step, 1 + step * names.length + at)),
  ).flat(),
];

function firing(nodeId: string, step: number, line: number): RecordedFiring {
  const said = { port: 'value', value: { kind: 'number' as const, value: line } };
  return {
    line,
    step,
    phase: 'loop',
    nodeId,
    nodeType: 'any',
    path: nodeId,
    atMs: line,
    durationMs: 1,
    error: null,
    inputs: [said],
    outputs: [said],
    log: [],
  };
}

let asked: { readonly name: string; readonly line: number }[];

/** Pages as the engine gives them. */
function answer(name: RequestName, input: unknown): unknown {
  if (name === 'replay.firings') {
    const { step, offset, limit } = requests['replay.firings'].input.parse(input);
    const own = log.filter((each) => each.step === step);
    return { firings: own.slice(offset, offset + limit), total: own.length };
  }
  const { fromLine, nodeId, limit } = requests['replay.log'].input.parse(input);
  asked.push({ name: nodeId, line: fromLine });
  const found = log.filter((each) => each.line >= fromLine && each.nodeId === nodeId).slice(0, limit);
  const next = found.length === limit ? (found.at(-1)?.line ?? 0) + 1 : log.length;
  return { firings: found, nextLine: next < log.length ? next : null };
}

const transport: StudioTransport = {
  request: async <Name extends RequestName>(name: Name, input: unknown): Promise<Reply<Name>> =>
    ({ ok: true, value: answer(name, input) }) as Reply<Name>,
  subscribe: () => () => undefined,
  onConnection: () => () => undefined,
};

const viewerTypes = new Map([
  ['camera', 'imageViewer'],
  ['log', 'actionLog'],
]);
let feed: EpisodeFeed;
const { signal } = new AbortController();

beforeEach(() => {
  asked = [];
  feed = new EpisodeFeed(createClient(transport), { runId: 'r', ordinal: 0 }, viewerTypes);
});

const valueOf = async (nodeId: string): Promise<unknown> =>
  (await feed.detail(nodeId, signal))?.outputs[0]?.value;

async function viewersSettled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a recorded episode as a source of firings', () => {
  it('marks what fired in the step so far and tells values as they were at that firing', async () => {
    await feed.read(7);
    feed.show(7, 1);
    expect([...feed.store.getState().nodes.keys()]).toEqual(['move']);
    expect(await valueOf('move')).toEqual({ kind: 'number', value: 22 });
    // The viewer has not fired in this step yet: what it got is of the step before.
    expect(await valueOf('camera')).toEqual({ kind: 'number', value: 20 });
    feed.show(7, 2);
    expect(await valueOf('camera')).toEqual({ kind: 'number', value: 23 });
  });

  it('finds what a node gave many steps ago, and nothing of a node that has not fired yet', async () => {
    await feed.read(450);
    feed.show(450, 3);
    expect(await valueOf('start')).toEqual({ kind: 'number', value: 0 });
    expect(asked.filter(({ name }) => name === 'start').length).toBeLessThan(6);
    await feed.read(0);
    feed.show(0, 1);
    expect([...feed.store.getState().nodes.keys()]).toEqual(['start']);
    expect(await feed.detail('move', signal)).toBeNull();
  });

  it('shows the latest value in viewers, or all until the cursor, also after going back', async () => {
    for (const step of [300, 299, 4]) {
      await feed.read(step);
      feed.show(step, 3);
      await viewersSettled();
      const viewers = feed.viewers.getState();
      expect(viewers.get('camera')?.entries.map((entry) => entry.step)).toEqual([step]);
      expect(viewers.get('log')?.entries).toHaveLength(step + 1);
      expect(viewers.get('log')?.entries.at(-1)?.step).toBe(step);
    }
  });

  it('reads what viewers received once, however fast the cursor moves', async () => {
    for (let step = 0; step < 60; step++) await feed.read(step);
    for (let step = 0; step < 60; step++) feed.show(step, 3);
    await viewersSettled();
    const { entries } = feed.viewers.getState().get('log') ?? { entries: [] };
    expect(entries.map(({ step }) => step)).toEqual(Array.from({ length: 60 }, (_item, step) => step));
  });

  it('reads a step once and forgets those shown longest ago', async () => {
    for (let step = 0; step < 80; step++) await feed.read(step);
    expect(feed.stepOf(0)).toBeUndefined();
    expect(feed.stepOf(79)?.total).toBe(3);
    const before = feed.version.getState();
    await Promise.all([feed.read(79), feed.read(78)]);
    expect(feed.version.getState()).toBe(before);
  });
});
