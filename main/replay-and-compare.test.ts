// Two policies on minivln through the whole engine: recorded, replayed, compared, exported, imported, and checked for
// what the number of workers changes.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RequestInput, RequestName, RequestOutput } from './contract/api.ts';
import { createStudio, type Studio } from './studio.ts';

let folder: string;
let studio: Studio;
let expert: string;
let random: string;

async function ask<Name extends RequestName>(
  name: Name,
  input: RequestInput<Name>,
): Promise<RequestOutput<Name>> {
  const reply = await studio.dispatcher.dispatch(name, input);
  if (!reply.ok) throw Object.assign(new Error(reply.error.message), { code: reply.error.code });
  return reply.value as RequestOutput<Name>;
}

async function ended(runId: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const { record } = await ask('runs.get', { runId });
      const { holder } = await ask('guard.get', {});
      if (!record.status.startsWith('completed') || holder !== null) throw new Error(record.status);
    },
    { timeout: 50_000, interval: 100 },
  );
}

async function evaluate(graph: string, recording: string): Promise<string> {
  const config = { graph, selectors: { split: 'val_seen' }, episodes: 3, stepBudget: 60, recording };
  const { runId } = await ask('runs.start', { config });
  await ended(runId);
  return runId;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'replay compare '));
  await writeFile(path.join(folder, 'agentcanvas.json'), '{}');
  studio = await createStudio({ host: 'cli', workspace: folder });
  expert = await evaluate('minivln_expert', 'all');
  random = await evaluate('minivln_random', 'failures');
}, 110_000);

afterAll(async () => {
  await studio[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe('a run that is watched', () => {
  it('shows a picture of a worker while it goes on, and none after its end', async () => {
    const config = { graph: 'minivln_expert', selectors: { split: 'val_seen' }, episodes: 60 };
    const { runId } = await ask('runs.start', { config });
    const frame = () => ask('runs.frame', { runId, worker: 0 });
    const shown = await vi.waitFor(
      async () => {
        const picture = await frame();
        if (picture === null) throw new Error('no picture yet');
        return picture;
      },
      { timeout: 30_000, interval: 20 },
    );
    expect(Buffer.from(shown.base64, 'base64').subarray(1, 4).toString()).toBe('PNG');
    expect(await ask('runs.frame', { runId: expert, worker: 0 })).toBeNull();
    await ended(runId);
    expect(await frame()).toBeNull();
  }, 60_000);
});

describe('a recorded run', () => {
  it('is replayed by step with pictures, actions, map and the values of every node', async () => {
    const { rows, total } = await ask('replay.episodes', { runId: expert });
    expect([total, rows.map(({ attempts }) => attempts)]).toEqual([3, [[1], [1], [1]]]);
    const opened = await ask('replay.open', { runId: expert, ordinal: 0 });
    expect(opened).toMatchObject({
      isIndexed: true,
      isCut: false,
      attempt: 1,
      episodeId: rows[0]?.episodeId,
    });
    expect(opened.map?.referencePath.length).toBeGreaterThan(1);
    expect(opened.map?.goal).toHaveLength(2);
    expect(opened.map?.path.length).toBeGreaterThan(10);
    expect(opened.map?.rooms.length).toBeGreaterThan(1);
    expect(opened.streams.map(({ nodeId, port }) => `${nodeId}.${port}`)).toEqual(
      expect.arrayContaining(['step.rgb', 'step.depth']),
    );
    const { steps } = await ask('replay.steps', { runId: expert, ordinal: 0, fromStep: 2, limit: 3 });
    expect(steps.map(({ step, action, images }) => [step, action !== null, images.length])).toEqual([
      [2, true, 2],
      [3, true, 2],
      [4, true, 2],
    ]);
    const picture = steps[0]?.images[0]?.asset;
    const found = await studio.media.resolve(picture?.address ?? '');
    expect((await readFile(found?.file ?? '')).subarray(1, 4).toString()).toBe('PNG');
    const { firings } = await ask('replay.firings', { runId: expert, ordinal: 0, step: 2 });
    expect(firings.find(({ nodeId }) => nodeId === 'step')?.inputs[0]).toMatchObject({ port: 'action' });
    expect((await ask('replay.csv', { runId: expert, ordinal: 0 })).content.split('\n').length).toBe(
      opened.steps + 2,
    );
    const target = path.join(folder, 'frames');
    expect(
      (await ask('replay.exportFolder', { runId: expert, ordinal: 0, folder: target })).frames,
    ).toBeGreaterThan(20);
    await expect(
      ask('replay.exportFolder', { runId: expert, ordinal: 0, folder: target }),
    ).rejects.toMatchObject({ code: 'conflict' });
    await expect(ask('replay.open', { runId: expert, ordinal: 99 })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is compared: numbers, flips with both replays, groups, graphs, provenance, documents', async () => {
    const found = await ask('runs.compare', { runIds: [expert, random] });
    expect(found).toMatchObject({ refused: false, reasons: [] });
    expect(found.metrics.map(({ metric }) => metric.name)).toContain('spl');
    const pair = { baselineRun: expert, otherRun: random };
    const flips = await ask('runs.compareFlips', { ...pair, metric: 'success' });
    expect(flips.counts.lost).toBeGreaterThan(0);
    expect(flips.rows[0]).toMatchObject({ outcome: 'lost', baselineRecorded: true, otherRecorded: true });
    expect((await ask('runs.compareScatter', { ...pair, metric: 'spl' })).total).toBe(3);
    expect((await ask('runs.compareGroups', { ...pair, metric: 'spl', by: 'task' })).total).toBe(3);
    const graphs = await ask('runs.compareGraphs', pair);
    expect(graphs.equal).toBe(false);
    expect(graphs.nodes).toContainEqual(
      expect.objectContaining({ path: 'policy', change: 'changed', otherType: 'policies__random' }),
    );
    expect((await ask('runs.graph', { runId: random })).definition.nodes.length).toBeGreaterThan(3);
    const { rows } = await ask('runs.provenance', { runIds: [expert, random] });
    expect(rows.filter(({ differs }) => differs).map(({ field }) => field)).toEqual(
      expect.arrayContaining(['graph', 'graph hash', 'recording']),
    );
    expect(rows.find(({ field }) => field === 'split')).toMatchObject({
      differs: false,
      values: ['val_seen', 'val_seen'],
    });
    const latex = await ask('runs.exportComparison', { runIds: [expert, random], format: 'latex' });
    expect(latex.content).toContain('\\mathbf{');
    expect(latex.content).not.toMatch(/\}\^\{[^}]*\}\^/);
    const html = await ask('runs.exportComparison', { runIds: [expert, random], format: 'html' });
    expect(html.content).not.toMatch(/<script|https?:\/\//);
    expect(html.content).toContain('policies__random');
    const need = await ask('runs.episodesNeeded', {
      runId: expert,
      otherRun: random,
      metric: 'spl',
      difference: 0.05,
    });
    expect(need.have).toBe(3);
    expect(need.needed).toBeGreaterThan(3);
    await expect(ask('runs.compare', { runIds: [expert, random], metrics: ['no'] })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('leaves as one file and comes back as a run that replays', async () => {
    const file = await ask('runs.exportFile', { runId: expert, format: 'zip' });
    expect((await studio.media.resolve(file.address))?.bytes).toBe(file.bytes);
    const made = await ask('runs.import', { path: file.path });
    expect(made).toMatchObject({ kind: 'bundle', episodes: 3 });
    expect(made.runId).not.toBe(expert);
    const again = await ask('replay.open', { runId: made.runId, ordinal: 1 });
    const before = await ask('replay.open', { runId: expert, ordinal: 1 });
    expect([again.steps, again.lines, again.streams]).toEqual([before.steps, before.lines, before.streams]);
    const csv = await ask('runs.exportFile', { runId: random, format: 'csv', filter: 'success == 0' });
    expect(csv.fileName).toBe(`${random}_filtered.csv`);
    await expect(
      ask('runs.exportFile', { runId: random, format: 'zip', filter: 'success == 0' }),
    ).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('the check of the parallel number', () => {
  it('runs the same episodes with each number of workers and finds no difference', async () => {
    const config = { graph: 'minivln_random', selectors: { split: 'val_seen' }, stepBudget: 20 };
    const { runIds } = await ask('runs.parallelCheck', { config, episodes: 3, workerCounts: [1, 2] });
    expect(runIds).toHaveLength(2);
    await ended(runIds[1] ?? '');
    const [baselineRun = '', otherRun = ''] = runIds;
    const found = await ask('runs.parallelDifferences', { baselineRun, otherRun });
    expect(found).toMatchObject({ finished: true, pairs: 3, total: 0, rows: [] });
    const other = await ask('runs.parallelDifferences', { baselineRun: expert, otherRun: random });
    expect(other.total).toBeGreaterThan(0);
  });
});
