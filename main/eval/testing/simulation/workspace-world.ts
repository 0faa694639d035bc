// One seed: a workspace over several lives of the engine, with its user, its disk and its faults. Runs the real run
// service, pool, episode runner, inference server, guard and store until every run is complete, then audits the disk.
import { join } from 'node:path';
import { messageOf, StudioError } from '../../../base/errors.ts';
import { silentLogger } from '../../../base/logger.ts';
import { createRandom, deriveSeed, type Random } from '../../../base/random.ts';
import { evalConfig, type EvalConfig } from '../../../contract/eval-config.ts';
import type { EpisodeAttempt, RunRecord } from '../../../contract/run.ts';
import { settings } from '../../../contract/settings.ts';
import { graphDefinition } from '../../../contract/graph.ts';
import { BatchedInferenceServer } from '../../../inference/inference-server.ts';
import { createLiveAggregate } from '../../../stats/live-aggregate.ts';
import { createInThreadBulkWork, type BulkTasks, type BulkWork } from '../../../store/bulk-work.ts';
import { guardFileSystem } from '../../../store/guarded-file-system.ts';
import type { FileSystemPort, RunStore } from '../../../store/ports.ts';
import { readRecord } from '../../../store/run-folder.ts';
import { readCountedRows } from '../../../store/run-rows.ts';
import { openRunStore } from '../../../store/run-store.ts';
import { MemoryDisk, systemError, type DiskGate } from '../../../store/testing/memory-disk.ts';
import { createExecutionGuard, type ExecutionGuard } from '../../execution-guard.ts';
import { Failpoints, failpointFileSystem, type Armed } from '../failpoints.ts';
import { failpointDatabase, failpointEvents } from '../news-failpoints.ts';
import { failpointRegistry } from '../nodeset-failpoints.ts';
import { createRecordings, type Recordings } from '../../recording.ts';
import type { EventSink } from '../../ports.ts';
import { recordingFiles } from '../../../store/recording-format.ts';
import { createQueueFile } from '../../queue-file.ts';
import { RunService } from '../../run-service.ts';
import { Audit } from './audit.ts';
import { Faults, type FaultName } from './faults.ts';
import { Life, Scheduler } from './scheduler.ts';
import { createSimulatedRegistry, type SimulatedRegistry } from './simulated-registry.ts';
import { toyGraph, verdictOfEpisode, type Content, type ToyWorld } from './toy-world.ts';

export interface WorldOptions {
  /** Every event is told. */
  readonly trace?: ((line: string) => void) | undefined;
  /** No swarm: a fixed history of small faults in which this point strikes. */
  readonly failpoint?: Armed | undefined;
  /** Proof that the audit sees: a sound row disappears from the disk before the end. */
  readonly sabotage?: 'lose_a_row' | undefined;
}

export interface WorldReport {
  /** How often each failpoint was passed, and whether the armed one struck. */
  readonly failpoints: Pick<Failpoints, 'hits' | 'hasStruck'>;
  readonly seed: number;
  readonly digest: string;
  readonly violations: readonly string[];
  /** Planned (episode, repeat) pairs; each has its final row at the end. */
  readonly episodes: number;
  readonly attempts: number;
  readonly lives: number;
  readonly steps: number;
  readonly simulatedMs: number;
  readonly faults: readonly FaultName[];
  readonly struck: ReadonlyMap<FaultName, number>;
}

interface Engine {
  readonly life: Life;
  readonly service: RunService;
  readonly store: RunStore;
  readonly guard: ExecutionGuard;
  readonly registry: SimulatedRegistry;
  /** Of scripted histories. */
  readonly recordings: Recordings | null;
}

interface PlannedRun {
  runId: string | null;
  readonly config: EvalConfig;
  isComplete: boolean;
}

const folder = '/home/someone/ws';
const runsFolder = `${folder}/outputs/eval_runs`;
/** Leads past every failpoint: an episode that hangs, a backend that does, a commit that fails. */
const scriptedFaults = { hang: 60, backend_hangs: 9, sync_error: 40 } as const;
const stuckAfterMs = 60_000;
const mostSteps = 400_000;
const livesWithFaults = 5;
/** Simulated time after which nothing goes wrong any more. */
const calmAfterMs = 240_000;

class World {
  readonly faults: Faults;
  readonly scheduler: Scheduler;
  readonly audit: Audit;
  readonly disk: MemoryDisk;
  readonly toy: ToyWorld;
  readonly graph: ReturnType<typeof toyGraph>;
  readonly runs: PlannedRun[];
  readonly outside = new Life('outside');
  /** What the user and the machine do while an engine lives. */
  #user = new Life('user');
  readonly #seed: number;
  readonly #random: Random;
  readonly #episodeCount: number;
  readonly #isBatched: boolean;
  readonly #points: Failpoints;
  readonly #isScripted: boolean;
  readonly #sabotage: WorldOptions['sabotage'];
  #struckMs: number | null = null;
  lives = 0;
  #engine: Life | null = null;
  #killAtStep = Number.POSITIVE_INFINITY;
  #onKilled: (() => void) | null = null;
  #isFull = false;
  #runIds = 0;

  constructor(seed: number, { trace, failpoint, sabotage }: WorldOptions = {}) {
    this.#sabotage = sabotage;
    this.#seed = seed;
    this.#points = new Failpoints(
      failpoint ?? null,
      () => this.#kill(),
      () => this.#freeze(),
    );
    this.#isScripted = failpoint !== undefined;
    const random = createRandom(deriveSeed(seed, 'world'));
    this.#random = random;
    this.faults = new Faults(
      createRandom(deriveSeed(seed, 'faults')),
      failpoint === undefined ? undefined : scriptedFaults,
    );
    this.scheduler = new Scheduler({
      seed: deriveSeed(seed, 'scheduler'),
      reorders: this.faults.has('reorder'),
      timerLatenessMs: () => this.faults.timerLatenessMs(),
      trace,
    });
    this.audit = new Audit(() => `step ${this.scheduler.steps}, ${Math.round(this.scheduler.nowMs)} ms`);
    this.disk = new MemoryDisk({
      now: () => this.scheduler.wallMs(),
      onSync: (path, durable) => this.audit.onDurable(path, durable),
    });
    this.disk.addFolder(folder);
    this.#episodeCount = random.integer(4) === 0 ? 8 : 30 + random.integer(70);
    this.#isBatched = this.#isScripted || random.integer(4) > 0;
    const contents: Content[] = ['typed_error', 'no_verdict', 'nan', 'oversize'];
    this.toy = {
      seed,
      stepBudget: random.integer(4) === 0 ? 2 : 6,
      policies: random.integer(2) === 0 ? [11] : [11, 12],
      contents: [
        ...contents.filter((name) => this.faults.has(name as FaultName)),
        ...(this.faults.has('backend_refuses') ? (['refused'] as const) : []),
      ],
    };
    this.graph = toyGraph(this.toy);
    const runCount = this.#isScripted ? 2 : 1 + random.integer(2);
    this.runs = Array.from({ length: runCount }, () => this.#plannedRun(random));
  }

  async run(): Promise<WorldReport> {
    let isDone = false;
    let failure: unknown;
    this.#story().then(
      () => (isDone = true),
      (error: unknown) => ((failure = error), (isDone = true)),
    );
    while (!isDone) {
      const isLast = this.scheduler.steps >= this.#killAtStep;
      const isAfter = isLast && this.scheduler.steps % 2 === 0;
      if (isLast && !isAfter) this.#kill();
      if (isAfter && this.#engine) this.#engine.isMuted = true;
      this.#endStuckEngine(stuckAfterMs);
      if (!(await this.scheduler.next())) {
        if (!isDone && this.#isHanging()) {
          this.#endStuckEngine(0);
          continue;
        }
        if (!isDone) this.audit.broken('nothing happens any more, and the runs are not complete');
        break;
      }
      if (isAfter) this.#kill();
      if (this.scheduler.steps > mostSteps) {
        this.audit.broken(`not complete after ${mostSteps} events`);
        break;
      }
    }
    if (failure !== undefined) this.audit.broken(`the story broke: ${messageOf(failure)}`);
    return {
      seed: this.#seed,
      digest: this.scheduler.digest(),
      violations: this.audit.violations,
      episodes: this.runs.reduce((sum, { config }) => sum + Number(config.episodes) * config.repeats, 0),
      attempts: this.audit.attempts,
      lives: this.lives,
      steps: this.scheduler.steps,
      simulatedMs: this.scheduler.nowMs,
      faults: this.faults.names,
      failpoints: this.#points,
      struck: this.faults.struck,
    };
  }

  /** What hangs at a failpoint may hang the engine: somebody then kills it. */
  #endStuckEngine(afterMs: number): void {
    if (!this.#isHanging()) return;
    this.#struckMs ??= this.scheduler.nowMs;
    if (this.scheduler.nowMs < this.#struckMs + afterMs) return;
    this.#struckMs = Number.POSITIVE_INFINITY;
    this.#kill();
  }

  #isHanging(): boolean {
    return this.#points.hasStruck && this.#struckMs !== Number.POSITIVE_INFINITY;
  }

  #plannedRun(random: Random): PlannedRun {
    const config = evalConfig.parse({
      graph: 'simulated',
      episodes: 4 + random.integer(this.#episodeCount - 4),
      repeats: 1 + random.integer(2),
      seed: random.integer(1000),
      workerCount: 1 + random.integer(5),
      stepBudget: this.toy.stepBudget,
      perStepBudgetSec: 0.8,
      retry: { attempts: 1 + random.integer(3), on: ['died', 'timeout'] },
      affinity: random.integer(3) === 0 ? 'scene' : 'none',
      recording: this.#isScripted ? 'sample:8' : 'none',
      batching: {
        flushPolicy: random.integer(2) === 0 ? 'greedy' : 'rendezvous',
        flushTimeoutMs: 50,
        ...(random.integer(3) === 0 ? { maxBatch: 2 } : {}),
      },
    });
    return { runId: null, config, isComplete: false };
  }

  /** Life after life, until everything is complete and the disk is as it must be. */
  async #story(): Promise<void> {
    for (;;) {
      this.lives++;
      if (this.lives > livesWithFaults) this.faults.isCalm = true;
      const life = new Life(`engine ${this.lives}`);
      const killed = new Promise<'killed'>((resolve) => (this.#onKilled = () => resolve('killed')));
      this.#engine = life;
      this.#killAtStep =
        (this.faults.has('engine_killed') || this.faults.has('power_lost')) && !this.faults.isCalm
          ? this.scheduler.steps + 20 + Math.floor(this.#random.next() ** 2 * 5000)
          : Number.POSITIVE_INFINITY;
      const outcome = await Promise.race([this.#live(life), killed]);
      this.scheduler.end(life);
      this.scheduler.end(this.#user);
      this.#isFull = false;
      this.audit.onEngineEnded();
      if (outcome === 'complete') break;
    }
    this.#killAtStep = Number.POSITIVE_INFINITY;
    this.faults.isCalm = true;
    if (this.#sabotage) this.#loseRow();
    this.audit.checkAll();
    await this.#auditDisk();
  }

  #kill(): void {
    const life = this.#engine;
    this.#killAtStep = Number.POSITIVE_INFINITY;
    if (!life || life.isOver) return;
    this.scheduler.end(life);
    const losesPower =
      this.faults.has('power_lost') && (!this.faults.has('engine_killed') || this.#random.integer(2) === 0);
    this.faults.count(losesPower ? 'power_lost' : 'engine_killed');
    this.scheduler.note(losesPower ? 'POWER LOST' : 'ENGINE KILLED');
    if (!losesPower) this.disk.outliveEngine();
    if (losesPower) {
      this.disk.losePower(this.#random);
      for (const runId of new Set([...this.audit.runs.keys(), ...this.disk.names(runsFolder)])) {
        const path = `${runsFolder}/${runId}/episodes.jsonl`;
        this.audit.onDurable(path, this.disk.read(path) ?? Buffer.alloc(0));
      }
      this.audit.checkAll();
    }
    this.#onKilled?.();
  }

  #freeze(): void {
    if (!this.#engine) return;
    this.scheduler.note('ENGINE STANDS STILL');
    this.scheduler.freeze(this.#engine);
  }

  async #live(life: Life): Promise<'complete' | 'closed' | 'failed'> {
    let engine: Engine;
    try {
      engine = await this.#open(life);
      await engine.service.recover();
    } catch (error) {
      this.scheduler.note(`the engine cannot start: ${messageOf(error).replaceAll(randomPart, '*')}`);
      await this.scheduler.sleep(life, 1000, 'wait for another start');
      this.#isFull = false;
      return 'failed';
    }
    this.#disturb(engine);
    const closesAtMs =
      this.faults.has('closed') && !this.faults.isCalm ? this.#random.integer(90_000) : Infinity;
    const startedMs = this.scheduler.nowMs;
    while (this.runs.some(({ isComplete }) => !isComplete)) {
      await this.scheduler.sleep(life, 200 + this.#random.integer(1500), 'the user looks');
      if (this.scheduler.nowMs > calmAfterMs) this.faults.isCalm = true;
      if (this.faults.isCalm) this.#isFull = false;
      for (const run of this.runs) await this.#push(engine, run);
      if (this.scheduler.nowMs - startedMs > closesAtMs) {
        this.faults.count('closed');
        await this.#close(engine);
        return 'closed';
      }
    }
    await this.#close(engine);
    return 'complete';
  }

  async #close(engine: Engine): Promise<void> {
    this.scheduler.note('closing');
    this.scheduler.end(this.#user);
    for (const { runId } of this.runs) if (runId !== null) this.audit.onStopAsked(runId);
    await engine.service[Symbol.asyncDispose]();
    await engine.recordings?.[Symbol.asyncDispose]();
    await engine.store[Symbol.asyncDispose]();
    const alive = engine.registry.replicas.filter((replica) => !replica.isEnded);
    if (alive.length > 0) this.audit.broken(`${alive.length} replicas are alive after the end`);
    if (engine.guard.holder?.kind === 'eval') this.audit.broken('the guard is held after the end');
    await this.scheduler.sleep(this.outside, 60_000, 'a while later');
    const left = this.scheduler.pendingOf(engine.life);
    if (left.length > 0) this.audit.broken(`left behind: ${left.slice(0, 5).join(', ')}`);
  }

  /** What a user who wants this run done does next. */
  async #push({ service, store, guard }: Engine, run: PlannedRun): Promise<void> {
    const { runId } = run;
    if (run.isComplete) return;
    if (runId === null) return await this.#start(service, run, guard.holder !== null);
    if (service.activeRunId === runId || service.queue().includes(runId)) return;
    try {
      const { status } = await store.readRecord(runId);
      if (status === 'completed' || status === 'completed_with_errors') {
        run.isComplete = true;
        this.scheduler.note(`${runId} is ${status}`);
        return;
      }
      const resumes = [service.resume(runId, { acceptDifferences: false })];
      if (this.faults.strikes('duplicate', 300))
        resumes.push(service.resume(runId, { acceptDifferences: false }));
      const started = (await Promise.allSettled(resumes)).filter((each) => each.status === 'fulfilled');
      if (started.length > 1) this.audit.broken(`${runId} was resumed twice at once`);
    } catch (error) {
      if (!(error instanceof StudioError)) throw error;
      if (error.code === 'not_found' && !this.disk.names(runsFolder).includes(runId)) run.runId = null;
    }
  }

  async #start(service: RunService, run: PlannedRun, isBusy: boolean): Promise<void> {
    const whenBusy = isBusy || this.#random.integer(2) === 0 ? 'queue' : 'refuse';
    try {
      const { runId } = await service.start({ config: run.config, whenBusy });
      run.runId = runId;
    } catch (error) {
      if (!(error instanceof StudioError)) throw error;
      this.scheduler.note(`refused: ${error.code}`);
    }
  }

  /** Everything that happens to a run from outside. */
  #disturb(engine: Engine): void {
    const { scheduler, faults } = this;
    const { service, guard, registry } = engine;
    this.#user = new Life('user');
    const often = (name: FaultName, act: () => void, times = 2): void => {
      if (!faults.has(name)) return;
      for (let time = 0; time < times; time++) {
        scheduler.at(this.#user, scheduler.random.integer(60_000), name, () => {
          if (faults.isCalm) return;
          faults.count(name);
          act();
        });
      }
    };
    const withActive = (act: (runId: string) => Promise<void>): void => {
      const runId = service.activeRunId;
      if (runId === null) return;
      this.audit.onStopAsked(runId);
      void act(runId).catch(() => undefined);
      if (faults.strikes('duplicate', 500)) void act(runId).catch(() => undefined);
    };
    often('stop', () => withActive((runId) => service.stop(runId)));
    often('cancel', () => withActive((runId) => service.cancel(runId)));
    often('strike', () => registry.strike(scheduler.random.integer(5)), 4);
    often('suspend', () => scheduler.suspend(10_000 + scheduler.random.integer(7_200_000)), 1);
    often('wall_jump', () =>
      scheduler.moveWallClock((scheduler.random.integer(2) === 0 ? -1 : 1) * 3_600_000),
    );
    often('disk_full', () => {
      this.#isFull = true;
      scheduler.at(
        this.#user,
        500 + scheduler.random.integer(20_000),
        'space is freed',
        () => (this.#isFull = false),
      );
    });
    often('play', () => {
      if (guard.holder !== null) return;
      const lease = guard.acquire({ kind: 'canvas', id: 'simulated', label: 'simulated' });
      scheduler.at(this.#user, scheduler.random.integer(5000), 'play ends', () => lease[Symbol.dispose]());
    });
  }

  async #open(life: Life): Promise<Engine> {
    const clock = this.scheduler.clockOf(life);
    const disk = this.disk.port(this.#gate(life));
    const fileSystem = this.#isScripted ? failpointFileSystem(disk, this.#points) : disk;
    const store = await openRunStore({
      fileSystem,
      clock,
      runsFolder,
      trashFolder: `${folder}/.trash`,
      indexPath: ':memory:',
      ...(this.#isScripted ? { openDatabase: failpointDatabase(this.#points) } : {}),
      ...(this.#seed % 16 === 0 ? {} : { bulk: quickSummaries(guardFileSystem(fileSystem)) }),
    });
    const registry = createSimulatedRegistry({
      scheduler: this.scheduler,
      life,
      faults: this.faults,
      toy: this.toy,
      episodeCount: this.#episodeCount,
      broken: this.audit.broken,
    });
    const recordings = this.#isScripted
      ? createRecordings({
          fileSystem,
          clock,
          logger: silentLogger,
          bulk: createInThreadBulkWork(guardFileSystem(fileSystem)),
        })
      : null;
    const events: EventSink = {
      publish: (name, payload) => {
        if (life.isOver || life.isFrozen) return;
        if (name !== 'run.live') this.scheduler.note(briefly(name, payload));
        this.audit.onEvent(name, payload);
      },
    };
    const guard = createExecutionGuard(clock);
    const service = new RunService({
      clock,
      logger: silentLogger,
      store,
      registry: this.#isScripted ? failpointRegistry(registry, this.#points) : registry,
      guard,
      graphs: this.#graphs(),
      events: this.#isScripted ? failpointEvents(events, this.#points) : events,
      ...(recordings ? { recording: recordings.port } : {}),
      queueStorage: createQueueFile(fileSystem, join(folder, 'queue.json'), silentLogger),
      machine: { cores: 2, memoryBytes: 1e10, freeMemoryBytes: () => 1e10 },
      settings: () =>
        settings.parse({
          deadlines: { resetSec: 2, closeSec: 3 },
          processLimits: { crashBudget: 4, recycleAfterEpisodes: this.#seed % 3 === 0 ? 5 : null },
        }),
      newRunId: () => `run-${++this.#runIds}`,
      sequence: () => 0,
      provenance: (known) => Promise.resolve({ ...nowhere, ...known }),
      ...(this.#isBatched ? { batching: ({ config }) => this.#batching(life, config) } : {}),
    });
    return { life, service, store, guard, registry, recordings };
  }

  #batching(life: Life, config: EvalConfig): BatchedInferenceServer {
    return new BatchedInferenceServer({
      clock: this.scheduler.clockOf(life),
      batching: config.batching,
      limits: { batchMs: 700, firstBatchMs: 1500, resetMs: 200 },
      defer: (run) => void this.scheduler.at(life, 0, 'deferred', run),
    });
  }

  #graphs(): ConstructorParameters<typeof RunService>[0]['graphs'] {
    const { text, definition } = this.graph;
    const item = {
      name: 'simulated',
      ref: '/graphs/simulated.json',
      origin: 'file',
      description: '',
      evalGraph: true,
      modifiedAt: '',
    } as const;
    return {
      parse: (stored) => (stored === text ? definition : graphDefinition.parse(JSON.parse(stored))),
      validate: () => [],
      load: () => Promise.resolve({ item: { ...item, nodesets: [] }, text, definition }),
    };
  }

  /** Every disk operation: late, failing, short, on a full disk. */
  #gate(life: Life): DiskGate {
    const { scheduler, faults } = this;
    const isWriting = new Set(['write', 'makeFolder', 'rename']);
    return (operation, path, perform) => {
      if (operation === 'close' || operation === 'read' || operation === 'stat') {
        // Nothing to decide, and half of all operations: they take no event of their own.
        const isGone = life.isOver || life.isFrozen;
        return isGone ? new Promise(() => undefined) : Promise.try(perform);
      }
      return scheduler.call(life, faults.latencyMs(), operation, () => {
        if (operation === 'freeBytes') return this.#isFull ? (1e6 as never) : perform();
        if (this.#isFull && (isWriting.has(operation) || (operation === 'open' && path.endsWith('.tmp')))) {
          if (operation === 'write') perform(scheduler.random.next());
          throw systemError('ENOSPC', path);
        }
        if (operation === 'write' && faults.strikes('short_write', 6)) {
          perform(scheduler.random.next());
          throw systemError('EIO', path);
        }
        if (operation === 'sync' && faults.strikes('sync_error', 6)) {
          perform(0);
          throw systemError('EIO', path);
        }
        if (faults.strikes('io_error', 3)) throw systemError('EIO', path);
        return perform();
      });
    };
  }

  #loseRow(): void {
    const path = `${runsFolder}/${this.runs[0]?.runId}/episodes.jsonl`;
    const content = this.disk.read(path) ?? Buffer.alloc(0);
    const shorter = content.subarray(0, content.lastIndexOf(10, content.length - 2) + 1);
    this.disk.overwrite(path, shorter);
    this.audit.onDurable(path, shorter);
  }

  /** A last start on what is on the disk: everything is there, once, with the verdict it must have. */
  async #auditDisk(): Promise<void> {
    const life = new Life('audit');
    const { store, service, recordings } = await this.#open(life);
    await service.recover();
    const broken = this.audit.broken;
    for (const { runId, config } of this.runs) {
      if (runId === null) return broken('a run was never made');
      const record = await store.readRecord(runId);
      const attempts: EpisodeAttempt[] = [];
      for await (const row of store.readAttempts(runId)) attempts.push(row);
      this.#auditRows(record, attempts, config);
      if (recordings) await this.#auditRecordings(record, attempts, recordings);
      const { counts } = await store.readSummary(runId);
      if (counts.planned !== record.plan.length || counts.notRun !== 0)
        broken(`${runId}: the summary says ${JSON.stringify(counts)}`);
      const expected = counts.completed === counts.planned ? 'completed' : 'completed_with_errors';
      if (record.status !== expected) broken(`${runId} is ${record.status} instead of ${expected}`);
      if (!this.disk.names(`${runsFolder}/${runId}`).includes('_DONE')) broken(`${runId} has no _DONE`);
      const { total, items } = await store.listEpisodes(runId, { limit: 1000 });
      if (total !== record.plan.length || items.some(({ status }) => status === 'pending'))
        broken(`${runId}: the index holds ${total} episodes`);
    }
    await store[Symbol.asyncDispose]();
  }

  /** Recordings are no results, but what a row calls kept can be opened. */
  async #auditRecordings(
    { runId }: RunRecord,
    attempts: readonly EpisodeAttempt[],
    recordings: Recordings,
  ): Promise<void> {
    const kept = attempts.filter(({ recording }) => recording === 'kept');
    if (kept.length === 0) this.audit.broken(`${runId}: nothing was recorded`);
    for (const { key } of kept) {
      const episodeFolder = `${runsFolder}/${runId}/episodes/${key}`;
      await recordings.inOrder(episodeFolder);
      if (!this.disk.names(episodeFolder).includes(recordingFiles.header))
        this.audit.broken(`${runId}: the recording of ${key} cannot be opened`);
    }
  }

  #auditRows(
    { runId, plan, status }: RunRecord,
    attempts: readonly EpisodeAttempt[],
    config: EvalConfig,
  ): void {
    const broken = this.audit.broken;
    if (plan.length !== Number(config.episodes) * config.repeats)
      broken(`${runId} has a plan of ${plan.length}`);
    if (status === 'cancelled') return;
    for (const planned of plan) {
      const finals = attempts.filter((row) => row.final && row.ordinal === planned.ordinal);
      const [final] = finals;
      if (finals.length !== 1 || !final) {
        broken(`${runId}: episode ${planned.ordinal} has ${finals.length} final rows`);
        continue;
      }
      const expected = verdictOfEpisode(this.toy, planned.episodeIndex ?? -1);
      const isLost = final.status === 'died' || final.status === 'timeout';
      if (isLost) continue;
      const isBackendFault =
        final.status === 'error' && final.error !== null && final.error.message.includes('batch of');
      if (isBackendFault && this.faults.has('backend_misfits')) continue;
      // What a failpoint threw into the episode is a typed error of it, and not tried again.
      if (final.error?.message.includes('failpoint') && this.#points.hasStruck) continue;
      const { metrics } = final;
      if (final.status !== expected.status)
        broken(
          `${runId}: episode ${planned.ordinal} is ${final.status}, not ${expected.status}: ${final.error?.message}`,
        );
      else if (final.status === 'completed' && JSON.stringify(metrics) !== JSON.stringify(expected.metrics))
        broken(
          `${runId}: episode ${planned.ordinal} has ${JSON.stringify(metrics)}, not ${JSON.stringify(expected.metrics)}`,
        );
    }
  }
}

/** Summaries without their bootstrap, which costs more than the whole run. Every sixteenth seed does it in full. */
function quickSummaries(fileSystem: FileSystemPort): BulkWork {
  const inner = createInThreadBulkWork(fileSystem);
  return {
    ...inner,
    async run(name, input) {
      if (name !== 'summarise') return await inner.run(name, input);
      const { folder: runFolder } = input as BulkTasks['summarise']['input'];
      const { record } = await readRecord(fileSystem, runFolder);
      const { finals } = await readCountedRows(fileSystem, runFolder, record.plan);
      const aggregate = createLiveAggregate({
        definitions: record.metrics,
        planned: record.plan.length,
        repeated: record.plan.some(({ repeat }) => repeat > 0),
      });
      for (const row of finals) aggregate.add(row);
      return aggregate.snapshot(0);
    },
  };
}

/** Statuses and ordinals: enough to tell two histories apart, and to read one. */
function briefly(name: string, payload: object): string {
  const { rows, runId, status, item, holder, message } = payload as Record<string, never>;
  const list = rows as undefined | readonly { ordinal: number; status: string; attempts: number }[];
  const parts = list?.map((row) => `${row.ordinal}.${row.attempts} ${row.status}`) ?? [];
  const record = (item as undefined | { status: string })?.status;
  return [name, runId, status, record, (holder as undefined | { id: string })?.id, message, ...parts]
    .filter((part) => part !== undefined)
    .join(' ')
    .replaceAll(randomPart, '*');
}

/** Names of temporary files are random on purpose; they are no part of a history. */
const randomPart = /[0-9a-f]{8,12}/g;

const nowhere = {
  appVersion: 'simulation',
  gitCommit: null,
  interpreters: [],
  models: [],
  host: 'here',
  os: 'simulated',
  cpu: 'simulated',
  cores: 1,
  memoryBytes: 1,
  gpu: null,
};

/** Plays one seed to its end. */
export async function simulateWorkspace(seed: number, options: WorldOptions = {}): Promise<WorldReport> {
  // Stacks cost a fifth of the time, and a seed can be replayed with them.
  const { stackTraceLimit } = Error;
  if (!options.trace) Error.stackTraceLimit = 0;
  try {
    return await new World(seed, options).run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
