// Sessions of a run over a real run folder and replicas that a test commands.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import { silentLogger } from '../base/logger.ts';
import { evalConfig, type EvalConfigInput } from '../contract/eval-config.ts';
import { graphDefinition } from '../contract/graph.ts';
import { settings } from '../contract/settings.ts';
import type { GraphSession } from '../nodeset/ports.ts';
import { nodeFileSystem } from '../store/node-file-system.ts';
import type { FileSystemPort, RunHandle, RunStore } from '../store/ports.ts';
import { openRunStore } from '../store/run-store.ts';
import { BatchEvalRunner, type BatchPorts } from './batch-eval-runner.ts';
import type { RunListener } from './ports.ts';
import { draftRecord } from './start-check.ts';
import { createFakeReplicas, type FakeReplicaOptions } from './testing/fake-replicas.ts';
import { makeWorkspace, removeWorkspace } from './testing/live-bench.ts';

const graph = graphDefinition.parse({ name: 'empty', nodes: [], edges: [] });
const config: EvalConfigInput = { graph: 'empty', episodes: 6, workerCount: 2 };

let folder: string;
let store: RunStore;
let isFull = false;
/** Names of files that cannot be put in place, with how often. */
const refused = new Map<string, number>();

/** The real file system, until the disk is full. */
const fileSystem: FileSystemPort = {
  ...nodeFileSystem,
  rename(from, to) {
    const left = refused.get(path.basename(to)) ?? 0;
    if (left === 0) return nodeFileSystem.rename(from, to);
    refused.set(path.basename(to), left - 1);
    return Promise.reject(Object.assign(new Error('broken'), { code: 'EIO' }));
  },
  async open(file, mode) {
    const handle = await nodeFileSystem.open(file, mode);
    const write = (bytes: Uint8Array): Promise<void> =>
      isFull ? Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })) : handle.write(bytes);
    return {
      write,
      read: (target, position) => handle.read(target, position),
      truncate: (bytes) => handle.truncate(bytes),
      sync: () => handle.sync(),
      size: () => handle.size(),
      close: () => handle.close(),
    };
  },
};

beforeEach(async () => {
  isFull = false;
  refused.clear();
  folder = await makeWorkspace();
  store = await openRunStore({
    fileSystem,
    clock: systemClock,
    runsFolder: path.join(folder, 'runs'),
    trashFolder: path.join(folder, 'trash'),
    indexPath: ':memory:',
  });
});

afterEach(async () => {
  await store[Symbol.asyncDispose]();
  await removeWorkspace(folder);
});

async function createRun(runId: string): Promise<RunHandle> {
  const item = {
    name: 'empty',
    ref: 'empty.json',
    origin: 'file',
    description: '',
    nodesets: [],
    evalGraph: true,
    modifiedAt: '',
  } as const;
  const provenance = {
    appVersion: '',
    gitCommit: null,
    graphHash: '',
    nodesets: [],
    interpreters: [],
    models: [],
    host: '',
    os: '',
    cpu: '',
    cores: 1,
    memoryBytes: 1,
    gpu: null,
  };
  const loaded = { item: { ...item, nodesets: [] }, text: JSON.stringify(graph), definition: graph };
  const request = { config: evalConfig.parse(config) };
  return await store.create({
    record: draftRecord({ runId, request, graph: loaded, status: 'preparing', provenance, nowMs: 0 }),
    graphText: loaded.text,
  });
}

interface Stage {
  readonly ports: BatchPorts;
  readonly fake: ReturnType<typeof createFakeReplicas>;
  disposedSessions: number;
}

function stageOf(fakeOptions: Partial<FakeReplicaOptions> = {}, more: Partial<BatchPorts> = {}): Stage {
  const fake = createFakeReplicas({
    clock: systemClock,
    episodeMs: () => 20,
    startMs: () => 1,
    killMs: 1,
    ...fakeOptions,
  });
  const stage: Stage = {
    fake,
    disposedSessions: 0,
    ports: {
      clock: systemClock,
      logger: silentLogger,
      settings: settings.parse({}),
      freeBytes: () => Promise.resolve(1e12),
      createEpisodeRunner: () => fake,
      registry: {
        async ensureNodesetsForGraph(
          _names,
          { replicaCount, signal = new AbortController().signal },
        ): Promise<GraphSession> {
          const initial = await Promise.all(
            Array.from({ length: replicaCount }, (_item, slot) => fake.start(slot, signal)),
          );
          return {
            report: { loaded: [], alreadyLoaded: [], failed: [], unknown: [] },
            manifests: { manifestOf: () => undefined },
            nodesets: [],
            envNodesets: [],
            initial,
            evalMetadata: () => Promise.reject(new StudioError('unsupported', 'no environment')),
            startReplicaSet: (slot, limits) => fake.start(slot, limits?.signal ?? signal),
            async [Symbol.asyncDispose]() {
              stage.disposedSessions++;
              await Promise.all(initial.map((replicas) => replicas.kill()));
            },
          };
        },
      },
      ...more,
    },
  };
  return stage;
}

const run = (handle: RunHandle, { ports }: Stage, listener: RunListener = {}): BatchEvalRunner =>
  new BatchEvalRunner(ports, { handle, graph, listener });

describe('a session of a run', () => {
  it('plans, runs everything, writes the end and disposes of the session', async () => {
    const stage = stageOf();
    await using handle = await createRun('r1');
    const end = await run(handle, stage).execute();
    expect(end).toMatchObject({ status: 'completed', counts: { planned: 6, completed: 6, notRun: 0 } });
    expect(handle.record).toMatchObject({ status: 'completed', pausedBecause: null, error: null });
    expect([stage.disposedSessions, stage.fake.alive, stage.fake.violations.length]).toEqual([1, 0, 0]);
    expect(handle.record.activeMs).toBeGreaterThan(0);
  });

  it('some episodes without a verdict make it completed_with_errors', async () => {
    await using handle = await createRun('r2');
    const end = await run(
      handle,
      stageOf({ behaviour: ({ episode }) => ({ kind: episode.ordinal === 2 ? 'error' : 'complete' }) }),
    ).execute();
    expect(end).toMatchObject({ status: 'completed_with_errors', counts: { completed: 5, error: 1 } });
  });

  it('fails with the reason when the nodesets cannot be loaded', async () => {
    await using handle = await createRun('r3');
    const registry = {
      ensureNodesetsForGraph: () => Promise.reject(new StudioError('nodeset_failed', 'it threw at import')),
    };
    const end = await run(handle, stageOf({}, { registry })).execute();
    expect(end).toMatchObject({
      status: 'failed',
      error: { code: 'nodeset_failed', message: 'it threw at import' },
    });
    expect(handle.record).toMatchObject({ status: 'failed', plan: [], error: { code: 'nodeset_failed' } });
  });

  it('starts no more replicas than there are episodes', async () => {
    const stage = stageOf();
    await using handle = await createRun('r4');
    await handle.update({ config: { ...handle.record.config, workerCount: 50, episodes: 3 } });
    await run(handle, stage).execute();
    expect(stage.fake.starts).toBe(3);
  });

  it.each([
    ['stop', (batch: BatchEvalRunner) => batch.stop('enough'), { status: 'paused', reason: 'enough' }],
    ['cancel', (batch: BatchEvalRunner) => batch.cancel(), { status: 'cancelled' }],
    ['halt', (batch: BatchEvalRunner) => batch.halt('closing'), { status: 'paused', reason: 'closing' }],
  ] as const)(
    '%s while the nodesets load ends it at once, with nothing left',
    async (_name, interrupt, expected) => {
      const stage = stageOf({ startMs: () => 60_000 });
      await using handle = await createRun('r5');
      const batch = run(handle, stage);
      const ended = batch.execute();
      await sleep(systemClock, 30);
      interrupt(batch);
      expect(batch.snapshot().status).toBe('stopping');
      expect(await ended).toMatchObject(expected);
      expect([handle.record.status, stage.fake.alive]).toEqual([expected.status, 0]);
    },
  );

  it('halt ends what is in flight now; another session runs exactly the rest', async () => {
    const hanging = stageOf({
      behaviour: ({ episode }) => ({ kind: episode.ordinal < 2 ? 'complete' : 'hang' }),
    });
    await using handle = await createRun('r6');
    const batch = run(handle, hanging);
    const ended = batch.execute();
    await expect.poll(async () => (await handle.finals()).length, { timeout: 10_000 }).toBe(2);
    batch.halt('closing');
    expect(await ended).toMatchObject({
      status: 'paused',
      reason: 'closing',
      counts: { completed: 2, notRun: 4 },
    });
    expect(hanging.fake.alive).toBe(0);
    const healthy = stageOf();
    expect(await run(handle, healthy).execute()).toMatchObject({ status: 'completed' });
    expect(healthy.fake.leases.map((lease) => lease.ordinal).sort((a, b) => a - b)).toEqual([2, 3, 4, 5]);
  });

  it('a disk that fills up pauses it with nothing lost, and with space it goes on', async () => {
    await using handle = await createRun('r7');
    const listener: RunListener = { onAttempt: (attempt) => void (isFull ||= attempt.ordinal === 1) };
    const end = await run(handle, stageOf(), listener).execute();
    expect(end.status).toBe('paused');
    isFull = false;
    const rest = stageOf();
    expect(await run(handle, rest).execute()).toMatchObject({
      status: 'completed',
      counts: { completed: 6 },
    });
    expect((await handle.finals()).map((row) => row.ordinal)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(rest.fake.leases.length).toBe(6 - end.counts.completed);
  });

  it.each(['summary.json', '_DONE'])(
    'is told as it is recorded when only %s could not be written, and that file comes later',
    async (name) => {
      refused.set(name, 1);
      {
        await using handle = await createRun('r9');
        const batch = run(handle, stageOf());
        const end = await batch.execute();
        expect(end).toMatchObject({ status: 'completed', unwritten: expect.stringContaining('broken') });
        expect([batch.snapshot().status, batch.summary().counts.completed]).toEqual(['completed', 6]);
      }
      expect((await store.readRecord('r9')).status).toBe('completed');
      expect((await store.readSummary('r9')).counts.completed).toBe(6);
      expect((await store.recover()).interrupted).toEqual([]);
      expect(await readdir(store.folderOf('r9'))).toContain('_DONE');
    },
  );

  it('is paused, on the disk too, when its end could not be recorded; going on ends it', async () => {
    await using handle = await createRun('r10');
    const listener: RunListener = {
      onAttempt: ({ ordinal }) => void (ordinal === 5 && refused.set('run.json', 1)),
    };
    const end = await run(handle, stageOf(), listener).execute();
    expect(end).toMatchObject({ status: 'paused', reason: expect.stringContaining('broken') });
    expect(await store.readRecord('r10')).toMatchObject({
      status: 'paused',
      pausedBecause: expect.stringContaining('broken'),
    });
    expect(handle.missing()).toEqual([]);
    expect(await run(handle, stageOf()).execute()).toMatchObject({ status: 'completed' });
  });

  it('whose end could not be recorded at all is ended by the next start, the last file by the one after', async () => {
    {
      await using handle = await createRun('r11');
      const listener: RunListener = {
        onAttempt: ({ ordinal }) => void (ordinal === 5 && refused.set('run.json', 2)),
      };
      expect((await run(handle, stageOf(), listener).execute()).status).toBe('paused');
    }
    expect((await store.readRecord('r11')).status).toBe('running');
    refused.set('_DONE', 1);
    expect(await store.recover()).toMatchObject({ ended: ['r11'], interrupted: [], unreadable: [] });
    expect((await store.readRecord('r11')).status).toBe('completed');
    expect(await readdir(store.folderOf('r11'))).not.toContain('_DONE');
    await store.recover();
    expect(await readdir(store.folderOf('r11'))).toContain('_DONE');
  });

  it('tells stage and status at any time', async () => {
    const seen = new Set<string>();
    await using handle = await createRun('r8');
    const batch: BatchEvalRunner = run(handle, stageOf({ startMs: () => 20 }), {
      onState: () => void seen.add(`${batch.snapshot().status}: ${batch.snapshot().stage ?? ''}`),
    });
    await batch.execute();
    expect([...seen]).toEqual([
      'preparing: checking the disk',
      'preparing: loading nodesets',
      'preparing: reading the environment',
      'running: ',
    ]);
    expect(batch.snapshot()).toMatchObject({ status: 'completed', stage: null });
  });
});
