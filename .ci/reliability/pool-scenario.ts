// A run of the real pool into the real store over faked replicas: quick enough to be repeated for every call that can
// fail, and everything that lands on disk is real.
import path from 'node:path';
import { systemClock } from '../../main/base/clock.ts';
import { messageOf, StudioError } from '../../main/base/errors.ts';
import type { Logger } from '../../main/base/logger.ts';
import { evalConfig } from '../../main/contract/eval-config.ts';
import { runRecord, type RunRecord } from '../../main/contract/run.ts';
import { EnvWorkerPool } from '../../main/eval/env-worker-pool.ts';
import { createFakeReplicas } from '../../main/eval/testing/fake-replicas.ts';
import { sampleRecord, samplePlan } from '../../main/store/testing/sample-store.ts';
import type { FileSystemPort, RunHandle, RunStore } from '../../main/store/ports.ts';
import { openRunStore } from '../../main/store/run-store.ts';

export const scenarioEpisodes = 6;
const runId = '20261201T000000.000Z-aaaaaa';

export interface ScenarioOutcome {
  /** Everything that was said: errors thrown, reasons of a pause, warnings and errors logged. */
  readonly told: readonly string[];
  /** Rows whose append resolved. */
  readonly acknowledged: ReadonlySet<number>;
  /** Rejections that are no typed error. */
  readonly untyped: readonly string[];
}

export interface ScenarioOptions {
  readonly folder: string;
  readonly fileSystem: FileSystemPort;
}

/** Creates the run, or goes on with it, as far as it gets. Never rejects. */
export async function runScenario({ folder, fileSystem }: ScenarioOptions): Promise<ScenarioOutcome> {
  const told: string[] = [];
  const untyped: string[] = [];
  const acknowledged = new Set<number>();
  const attempt = async <Value>(work: () => Promise<Value>): Promise<Value | undefined> => {
    try {
      return await work();
    } catch (error) {
      told.push(messageOf(error));
      if (!(error instanceof StudioError) || error.code === 'internal') untyped.push(messageOf(error));
      return undefined;
    }
  };
  const logger = tellingLogger(told);
  const store = await attempt(() => openStoreIn(folder, { fileSystem, logger }));
  if (!store) return { told, acknowledged, untyped };
  const handle = await attempt(() => openOrCreate(store));
  if (handle) {
    const end = await attempt(() => drivePool(handle, acknowledged, told));
    if (end !== undefined) await attempt(() => handle.finish(end));
    await attempt(async () => handle[Symbol.asyncDispose]());
  }
  await attempt(async () => store[Symbol.asyncDispose]());
  return { told, acknowledged, untyped };
}

export function openStoreIn(
  folder: string,
  { fileSystem, logger }: { fileSystem: FileSystemPort; logger: Logger },
): Promise<RunStore> {
  return openRunStore({
    fileSystem,
    clock: systemClock,
    logger,
    runsFolder: path.join(folder, 'runs'),
    trashFolder: path.join(folder, 'trash'),
    indexPath: path.join(folder, 'index.sqlite'),
  });
}

export interface ScenarioState {
  readonly record: RunRecord | undefined;
  readonly finals: readonly number[];
  readonly listed: number;
}

/** What a healthy engine sees on disk. */
export async function readScenario({ folder, fileSystem }: ScenarioOptions): Promise<ScenarioState> {
  await using store = await openStoreIn(folder, { fileSystem, logger: tellingLogger([]) });
  await store.recover();
  const { items } = await store.list();
  if (!items.some((item) => item.runId === runId)) return { record: undefined, finals: [], listed: 0 };
  const record = runRecord.parse(await store.readRecord(runId));
  const finals: number[] = [];
  for await (const row of store.readAttempts(runId)) if (row.final) finals.push(row.ordinal);
  const listed = (await store.listEpisodes(runId)).items.filter(
    ({ status }) => status === 'completed',
  ).length;
  return { record, finals, listed };
}

async function openOrCreate(store: RunStore): Promise<RunHandle> {
  const { items } = await store.list();
  if (items.some((item) => item.runId === runId)) return store.open(runId);
  const config = evalConfig.parse({ graph: 'some_graph' });
  const plan = samplePlan(scenarioEpisodes);
  return store.create({
    record: sampleRecord({ runId, config, plan, status: 'running' }),
    graphText: '{"name":"some_graph","nodes":[],"edges":[]}',
  });
}

async function drivePool(
  handle: RunHandle,
  acknowledged: Set<number>,
  told: string[],
): Promise<'completed' | 'paused'> {
  const replicas = createFakeReplicas({
    clock: systemClock,
    episodeMs: () => 2,
    startMs: () => 0,
    killMs: 0,
  });
  using pool = new EnvWorkerPool({
    workerCount: 2,
    episodes: handle.missing(),
    source: replicas,
    runner: replicas,
    journal: handle,
    limits: { resetMs: 5000, episodeMs: () => 5000, defaultStepBudget: 100 },
    retry: { attempts: 2, on: ['died', 'timeout'] },
    clock: systemClock,
    listener: {
      onAttempt: ({ ordinal, final }) => {
        if (final) acknowledged.add(ordinal);
      },
    },
  });
  await handle.update({ status: 'running' });
  await pool.start();
  const end = await pool.run();
  if (end.kind === 'paused') told.push(end.reason);
  return end.kind === 'finished' ? 'completed' : 'paused';
}

function tellingLogger(told: string[]): Logger {
  const tell = (message: string, fields?: Readonly<Record<string, unknown>>): void =>
    void told.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const ignore = (): void => undefined;
  const logger: Logger = { debug: ignore, info: ignore, warn: tell, error: tell, child: () => logger };
  return logger;
}
