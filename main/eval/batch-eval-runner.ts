// One session of one run: load the nodesets, fix the plan (or take up the missing part of it), run the pool, and write
// how it ended. `stop` and `cancel` work in every stage; whatever happens the replicas are gone when `execute` resolves.
import { isAbort, messageOf, StudioError, toStudioError } from '../base/errors.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { GraphDefinition } from '../contract/graph.ts';
import type {
  BatchView,
  EpisodeAttempt,
  RunCounts,
  RunStatus,
  RunSummary,
  WorkerView,
} from '../contract/run.ts';
import type { Settings } from '../contract/settings.ts';
import { compileGraph } from '../graph/compile.ts';
import type { GraphSession, LoadStage, NodesetRegistry } from '../nodeset/ports.ts';
import type { RunChat } from '../llm/ports.ts';
import type { RunHandle } from '../store/ports.ts';
import { lowSpaceReason, watchDisk } from './disk-watch.ts';
import { describeEnvironment, spaceWithoutEnvironment, type Environment } from './environment.ts';
import { errorInfoOf } from './error-info.ts';
import { EnvWorkerPool, type PoolEnd } from './env-worker-pool.ts';
import { planEpisodes, plannedCountHint } from './episode-source.ts';
import { requiredNodesets } from '../graph/graph-tools.ts';
import type { EpisodeLimits } from './lease.ts';
import type { EpisodeRunner, RunBatching, RunEnd, RunListener } from './ports.ts';
import { refuseChangedPlan } from './resume-check.ts';
import { executionIdOf } from './run-episode.ts';
import { sessionReplicas } from './session-replicas.ts';

const defaultStepBudget = 1000;
const fallbackPerStepBudgetSec = 30;

export interface EpisodeRunnerRequest {
  readonly graph: GraphDefinition;
  readonly environment: Environment | null;
  readonly handle: RunHandle;
}

export interface BatchPorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Pick<NodesetRegistry, 'ensureNodesetsForGraph'>;
  readonly settings: Pick<Settings, 'deadlines' | 'processLimits' | 'perStepBudgetSec'>;
  readonly freeBytes: () => Promise<number>;
  readonly createEpisodeRunner: (request: EpisodeRunnerRequest) => EpisodeRunner;
  /** Disposed by the run once its replicas are gone. */
  readonly batching?: RunBatching | undefined;
  /** Opened when the session starts: a replay from nowhere then fails the run, not each episode. */
  readonly openChat?: (() => RunChat) | undefined;
  readonly redact?: (<Value>(value: Value) => Value) | undefined;
}

type Interruption = { readonly kind: 'stop'; readonly reason: string } | { readonly kind: 'cancel' };

/** How a session ended, before it is written down. */
type Outcome =
  | { readonly kind: 'pool'; readonly end: PoolEnd }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'paused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: StudioError };

export interface BatchSnapshot {
  readonly status: RunStatus;
  readonly stage: string | null;
  readonly workers: readonly WorkerView[];
  /** When the first episode of this session could begin; null before. */
  readonly poolStartedMs: number | null;
  /** Absent where nothing batches. */
  readonly batching?: readonly BatchView[];
}

export class BatchEvalRunner {
  readonly handle: RunHandle;
  readonly #ports: BatchPorts;
  readonly #graph: GraphDefinition;
  readonly #listener: RunListener;
  readonly #preparation = new AbortController();
  #status: RunStatus = 'preparing';
  #summary: RunSummary | null = null;
  #stage: string | null = null;
  #interruption: Interruption | null = null;
  #pool: EnvWorkerPool | null = null;
  #poolStartedMs: number | null = null;

  constructor(
    ports: BatchPorts,
    run: { readonly handle: RunHandle; readonly graph: GraphDefinition; readonly listener: RunListener },
  ) {
    this.#ports = ports;
    this.handle = run.handle;
    this.#graph = run.graph;
    this.#listener = run.listener;
  }

  snapshot(): BatchSnapshot {
    return {
      status: this.#status,
      stage: this.#stage,
      workers: this.#pool?.workers() ?? [],
      poolStartedMs: this.#poolStartedMs,
      ...(this.#ports.batching && { batching: this.#ports.batching.views() }),
    };
  }

  /** The final numbers once the session has ended, those of now before. */
  summary(): RunSummary {
    const running = this.#pool?.workers().filter((worker) => worker.ordinal !== null).length ?? 0;
    return this.#summary ?? this.handle.live(running);
  }

  /** Runs until it ends, is paused or cancelled, and writes that down. Never rejects. */
  async execute(): Promise<RunEnd> {
    const startedMs = this.#ports.clock.monotonic();
    const outcome = await this.#outcome();
    await this.#endBatching();
    this.#stage = null;
    return this.#finish(outcome, startedMs);
  }

  /** Episodes in flight finish, then the run is paused. */
  stop(reason: string): void {
    if (this.#interruption) return;
    this.#interruption = { kind: 'stop', reason };
    this.#interrupt();
    this.#pool?.stop(reason);
  }

  /** Episodes in flight end now, then the run is paused: the application closes. */
  halt(reason: string): void {
    this.#interruption ??= { kind: 'stop', reason };
    this.#interrupt();
    this.#pool?.cancel();
  }

  /** Episodes in flight end now, then the run is cancelled. */
  cancel(): void {
    this.#interruption = { kind: 'cancel' };
    this.#interrupt();
    this.#pool?.cancel();
  }

  #interrupt(): void {
    if (this.#status === 'running' || this.#status === 'preparing') this.#status = 'stopping';
    if (!this.#pool) this.#preparation.abort();
    this.#listener.onState?.();
  }

  async #outcome(): Promise<Outcome> {
    try {
      await this.#enter('preparing', 'checking the disk');
      await this.#refuseLowSpace();
      using chat = this.#ports.openChat?.();
      await using session = await this.#openSession();
      this.#throwIfInterrupted();
      const environment = await this.#prepare(session);
      return { kind: 'pool', end: await this.#runPool(session, environment, chat) };
    } catch (error) {
      if (this.#interruption && isAbort(error)) return { kind: 'interrupted' };
      const known = toStudioError(error);
      if (known.code === 'disk_full') return { kind: 'paused', reason: known.message };
      return { kind: 'failed', error: known };
    }
  }

  /** A model that is missing or does not fit is an error before the start, not one of every episode. */
  async #loadModels(): Promise<void> {
    const { batching } = this.#ports;
    if (!batching?.ready) return;
    this.#show('loading models');
    await batching.ready(this.#preparation.signal);
    this.#throwIfInterrupted();
  }

  async #endBatching(): Promise<void> {
    try {
      await this.#ports.batching?.[Symbol.asyncDispose]();
    } catch (error) {
      this.#ports.logger.error('the batched tier did not end cleanly', { error: messageOf(error) });
    }
  }

  async #openSession(): Promise<GraphSession> {
    const { registry, batching } = this.#ports;
    this.#show('loading nodesets');
    return await registry.ensureNodesetsForGraph(requiredNodesets(this.#graph), {
      replicaCount: this.#workerCount(),
      signal: this.#preparation.signal,
      onStage: (stage) => this.#onStage(stage),
      logFolder: `${this.handle.folder}/logs`,
      place: this.handle.record.config.spawner,
      envsPerProcess: this.handle.record.config.envsPerProcess,
      ...(batching ? { batching } : {}),
    });
  }

  /** No more workers than episodes, as far as that is known before the environment is loaded. */
  #workerCount(): number {
    const { config, plan } = this.handle.record;
    const known =
      plan.length > 0 ? this.handle.missing().length : (plannedCountHint(config) ?? config.workerCount);
    return Math.max(1, Math.min(config.workerCount, known));
  }

  /** Reads the environment, and fixes the plan or checks that it still holds. */
  async #prepare(session: GraphSession): Promise<Environment | null> {
    const { handle } = this;
    const { config, plan } = handle.record;
    this.#show('reading the environment');
    const environment = await describeEnvironment(session, config, { signal: this.#preparation.signal });
    const space = environment?.space ?? spaceWithoutEnvironment(handle.record.graphName);
    if (plan.length > 0) {
      refuseChangedPlan(plan, space);
    } else {
      const { metadata } = environment ?? {};
      const { redact = (value) => value } = this.#ports;
      const said = redact({
        envName: metadata?.envName ?? null,
        split: environment?.split ?? null,
        metrics: metadata?.metrics ?? [],
      });
      await handle.setPlan(planEpisodes(config, space), {
        ...said,
        envNodeset: environment?.nodeset ?? null,
        stepBudget: config.stepBudget ?? environment?.stepBudget ?? this.#graphStepBudget() ?? null,
        perStepBudgetSec: this.#perStepBudgetSec(session, environment),
      });
    }
    this.#throwIfInterrupted();
    // An unknown node type is an error before the start, not one of every episode.
    if (session.initial[0]) compileGraph(this.#graph, session.initial[0].catalog);
    await this.#loadModels();
    return environment;
  }

  async #runPool(
    session: GraphSession,
    environment: Environment | null,
    chat: RunChat | undefined,
  ): Promise<PoolEnd> {
    const { handle } = this;
    const { clock, logger, settings, createEpisodeRunner, freeBytes } = this.#ports;
    const { config } = handle.record;
    const { processLimits, deadlines } = settings;
    using pool = new EnvWorkerPool({
      workerCount: session.initial.length,
      episodes: handle.missing(),
      source: sessionReplicas(session),
      runner: createEpisodeRunner({ graph: this.#graph, environment, handle }),
      journal: handle,
      limits: this.#limits(session, environment),
      retry: config.retry,
      affinity: config.affinity,
      failOn: config.failOn,
      crashBudget: processLimits.crashBudget,
      recycle: {
        afterEpisodes: processLimits.recycleAfterEpisodes,
        aboveBytes: processLimits.recycleAboveMb === null ? null : processLimits.recycleAboveMb * 1e6,
        slopeBytesPerEpisode: null,
      },
      closeMs: deadlines.closeSec * 1000,
      annotate: (row) => this.#annotated(row, chat),
      clock,
      logger,
      listener: this.#listener,
    });
    using _disk = watchDisk({
      clock,
      logger,
      freeBytes,
      pauseBelowBytes: processLimits.pauseBelowFreeMb * 1e6,
      onLow: (reason) => pool.stop(reason),
    });
    this.#pool = pool;
    this.#throwIfInterrupted();
    await pool.start();
    // Stopped meanwhile: the pool knows, and ends its replicas without handing out an episode.
    if (!this.#interruption) await this.#enter('running', null);
    this.#poolStartedMs = clock.monotonic();
    return await pool.run();
  }

  /** Also rows of attempts that were ended from outside carry what they used. */
  #annotated(row: EpisodeAttempt, chat: RunChat | undefined): EpisodeAttempt {
    const usage = chat?.takeUsage(executionIdOf(this.handle.record.runId, row)) ?? null;
    const { redact } = this.#ports;
    const clean = redact ? redact(row) : row;
    return usage ? { ...clean, usage } : clean;
  }

  #limits(session: GraphSession, environment: Environment | null): EpisodeLimits {
    const { perStepBudgetSec, stepBudget } = this.handle.record;
    const manifest = session.nodesets.find(({ name }) => name === environment?.nodeset);
    const resetSec = manifest?.deadlinesSec['reset'] ?? this.#ports.settings.deadlines.resetSec;
    return {
      resetMs: resetSec * 1000,
      episodeMs: (steps) => Math.max(1000, steps * perStepBudgetSec * 1000),
      defaultStepBudget: stepBudget ?? defaultStepBudget,
    };
  }

  #perStepBudgetSec(session: GraphSession, environment: Environment | null): number {
    const manifest = session.nodesets.find(({ name }) => name === environment?.nodeset);
    const { config } = this.handle.record;
    const fromSettings = this.#ports.settings.perStepBudgetSec;
    return (
      config.perStepBudgetSec ?? fromSettings ?? manifest?.defaultPerStepBudgetSec ?? fallbackPerStepBudgetSec
    );
  }

  #graphStepBudget(): number | undefined {
    return this.#graph.step_budget ?? this.#graph.maxIterations ?? undefined;
  }

  async #refuseLowSpace(): Promise<void> {
    const limitBytes = this.#ports.settings.processLimits.pauseBelowFreeMb * 1e6;
    const reason = lowSpaceReason(await this.#ports.freeBytes(), limitBytes);
    if (reason !== null) throw new StudioError('disk_full', reason);
  }

  #throwIfInterrupted(): void {
    if (this.#interruption) throw new StudioError('aborted', 'The run was stopped');
  }

  #onStage(stage: LoadStage): void {
    this.#stage = `${stage.instance}: ${stage.stage}`;
    this.#listener.onStage?.(stage);
  }

  #show(stage: string | null): void {
    this.#stage = stage;
    this.#listener.onState?.();
  }

  async #enter(status: RunStatus, stage: string | null): Promise<void> {
    this.#throwIfInterrupted();
    this.#status = status;
    this.#show(stage);
    const { startedAt } = this.handle.record;
    await this.handle.update({
      status,
      startedAt: startedAt ?? new Date(this.#ports.clock.now()).toISOString(),
      error: null,
      pausedBecause: null,
      finishedAt: null,
    });
  }

  async #finish(outcome: Outcome, startedMs: number): Promise<RunEnd> {
    const { handle } = this;
    const { counts } = handle.live(0);
    const end = this.#endOf(outcome, counts);
    try {
      const summary = await handle.finish(end.status, {
        activeMs: handle.record.activeMs + this.#ports.clock.monotonic() - startedMs,
        error: end.status === 'failed' ? end.error : null,
        pausedBecause: end.status === 'failed' ? null : (end.reason ?? null),
      });
      this.#status = end.status;
      this.#summary = summary;
      return { ...end, counts: summary.counts };
    } catch (error) {
      return await this.#finishedBadly(end, error);
    }
  }

  /** What the record says is what is told: a summary and a last file can be made again, a status cannot. */
  async #finishedBadly(end: RunEnd, error: unknown): Promise<RunEnd> {
    const { handle } = this;
    const message = messageOf(error);
    const { runId } = handle.record;
    this.#ports.logger.error('the end of the run could not be written', { runId, error: message });
    if (handle.record.status === end.status) {
      this.#status = end.status;
      return end.status === 'failed' ? end : { ...end, unwritten: message };
    }
    this.#status = 'paused';
    const reason = `the end of the run could not be written: ${message}`;
    // A smaller write may still succeed; else the next start finds the run, whatever the record says now.
    await handle.update({ status: 'paused', pausedBecause: reason }).catch(() => undefined);
    return { status: 'paused', counts: end.counts, reason };
  }

  #endOf(outcome: Outcome, counts: RunCounts): RunEnd {
    switch (outcome.kind) {
      case 'failed':
        return { status: 'failed', counts, error: errorInfoOf(outcome.error) };
      case 'paused':
        return { status: 'paused', counts, reason: outcome.reason };
      case 'interrupted':
        if (this.#interruption?.kind === 'stop')
          return { status: 'paused', counts, reason: this.#interruption.reason };
        return { status: 'cancelled', counts };
      case 'pool':
        if (outcome.end.kind === 'cancelled') return this.#endOf({ kind: 'interrupted' }, counts);
        if (outcome.end.kind === 'paused') return { status: 'paused', counts, reason: outcome.end.reason };
        return {
          status: counts.completed === counts.planned ? 'completed' : 'completed_with_errors',
          counts,
        };
    }
  }
}
