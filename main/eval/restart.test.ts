// One workspace over several lives of the engine: closed, interrupted, full disk; nothing lost, nothing twice.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { evalConfig, type EvalConfigInput } from '../contract/eval-config.ts';
import { settings } from '../contract/settings.ts';
import {
  makeWorkspace,
  openLiveBench,
  removeWorkspace,
  type BenchOptions,
  type LiveBench,
} from './testing/live-bench.ts';

let folder: string;
let cacheFolder: string;

beforeAll(async () => {
  cacheFolder = await makeWorkspace();
});

afterAll(async () => {
  await removeWorkspace(cacheFolder);
});

beforeEach(async () => {
  folder = await makeWorkspace();
});

afterEach(async () => {
  await removeWorkspace(folder);
});

const slow: EvalConfigInput = {
  graph: 'fragile',
  selectors: { split: 'slow' },
  episodes: 10,
  workerCount: 2,
};
const open = (more: BenchOptions = {}): Promise<LiveBench> =>
  openLiveBench(folder, { cacheFolder, withLibrary: false, ...more });
const start = async (bench: LiveBench, whenBusy: 'refuse' | 'queue' = 'refuse'): Promise<string> =>
  (await bench.service.start({ config: evalConfig.parse(slow), whenBusy })).runId;
const firstVerdict = async (bench: LiveBench, runId: string): Promise<void> => {
  await bench.seen(
    'run.episodes',
    (payload) => payload.runId === runId && payload.rows.some((row) => row.status === 'completed'),
  );
};
const ordinals = async (bench: LiveBench, runId: string): Promise<number[]> =>
  (await bench.attempts(runId))
    .filter((row) => row.final)
    .map((row) => row.ordinal)
    .sort((a, b) => a - b);
const all = Array.from({ length: 10 }, (_item, index) => index);

describe('another life of the engine', () => {
  it('a run that was going on when the application closed is paused and goes on later, its queue behind it', async () => {
    let runId: string;
    let queued: string;
    {
      await using first = await open();
      runId = await start(first);
      queued = await start(first, 'queue');
      await firstVerdict(first, runId);
    }
    await using second = await open();
    expect(await second.store.readRecord(runId)).toMatchObject({
      status: 'paused',
      pausedBecause: 'the application was closed',
    });
    const before = await ordinals(second, runId);
    expect(before.length).toBeLessThan(10);
    await second.service.recover();
    await second.seen('run.finished', (payload) => payload.runId === queued);
    await second.service.whenEnded(queued);
    expect(await ordinals(second, queued)).toEqual(all);
    const { missing } = await second.service.resume(runId, { acceptDifferences: false });
    expect(missing).toBe(10 - before.length);
    await second.service.whenEnded(runId);
    expect(await ordinals(second, runId)).toEqual(all);
  });

  it('a run that claims to be going on is found interrupted, with what is missing', async () => {
    let runId: string;
    {
      await using first = await open();
      runId = await start(first);
      await firstVerdict(first, runId);
      await first.service.stop(runId);
      await first.service.whenEnded(runId);
      await using handle = await first.store.open(runId);
      await handle.update({ status: 'running' });
    }
    await using second = await open();
    const { interrupted } = await second.service.recover();
    const missing = 10 - (await ordinals(second, runId)).length;
    expect(interrupted).toMatchObject([{ runId, was: 'running', missing }]);
    expect((await second.store.readRecord(runId)).status).toBe('interrupted');
    expect(await second.service.resume(runId, { acceptDifferences: false })).toEqual({ runId, missing });
    await second.service.whenEnded(runId);
    expect(await ordinals(second, runId)).toEqual(all);
  });

  it('a run does not go on with other nodesets unless that is accepted', async () => {
    await using bench = await open();
    const runId = await start(bench);
    await firstVerdict(bench, runId);
    await bench.service.stop(runId);
    await bench.service.whenEnded(runId);
    {
      await using handle = await bench.store.open(runId);
      const { provenance } = handle.record;
      await handle.update({
        provenance: { ...provenance, nodesets: [{ name: 'fragile', sourceHash: 'of another version' }] },
      });
    }
    await expect(bench.service.resume(runId, { acceptDifferences: false })).rejects.toMatchObject({
      code: 'conflict',
      details: { differences: [{ what: 'nodeset fragile', was: 'of anoth' }] },
    });
    expect(bench.guard.holder).toBeNull();
    await bench.service.resume(runId, { acceptDifferences: true });
    await bench.service.whenEnded(runId);
    expect(await ordinals(bench, runId)).toEqual(all);
  });

  it('too little free space pauses the run before it starts a process; with space it goes on', async () => {
    let runId: string;
    {
      await using full = await open({
        settings: () => settings.parse({ processLimits: { pauseBelowFreeMb: 1e12 } }),
      });
      runId = await start(full);
      await full.service.whenEnded(runId);
      const record = await full.store.readRecord(runId);
      expect(record).toMatchObject({ status: 'paused', plan: [] });
      expect(record.pausedBecause).toContain('free some space, then resume');
      expect(full.processes.list().filter((child) => child.label.includes('#'))).toEqual([]);
    }
    await using roomy = await open();
    await roomy.service.resume(runId, { acceptDifferences: false });
    await roomy.service.whenEnded(runId);
    expect(await ordinals(roomy, runId)).toEqual(all);
  });

  it('a run that leaves the queue while the application closes is paused, or still queued', async () => {
    let queued: string;
    {
      await using first = await open();
      using _play = first.guard.acquire({ kind: 'canvas', id: 'g', label: 'g' });
      queued = await start(first, 'queue');
    }
    await using second = await open();
    const { status } = await second.store.readRecord(queued);
    expect(['queued', 'paused']).toContain(status);
    expect(second.guard.holder).toBeNull();
  });

  it('an unreadable queue is put aside and the runs in it are found interrupted', async () => {
    let queued: string;
    {
      await using first = await open();
      first.guard.acquire({ kind: 'canvas', id: 'g', label: 'g' });
      queued = await start(first, 'queue');
    }
    await writeFile(path.join(folder, 'queue.json'), '{"run_ids": [');
    await using second = await open();
    const { interrupted } = await second.service.recover();
    expect(second.service.queue()).toEqual([]);
    expect(interrupted.map((run) => run.runId)).toEqual([queued]);
  });
});
