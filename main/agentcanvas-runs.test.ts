import { cp, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentCanvasRuns } from './agentcanvas-runs.ts';
import { createFakeClock } from './base/fake-clock.ts';
import { silentLogger } from './base/logger.ts';
import { createPerformer } from './store/bulk-work.ts';
import { nodeFileSystem } from './store/node-file-system.ts';
import { openRunStore } from './store/run-store.ts';

async function openPlace() {
  const folder = await mkdtemp(path.join(tmpdir(), 'agentcanvas runs '));
  const runsFolder = path.join(folder, 'outputs', 'eval_runs');
  const clock = createFakeClock();
  const store = await openRunStore({
    fileSystem: nodeFileSystem,
    clock,
    runsFolder,
    trashFolder: path.join(folder, '.trash'),
    indexPath: path.join(folder, 'index.sqlite'),
  });
  const told: string[] = [];
  const open = (): AgentCanvasRuns =>
    new AgentCanvasRuns({
      store,
      bulk: { run: createPerformer(nodeFileSystem) },
      clock,
      logger: silentLogger,
      runsFolder,
      workspaceFolder: folder,
      readableGraph: () => null,
      onRun: async (runId) => void told.push(runId),
    });
  const listed = async () =>
    (await store.list()).items.map(({ name, counts }) => [name, counts.planned, counts.completed]);
  return {
    runsFolder,
    clock,
    told,
    open,
    listed,
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function writeAgentCanvasRun(folder: string, episodes: number): Promise<void> {
  await mkdir(path.join(folder, 'episodes', 'ep0000'), { recursive: true });
  const summary = {
    run_id: 'run_a',
    status: 'completed',
    total_episodes: episodes,
    created_at: '2026-01-02T03:04:05',
    config: { graph_name: 'a_graph', env_nodeset: 'env_habitat', selectors: { split: 'val_seen' } },
    episodes: Array.from({ length: episodes }, (_, index) => ({
      episode_index: index,
      episode_id: String(index),
      status: 'completed',
      metrics: { success: 1 },
      steps: 3,
    })),
  };
  await writeFile(path.join(folder, 'summary.json'), JSON.stringify(summary));
}

describe('a run folder of AgentCanvas among the runs', () => {
  it('is shown in History without being imported, and once', async () => {
    await using place = await openPlace();
    const folder = path.join(place.runsFolder, 'eval_20260102');
    await writeAgentCanvasRun(folder, 3);
    await place.open().look();
    expect(await place.listed()).toEqual([['eval_20260102', 3, 3]]);
    expect(place.told).toHaveLength(1);
    expect((await readdir(folder)).sort()).toEqual(['episodes', 'summary.json']);
    expect((await place.store.rebuildIndex()).unreadable).toEqual([]);
    expect((await place.store.recover()).unreadable).toEqual([]);
    // The next start of the application.
    await place.open().look();
    expect(await place.listed()).toHaveLength(1);
  });

  it('is read again when its results change, in the place of what it was', async () => {
    await using place = await openPlace();
    const folder = path.join(place.runsFolder, 'eval_1');
    await writeAgentCanvasRun(folder, 2);
    const runs = place.open();
    await runs.look();
    await writeAgentCanvasRun(folder, 5);
    await utimes(path.join(folder, 'summary.json'), 1_800_000_000, 1_800_000_000);
    await runs.look();
    expect(await place.listed()).toEqual([['eval_1', 2, 2]]);
    await place.clock.advance(5000);
    await runs.look();
    expect(await place.listed()).toEqual([['eval_1', 5, 5]]);
  });

  it('stays away once its run was deleted, and neither a broken one nor a run of this app is taken', async () => {
    await using place = await openPlace();
    await writeAgentCanvasRun(path.join(place.runsFolder, 'eval_1'), 2);
    await writeAgentCanvasRun(path.join(place.runsFolder, 'broken'), 1);
    await writeFile(path.join(place.runsFolder, 'broken', 'summary.json'), '{');
    const runs = place.open();
    await runs.look();
    const [item] = (await place.store.list()).items;
    expect((await place.store.list()).total).toBe(1);
    await cp(place.store.folderOf(item!.runId), path.join(place.runsFolder, 'copy'), { recursive: true });
    await mkdir(path.join(place.runsFolder, 'copy', 'episodes'), { recursive: true });
    await place.store.delete(item!.runId);
    await place.clock.advance(5000);
    await runs.look();
    expect(place.told).toHaveLength(1);
  });
});
