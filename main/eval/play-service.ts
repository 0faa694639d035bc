// Canvas Play: one execution of one graph under the guard, with controls over it. Processes are kept between two Plays
// until a batch starts, the graph needs others, or one of them breaks. Whatever happens the guard is given back.
import type { Clock } from '../base/clock.ts';
import { StudioError, toStudioError } from '../base/errors.ts';
import type { ParsedInput } from '../contract/api.ts';
import type { GraphDefinition } from '../contract/graph.ts';
import type { PlayedNode, PlayResult, PlayStatus, PlayView } from '../contract/play.ts';
import type { ErrorInfo } from '../contract/error.ts';
import { compileGraph } from '../graph/compile.ts';
import type { HookRunner } from '../graph/hooks.ts';
import type { FiringEnd, RunnerState } from '../graph/listener.ts';
import { LoopRunner, type RunResult, type StepUnit } from '../graph/loop-runner.ts';
import { hasErrors, validateGraph } from '../graph/validate/validate.ts';
import { errorInfoOf } from './error-info.ts';
import type { ExecutionGuard, GuardLease } from './execution-guard.ts';
import { requiredNodesets } from '../graph/graph-tools.ts';
import { playResultOf } from './play-result.ts';
import { PlaySession, type PlayRegistry } from './play-session.ts';
import { PlayWatch } from './play-watch.ts';
import type { ChatService } from '../llm/ports.ts';
import type { EventSink } from './ports.ts';

export interface PlayPorts {
  readonly clock: Clock;
  readonly registry: PlayRegistry;
  readonly guard: ExecutionGuard;
  readonly events: EventSink;
  readonly hooks?: HookRunner | null;
  readonly chat?: Pick<ChatService, 'onProgress' | 'usageOf'> | undefined;
}

export type PlayStart = ParsedInput<'play.start'>;

/** Between two messages about a run that goes on. */
const tellEveryMs = 60;
/** Errors after which a process is not asked again. */
const breaking: ReadonlySet<string> = new Set(['timeout', 'process_died', 'connection_closed', 'fatal']);

export class PlayService implements AsyncDisposable {
  readonly #ports: PlayPorts;
  readonly #guardSubscription: Disposable;
  readonly #progressSubscription: Disposable | undefined;
  #session: PlaySession | null = null;
  #watch: PlayWatch;
  #runner: LoopRunner | null = null;
  #lease: GuardLease | null = null;
  #preparing: AbortController | null = null;
  /** The work of the last `prepare` or `start`: disposing waits for it. */
  #work: Promise<void> = Promise.resolve();
  #status: PlayStatus = 'idle';
  #stage: string | null = null;
  #error: ErrorInfo | null = null;
  #result: PlayResult | null = null;
  #about = { executionId: null as string | null, graphName: '', graphRef: null as string | null, seed: 0 };
  #delay = { stepDelayMs: 0 };
  #count = 0;
  #revision = 0;
  #timer: Disposable | null = null;
  #isClosed = false;

  constructor(ports: PlayPorts) {
    this.#ports = ports;
    this.#watch = new PlayWatch(() => this.#tellLater());
    this.#guardSubscription = ports.guard.onChange((holder) => {
      if (holder?.kind === 'eval' && this.#status !== 'preparing') void this.#closeSession();
    });
    this.#progressSubscription = ports.chat?.onProgress(({ executionId, nodeId, step, text, isDone }) => {
      if (executionId === this.#about.executionId && !isDone) this.#watch.stream(nodeId, step, text);
    });
  }

  get view(): PlayView {
    const runner = this.#runner;
    const usage = this.#ports.chat?.usageOf(this.#about.executionId ?? '') ?? null;
    return {
      ...(usage && { usage }),
      revision: ++this.#revision,
      status: this.#status,
      ...this.#about,
      stage: this.#stage,
      error: this.#error,
      step: runner?.step ?? 0,
      stepBudget: runner?.stepBudget ?? null,
      firings: this.#watch.firings,
      stepDelayMs: this.#delay.stepDelayMs,
      checkpoints: [...(runner?.checkpoints() ?? [])],
      isPrepared: this.#session !== null && !this.#session.isBroken,
      panels: this.#session?.panels ?? [],
      result: this.#result,
    };
  }

  get nodes(): readonly PlayedNode[] {
    return this.#watch.nodes;
  }

  get watch(): PlayWatch {
    return this.#watch;
  }

  /** Throws `guard_busy` while a batch runs and `conflict` while a Play does. The rest is told by events. */
  prepare(definition: GraphDefinition, graph: PlayStart['graph']): PlayView {
    this.#refuseWhileBusy();
    const { holder } = this.#ports.guard;
    if (holder) {
      throw new StudioError('guard_busy', `Run ${holder.label} is executing; its environments come first.`, {
        details: { holder },
      });
    }
    const { graphName, graphRef } = this.#about;
    if (graph.name !== graphName || graph.ref !== graphRef) this.#forget(graph, null, 0);
    this.#begin(definition, async () => this.#end('idle'));
    return this.view;
  }

  /** Throws `graph_invalid`, `guard_busy` or `conflict`; what fails later is in the view. */
  start(request: PlayStart): PlayView {
    this.#refuseWhileBusy();
    const { definition, graph, seed, stepDelayMs } = request;
    refuseInvalid(definition, this.#ports.registry);
    this.#lease = this.#ports.guard.acquire({
      kind: 'canvas',
      id: graph.ref ?? '',
      label: graph.name,
    });
    this.#forget(graph, `play/${++this.#count}`, seed);
    this.#delay = { stepDelayMs };
    this.#begin(definition, (session, signal) => this.#run(session, request, signal));
    return this.view;
  }

  pause(): PlayView {
    this.#liveRunner().pause();
    return this.view;
  }

  resume(): PlayView {
    this.#liveRunner().resume();
    return this.view;
  }

  /** Resolves when the run is paused again or has ended. */
  async step(unit: StepUnit): Promise<PlayView> {
    await this.#liveRunner().stepBy(unit);
    this.#tell();
    return this.view;
  }

  stop(now: boolean): PlayView {
    this.#preparing?.abort(new StudioError('aborted', 'stopped'));
    const runner = this.#runner;
    if (!runner || runner.state === 'finished') return this.view;
    this.#setStatus('stopping');
    if (now) {
      // What was being asked may answer later or never: its processes are not used again.
      if (this.#session) this.#session.isBroken = true;
      runner.abort(new StudioError('aborted', 'stopped'));
    } else void runner.stop();
    return this.view;
  }

  restore(step: number): PlayView {
    this.#liveRunner().restore(step);
    this.#watch.settle();
    this.#tell();
    return this.view;
  }

  setDelay(stepDelayMs: number): PlayView {
    this.#delay.stepDelayMs = stepDelayMs;
    return this.view;
  }

  async release(): Promise<PlayView> {
    this.#refuseWhileBusy();
    await this.#closeSession();
    return this.view;
  }

  async changeField(nodeset: string, field: string, value: unknown, signal: AbortSignal): Promise<PlayView> {
    await this.#openPanels().changeField(nodeset, field, value, { signal });
    this.#tell();
    return this.view;
  }

  async act(nodeset: string, name: string, signal: AbortSignal): Promise<PlayView> {
    const action = await this.#openPanels().act(nodeset, name, { signal });
    if (action.sideEffect === 'signal') this.#runner?.emitSignal(action.signal ?? 'episode_reset');
    this.#tell();
    return this.view;
  }

  async options(nodeset: string, field: string, signal: AbortSignal): Promise<readonly unknown[]> {
    if (!this.#session) throw new StudioError('conflict', 'Load the environment first.');
    return await this.#session.options(nodeset, field, { signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#guardSubscription[Symbol.dispose]();
    this.#progressSubscription?.[Symbol.dispose]();
    this.stop(true);
    await this.#work;
    await this.#closeSession();
    this.#timer?.[Symbol.dispose]();
  }

  /** The last Play is over and done with. */
  #forget({ name, ref }: PlayStart['graph'], executionId: string | null, seed: number): void {
    this.#about = { executionId, graphName: name, graphRef: ref, seed };
    this.#result = null;
    this.#runner = null;
    this.#watch = new PlayWatch(() => this.#tellLater());
  }

  /** Opens the session if there is no fitting one, then goes on with `next`. */
  #begin(
    definition: GraphDefinition,
    next: (session: PlaySession, signal: AbortSignal) => Promise<void>,
  ): void {
    const controller = new AbortController();
    this.#preparing = controller;
    this.#error = null;
    this.#setStatus('preparing');
    const work = async (): Promise<void> => {
      try {
        const session = await this.#sessionFor(requiredNodesets(definition), controller.signal);
        await next(session, controller.signal);
      } catch (thrown) {
        const error = toStudioError(thrown);
        this.#error = error.code === 'aborted' ? null : errorInfoOf(error);
        this.#end('idle');
      }
    };
    this.#work = work();
  }

  async #sessionFor(nodesets: readonly string[], signal: AbortSignal): Promise<PlaySession> {
    const { registry } = this.#ports;
    await registry.lookAtChanges(nodesets, { signal });
    const current = this.#session;
    if (current && !current.isBroken && current.key === PlaySession.keyOf(registry, nodesets)) return current;
    await this.#closeSession();
    const session = await PlaySession.open(registry, nodesets, {
      signal,
      onStage: ({ instance, stage, message }) => {
        this.#stage = [instance, stage, message].filter(Boolean).join(' · ');
        this.#tellLater();
      },
    });
    if (signal.aborted || this.#isClosed) {
      await session[Symbol.asyncDispose]();
      throw new StudioError('aborted', 'stopped');
    }
    this.#session = session;
    return session;
  }

  async #run(session: PlaySession, request: PlayStart, signal: AbortSignal): Promise<void> {
    const { clock, hooks = null } = this.#ports;
    await session.reset({ signal });
    if (signal.aborted) throw new StudioError('aborted', 'stopped');
    const executionId = this.#about.executionId ?? '';
    const stepBudget = request.stepBudget ?? session.stepBudget;
    const delay = this.#delay;
    const compiled = compileGraph(request.definition, session.replicas.catalog);
    this.#watch.follow(compiled);
    const runner = new LoopRunner(compiled, {
      executionId,
      seed: request.seed,
      ...(stepBudget === null ? {} : { stepBudget }),
      clock,
      hooks,
      /** Read at every boundary, so that it can be changed while the run goes on. */
      get stepDelayMs() {
        return delay.stepDelayMs;
      },
      listener: {
        ...this.#watch.listener,
        onFiring: (firing) => this.#observe(session, firing),
        onStep: () => this.#tellLater(),
        onState: (state) => this.#follow(state),
      },
    });
    this.#runner = runner;
    this.#preparing = null;
    this.#stage = null;
    const startedMs = clock.monotonic();
    if (request.first !== 'run') void runner.stepBy(request.first);
    const result = await runner.run();
    session.replicas.endExecution(executionId);
    if (!session.isBroken) await session.refresh({ timeoutMs: 5000 }).catch(() => undefined); // The panel keeps what it showed.
    this.#finish(result, clock.monotonic() - startedMs);
    if (session.isBroken) await this.#closeSession();
  }

  #observe(session: PlaySession, firing: FiringEnd): void {
    if (firing.error && breaking.has(firing.error.code)) session.isBroken = true;
    this.#watch.listener.onFiring(firing);
  }

  #follow(state: RunnerState): void {
    if (state === 'paused') this.#setStatus('paused');
    if (state === 'running' && this.#status !== 'stopping') this.#setStatus('running');
  }

  #finish(result: RunResult, durationMs: number): void {
    this.#result = playResultOf(result, durationMs);
    this.#watch.settle();
    this.#end('finished');
  }

  #end(status: PlayStatus): void {
    this.#lease?.[Symbol.dispose]();
    this.#lease = null;
    this.#preparing = null;
    this.#stage = null;
    this.#setStatus(status);
  }

  async #closeSession(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    if (!session) return;
    await session[Symbol.asyncDispose]();
    this.#tell();
  }

  #liveRunner(): LoopRunner {
    const runner = this.#runner;
    if (!runner || runner.state === 'finished')
      throw new StudioError('conflict', 'Nothing plays. Press Play.');
    return runner;
  }

  #openPanels(): PlaySession {
    if (!this.#session) throw new StudioError('conflict', 'Load the environment first.');
    if (this.#status === 'running' || this.#status === 'stopping' || this.#status === 'preparing')
      throw new StudioError('conflict', 'Pause or stop Play before changing the environment.');
    return this.#session;
  }

  #refuseWhileBusy(): void {
    if (this.#isClosed) throw new StudioError('aborted', 'The engine is closing.');
    if (this.#status === 'idle' || this.#status === 'finished') return;
    throw new StudioError('conflict', `${this.#about.graphName || 'A graph'} is playing. Stop it first.`);
  }

  #setStatus(status: PlayStatus): void {
    this.#status = status;
    this.#tell();
  }

  #tellLater(): void {
    this.#timer ??= this.#ports.clock.after(tellEveryMs, () => this.#tell());
  }

  #tell(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    if (this.#isClosed) return;
    const { events } = this.#ports;
    const { nodes, viewers } = this.#watch.takeChanges();
    const { executionId } = this.#about;
    if (executionId !== null && nodes.length + viewers.length > 0)
      events.publish('play.firing', { executionId, nodes, viewers });
    events.publish('play.changed', this.view);
  }
}

function refuseInvalid(definition: GraphDefinition, registry: PlayRegistry): void {
  const diagnostics = validateGraph(definition, registry.manifests);
  if (!hasErrors(diagnostics)) return;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const first = errors[0];
  throw new StudioError(
    'graph_invalid',
    `${first?.nodePath ? `${first.nodePath}: ` : ''}${first?.message ?? ''} ${first?.fix ?? ''}${errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''}`,
    { details: { diagnostics: errors.slice(0, 20) } },
  );
}
