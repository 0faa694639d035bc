// Starts, queues, stops and resumes runs, and knows the one that is going on. A start is refused before anything was
// made, or answered with an id; the guard is held from then until the run's end is written.
import { messageOf, StudioError, toStudioError } from '../base/errors.ts';
import { stableHash } from '../base/stable-hash.ts';
import type { EvalConfig } from '../contract/eval-config.ts';
import type { GraphDefinition } from '../contract/graph.ts';
import type { Introspection, LiveRun, Preflight } from '../contract/requests.ts';
import type { RunRecord } from '../contract/run.ts';
import type { RecoveryReport, RunHandle } from '../store/ports.ts';
import { isDiskFull } from '../store/storage-error.ts';
import { endWhole } from '../store/recovery.ts';
import { BatchEvalRunner } from './batch-eval-runner.ts';
import { errorInfoOf } from './error-info.ts';
import { EnvironmentReader } from './environment-reader.ts';
import type { GuardLease } from './execution-guard.ts';
import { requiredNodesets } from '../graph/graph-tools.ts';
import { introspect } from './introspect.ts';
import { LiveRunFeed } from './live-run-feed.ts';
import type { LoadedGraph, RunEnd } from './ports.ts';
import { preflight, type PreflightPorts } from './preflight.ts';
import {
  refuseDifferences,
  refuseUnresumable,
  resumeDifferences,
  type ResumeDifference,
} from './resume-check.ts';
import { endQueuedRun, tellChanged, tellEnded, tolerantEvents } from './run-news.ts';
import { RunQueue } from './run-queue.ts';
import { batchPortsOf, type RunServicePorts } from './run-service-ports.ts';
import { draftRecord, refuseInvalidGraph, refuseMissingKeys } from './start-check.ts';

export interface StartRequest {
  readonly config: EvalConfig;
  readonly whenBusy: 'refuse' | 'queue';
  readonly parentRun?: string | undefined;
}

const closedReason = 'the application was closed';
const queueRetryMs = 10_000;

interface ActiveRun {
  readonly runId: string;
  readonly batch: BatchEvalRunner;
  readonly feed: LiveRunFeed;
  readonly ended: Promise<void>;
}

export class RunService implements AsyncDisposable {
  readonly #ports: RunServicePorts;
  readonly #queue: RunQueue;
  readonly #reader: EnvironmentReader;
  readonly #guardSubscription: Disposable;
  #active: ActiveRun | null = null;
  /** Starts and resumes that are not yet under way; closing waits for them. */
  readonly #starting = new Set<Promise<unknown>>();
  #startingQueued: { readonly runId: string; readonly isOver: Promise<void> } | null = null;
  /** Queued runs that were told to leave: they may no longer begin. */
  readonly #leaving = new Set<string>();
  /** Set while the first queued run could neither be started nor taken out of the queue. */
  #queueRetry: Disposable | null = null;
  #isQueueHeld: boolean;
  #isClosed = false;

  constructor(given: RunServicePorts) {
    const ports = { ...given, events: tolerantEvents(given.events, given.logger) };
    this.#ports = ports;
    this.#isQueueHeld = ports.holdQueue ?? false;
    this.#reader = new EnvironmentReader(ports.registry);
    this.#queue = new RunQueue(ports.queueStorage, (runIds) =>
      ports.events.publish('queue.changed', { runIds: [...runIds] }),
    );
    this.#guardSubscription = ports.guard.onChange((holder) => {
      ports.events.publish('guard.changed', { holder });
      if (!holder) void this.#tracked(this.#startNextQueued());
    });
  }

  /** At start, by the owner of the workspace: finds interrupted runs and goes on with the queue. */
  async recover(): Promise<RecoveryReport> {
    await this.#queue.restore();
    const report = await this.#ports.store.recover({
      isQueued: (runId) => this.#queue.runIds.includes(runId),
    });
    for (const { runId, missing } of report.interrupted) {
      const message = `Run ${runId} was interrupted. ${missing} episodes are missing; resume it to run exactly those.`;
      this.#notice('warning', message, runId);
    }
    for (const runId of report.ended)
      this.#notice('info', `Run ${runId} was whole when the app ended; nothing is missing.`, runId);
    void this.#tracked(this.#startNextQueued());
    return report;
  }

  /** Throws before anything was made; once there is an id, the rest is events. */
  start(request: StartRequest): Promise<{ readonly runId: string; readonly queued: boolean }> {
    return this.#tracked(this.#start(request));
  }

  async #start(request: StartRequest): Promise<{ readonly runId: string; readonly queued: boolean }> {
    const { graphs, registry, guard, newRunId } = this.#ports;
    this.#refuseClosed();
    const graph = await graphs.load(request.config.graph);
    await this.#lookAgain(requiredNodesets(graph.definition));
    refuseInvalidGraph(graph.definition, { graphs, registry, config: request.config });
    refuseMissingKeys((await this.#ports.missingKeys?.(graph, request.config)) ?? []);
    const runId = newRunId();
    if (request.whenBusy === 'queue' && (guard.holder !== null || this.#queue.runIds.length > 0)) {
      await this.#enqueue(runId, request, graph);
      return { runId, queued: true };
    }
    const lease = this.#acquire(runId, graph.item.name);
    try {
      const handle = await this.#create(runId, request, graph, 'preparing');
      this.#begin(handle, graph.definition, lease);
    } catch (error) {
      lease[Symbol.dispose]();
      throw error;
    }
    return { runId, queued: false };
  }

  /** Runs exactly what is missing; a run that is whole gets its end. Throws `conflict` when the nodesets changed since. */
  resume(
    runId: string,
    options: { readonly acceptDifferences: boolean },
  ): Promise<{ readonly runId: string; readonly missing: number }> {
    return this.#tracked(this.#resume(runId, options.acceptDifferences));
  }

  async #resume(
    runId: string,
    acceptDifferences: boolean,
  ): Promise<{ readonly runId: string; readonly missing: number }> {
    const { store, graphs } = this.#ports;
    this.#refuseClosed();
    const record = await store.readRecord(runId);
    refuseUnresumable(record, this.activeRunId);
    const differences = this.resumeDifferences(record);
    if (!acceptDifferences) refuseDifferences(differences);
    const lease = this.#acquire(runId, record.graphName);
    let handle: RunHandle | undefined;
    try {
      const definition = graphs.parse(await store.readGraphText(runId));
      handle = await store.open(runId);
      const missing = handle.missing().length;
      if (await endWhole(handle)) {
        await this.#tellEndedWhole(handle);
        lease[Symbol.dispose]();
        return { runId, missing };
      }
      this.#begin(handle, definition, lease);
      return { runId, missing };
    } catch (error) {
      await handle?.[Symbol.asyncDispose]();
      lease[Symbol.dispose]();
      throw error;
    }
  }

  /** Every episode had its row already; only the run's end was not written. */
  async #tellEndedWhole(handle: RunHandle): Promise<void> {
    const { record } = handle;
    const summary = handle.live(0);
    await handle[Symbol.asyncDispose]();
    tellEnded(this.#ports.events, record, summary, { status: record.status, error: null });
  }

  /** What is not as it was when the run began. */
  resumeDifferences(record: RunRecord): ResumeDifference[] {
    return resumeDifferences(record, this.#ports.registry.list());
  }

  /** Episodes in flight finish; the run is then paused. A queued run leaves the queue. */
  async stop(runId: string): Promise<void> {
    await this.#interrupt(runId, (batch) => batch.stop('stopped by the user'));
  }

  /** Episodes in flight end now. A queued run leaves the queue. */
  async cancel(runId: string): Promise<void> {
    await this.#interrupt(runId, (batch) => batch.cancel());
  }

  /** One that is on its way out of the queue is interrupted when it has got somewhere. */
  async #interrupt(runId: string, act: (batch: BatchEvalRunner) => void): Promise<void> {
    if (this.#startingQueued?.runId === runId) await this.#startingQueued.isOver;
    if (this.#active?.runId === runId) return act(this.#active.batch);
    await this.#unqueue(runId);
  }

  /** The run that is going on; null for any other. */
  live(runId: string): LiveRun | null {
    return this.#active?.runId === runId ? this.#active.feed.snapshot(this.#active.batch) : null;
  }

  get activeRunId(): string | null {
    return this.#active?.runId ?? null;
  }

  queue(): readonly string[] {
    return this.#queue.runIds;
  }

  async reorderQueue(runIds: readonly string[]): Promise<void> {
    await this.#queue.reorder(runIds);
  }

  /** Resolves when the run is no longer going on; at once when it is not. */
  async whenEnded(runId: string): Promise<void> {
    if (this.#active?.runId === runId) await this.#active.ended;
  }

  async preflight(config: EvalConfig, signal?: AbortSignal): Promise<Preflight> {
    const { store, settings, missingKeys } = this.#ports;
    const ports: PreflightPorts = {
      ...this.#ports,
      reader: this.#reader,
      freeBytes: () => store.freeBytes(),
      pauseBelowBytes: settings().processLimits.pauseBelowFreeMb * 1e6,
      missingKeys,
    };
    return await preflight(ports, config, signal);
  }

  async introspect(
    ref: string,
    options: { readonly load: boolean; readonly signal?: AbortSignal },
  ): Promise<Introspection> {
    return await introspect({ ...this.#ports, reader: this.#reader }, { ref, ...options });
  }

  /** Ends the run that is going on, as paused, and takes no more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#queueRetry?.[Symbol.dispose]();
    this.#guardSubscription[Symbol.dispose]();
    this.#active?.batch.halt(closedReason);
    await Promise.allSettled(this.#starting);
    await this.#active?.ended;
  }

  #tracked<Value>(start: Promise<Value>): Promise<Value> {
    this.#starting.add(start);
    const forget = (): void => void this.#starting.delete(start);
    start.then(forget, forget);
    return start;
  }

  /** What failed before may have been mended since, and what was edited must not run as it was before. */
  async #lookAgain(names: readonly string[]): Promise<void> {
    const { registry } = this.#ports;
    const failed = registry.list().some(({ name, state }) => names.includes(name) && state === 'failed');
    if (failed) await registry.scan();
    await registry.lookAtChanges(names);
  }

  #acquire(runId: string, label: string): GuardLease {
    return this.#ports.guard.acquire({ kind: 'eval', id: runId, label });
  }

  async #create(
    runId: string,
    request: StartRequest,
    graph: LoadedGraph,
    status: 'preparing' | 'queued',
  ): Promise<RunHandle> {
    const { store, registry, clock, provenance } = this.#ports;
    const names = requiredNodesets(graph.definition);
    const nodesets = registry.list().filter(({ name }) => names.includes(name));
    const facts = await provenance({
      definition: graph.definition,
      graphHash: stableHash(graph.definition),
      nodesets: nodesets.map(({ name, sourceHash }) => ({ name, sourceHash })),
    });
    const record = draftRecord({ runId, request, graph, status, provenance: facts, nowMs: clock.now() });
    const handle = await store.create({ record, graphText: graph.text });
    tellChanged(this.#ports.events, handle.record, handle.live(0));
    return handle;
  }

  async #enqueue(runId: string, request: StartRequest, graph: LoadedGraph): Promise<void> {
    const handle = await this.#create(runId, request, graph, 'queued');
    await handle[Symbol.asyncDispose]();
    try {
      await this.#queue.add(runId);
    } catch (error) {
      // Nobody would ever start it: it must not look as if it waited.
      const failure = { status: 'failed', error: errorInfoOf(toStudioError(error)) } as const;
      await endQueuedRun(this.#ports, runId, failure).catch(() => undefined);
      throw error;
    }
    void this.#tracked(this.#startNextQueued());
  }

  /** From now on queued runs start as soon as nothing else executes. */
  releaseQueue(): void {
    this.#isQueueHeld = false;
    void this.#tracked(this.#startNextQueued());
  }

  async #unqueue(runId: string): Promise<void> {
    if (!this.#queue.runIds.includes(runId)) {
      throw new StudioError('not_found', `Run ${runId} is neither going on nor queued.`);
    }
    this.#leaving.add(runId);
    try {
      await this.#queue.remove(runId);
      await endQueuedRun(this.#ports, runId, { status: 'cancelled', error: null });
    } finally {
      this.#leaving.delete(runId);
      void this.#tracked(this.#startNextQueued());
    }
  }

  async #startNextQueued(): Promise<void> {
    const { guard, store, graphs } = this.#ports;
    const runId = this.#queue.runIds.find((each) => !this.#leaving.has(each));
    if (this.#isClosed || this.#isQueueHeld || this.#startingQueued || this.#queueRetry) return;
    if (guard.holder !== null || runId === undefined) return;
    let handle: RunHandle | undefined;
    const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
    this.#startingQueued = { runId, isOver };
    const lease = this.#acquire(runId, runId);
    try {
      const definition = graphs.parse(await store.readGraphText(runId));
      if (this.#isClosed) throw new StudioError('aborted', closedReason);
      handle = await store.open(runId);
      await this.#queue.remove(runId);
      this.#startingQueued = null;
      this.#begin(handle, definition, lease);
    } catch (error) {
      await handle?.[Symbol.asyncDispose]();
      // What the closing or a full disk interrupted stays in the queue.
      if (!this.#isClosed && !isDiskFull(error)) await this.#dropUnstartable(runId, error);
      if (this.#queue.runIds.includes(runId)) this.#tryQueueLater(runId, error);
      this.#startingQueued = null;
      lease[Symbol.dispose]();
    } finally {
      over();
    }
  }

  /** At once would be for ever: the guard that is given back asks for the next run. */
  #tryQueueLater(runId: string, error: unknown): void {
    if (this.#isClosed) return;
    this.#notice('warning', `Queued run ${runId} waits: ${messageOf(error)}`, runId);
    this.#queueRetry = this.#ports.clock.after(queueRetryMs, () => {
      this.#queueRetry = null;
      void this.#tracked(this.#startNextQueued());
    });
  }

  /** Its line says why; the queue goes on without it. */
  async #dropUnstartable(runId: string, error: unknown): Promise<void> {
    this.#notice('error', `Queued run ${runId} could not be started: ${messageOf(error)}`, runId);
    try {
      await this.#queue.remove(runId);
      await endQueuedRun(this.#ports, runId, { status: 'failed', error: errorInfoOf(toStudioError(error)) });
    } catch (storageError) {
      this.#ports.logger.error('a queued run could not be ended', { runId, error: messageOf(storageError) });
    }
  }

  /** From here on the lease is the run's. */
  #begin(handle: RunHandle, graph: GraphDefinition, lease: GuardLease): void {
    const { clock, events, sequence } = this.#ports;
    const feed = new LiveRunFeed({ clock, events, sequence });
    const batch = new BatchEvalRunner(batchPortsOf(this.#ports, handle), { handle, graph, listener: feed });
    feed.attach(batch);
    if (this.#isClosed) batch.halt(closedReason);
    const { runId } = handle.record;
    this.#active = { runId, batch, feed, ended: this.#drive(batch, feed, lease) };
  }

  async #drive(batch: BatchEvalRunner, feed: LiveRunFeed, lease: GuardLease): Promise<void> {
    const { handle } = batch;
    const end = await batch.execute();
    feed.publish();
    try {
      await handle[Symbol.asyncDispose]();
    } catch (error) {
      this.#ports.logger.error('a run could not be closed', {
        runId: handle.record.runId,
        error: messageOf(error),
      });
    }
    this.#active = null;
    this.#publishEnd(batch, end);
    lease[Symbol.dispose]();
  }

  #publishEnd(batch: BatchEvalRunner, end: RunEnd): void {
    const { record } = batch.handle;
    const error = end.status === 'failed' ? end.error : null;
    tellEnded(this.#ports.events, record, batch.summary(), { status: end.status, error });
    if (end.status !== 'failed' && end.unwritten !== undefined) {
      const rest = `Not everything beside its results could be written: ${end.unwritten}. It is made again when it is needed.`;
      this.#notice('warning', `Run ${record.runId} is ${end.status}. ${rest}`, record.runId);
    }
    if (end.status !== 'paused' || !end.reason) return;
    this.#notice('warning', `Run ${record.runId} is paused: ${end.reason}`, record.runId);
  }

  #notice(level: 'info' | 'warning' | 'error', message: string, runId: string): void {
    this.#ports.events.publish('notice', { level, message, runId });
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw new StudioError('aborted', 'The application is closing');
  }
}
