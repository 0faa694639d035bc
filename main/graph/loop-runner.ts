// One run of a compiled graph and the controls over it: pause, step, resume, stop. A run never rejects; whatever
// happened is in its result. After an abort nothing of the graph is called any more.
import { sleep } from '../base/abort.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { messageOf, StudioError, toStudioError } from '../base/errors.ts';
import type { CompiledGraph } from './compile.ts';
import { execute, graphHook } from './executor.ts';
import { graphOutputs, harvestMetrics } from './harvest.ts';
import type { HookRunner } from './hooks.ts';
import type { RunListener, RunnerState } from './listener.ts';
import { restoreCheckpoint } from './restore.ts';
import { RunState, type NodeFailure } from './run-state.ts';
import type { Gate, Steps } from './steps.ts';

export interface LoopRunnerOptions {
  readonly executionId: string;
  /** 32-bit policy seed of this execution. Default 0. */
  readonly seed?: number;
  /** From the request, else the env panel: overrides the graph's budget. At least 1. */
  readonly stepBudget?: number;
  /** The first node error ends the run. */
  readonly strictErrors?: boolean;
  readonly clock?: Clock;
  /** Aborting ends the run at once, without its verdict stage. */
  readonly signal?: AbortSignal;
  /** Who runs the graph's hooks. Default null: they do not run. */
  readonly hooks?: HookRunner | null;
  readonly listener?: RunListener;
  /** Pause after every iteration of the root loop. Default 0. */
  readonly stepDelayMs?: number;
  /** Boundaries whose containers are kept for `restore`; 0 keeps none. Default 100. */
  readonly checkpointLimit?: number;
}

export interface RunResult {
  readonly status: 'completed' | 'stopped' | 'error';
  /** Iterations of the root loop. */
  readonly steps: number;
  /** The cap that ended the root loop, if one did: a result, not an error. */
  readonly limit: 'step_budget' | null;
  /** Metrics, as evaluation takes them. */
  readonly harvest: Readonly<Record<string, number>>;
  /** What the graphOuts hold, by port name. */
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly nodeErrors: readonly NodeFailure[];
  /** Iterations per loop, by its iterIn's id. */
  readonly scopes: Readonly<Record<string, number>>;
  readonly finalContainers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly error?: StudioError;
}

export type StepUnit = 'firing' | 'iteration';

type Mode =
  | { readonly kind: 'free' }
  | { readonly kind: 'paused'; readonly resume: () => void; readonly resumed: Promise<void> }
  | { readonly kind: 'stepping'; readonly unit: StepUnit; left: number; readonly fromStep: number };

/** Synchronous running after which other work gets a turn of the event loop. */
const sliceMs = 5;

export class LoopRunner {
  readonly #run: RunState;
  readonly #clock: Clock;
  readonly #options: LoopRunnerOptions;
  readonly #gate: Gate;
  readonly #steps: Steps<void>;
  #mode: Mode = { kind: 'free' };
  #state: RunnerState = 'idle';
  #stopRequested = false;
  #crash: unknown;
  #advancing = false;
  /** Increases with every wait and at an abort: an answer to an older wait is dropped. */
  #waitNumber = 0;
  #sliceStartMs = 0;
  #firingsUntilLook = 8;
  #delayedStep = 0;
  readonly #finished = Promise.withResolvers<RunResult>();
  #pauseWaiters: (() => void)[] = [];

  /** Throws `invalid_input` for a budget below 1. */
  constructor(graph: CompiledGraph, options: LoopRunnerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#run = new RunState(graph, {
      executionId: options.executionId,
      clock: this.#clock,
      seed: options.seed ?? 0,
      stepBudget: options.stepBudget,
      strictErrors: options.strictErrors ?? false,
      hooks: options.hooks ?? null,
      listener: options.listener,
      checkpointLimit: options.checkpointLimit ?? 100,
    });
    const wants = (): boolean => this.#wantsAttention();
    this.#gate = {
      get wantsAttention() {
        return wants();
      },
      pass: (run) => this.#pass(run),
    };
    this.#steps = execute(this.#run, this.#gate);
  }

  get state(): RunnerState {
    return this.#state;
  }

  /** Iterations of the root loop so far. */
  get step(): number {
    return this.#run.step;
  }

  get stepBudget(): number {
    return this.#run.budgets[this.#run.graph.rootScope] ?? this.#run.graphBudget;
  }

  /** Starts, and resolves when the run has ended. Called again it gives the same promise. */
  run(): Promise<RunResult> {
    if (this.#state === 'idle') this.#start();
    return this.#finished.promise;
  }

  /** Before the next firing the run waits. */
  pause(): void {
    if (this.#state === 'finished' || this.#mode.kind === 'paused') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#mode = { kind: 'paused', resume: resolve, resumed: promise };
  }

  resume(): void {
    this.#leavePause({ kind: 'free' });
  }

  /**
   * One firing, or the rest of this iteration of the root loop, then paused again. Starts an idle run. Resolves when
   * the run is paused or has ended.
   */
  stepBy(unit: StepUnit): Promise<void> {
    if (this.#state === 'finished') return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pauseWaiters.push(resolve);
    this.#leavePause({ kind: 'stepping', unit, left: 1, fromStep: this.#run.step });
    if (this.#state === 'idle') this.#start();
    return promise;
  }

  /** Ends the run before the next firing; the verdict stage still runs. Resolves with the result. */
  stop(): Promise<RunResult> {
    this.#stopRequested = true;
    this.#leavePause({ kind: 'free' });
    return this.run();
  }

  /** Ends the run now: what a node is doing is not waited for, and no verdict is taken. */
  abort(reason?: unknown): void {
    if (this.#state === 'finished' || this.#run.abort.signal.aborted) return;
    this.#run.ending = 'stopped';
    this.#run.abort.abort(reason);
    this.#stopRequested = true;
    if (this.#advancing) return;
    this.#waitNumber++;
    if (this.#state === 'idle') this.#finish();
    else this.#advance(new StudioError('aborted', 'stopped', { cause: reason }));
  }

  /** Steps that `restore` can go back to. */
  checkpoints(): readonly number[] {
    return this.#run.checkpoints.map((checkpoint) => checkpoint.step);
  }

  /**
   * Goes back to the boundary after `step` iterations: containers, counter and the next iteration's inputs. Node
   * state is not turned back. Throws `conflict` unless paused and `not_found` for a step that was not kept.
   */
  restore(step: number): void {
    if (this.#state !== 'paused')
      throw new StudioError('conflict', 'pause the run before going back to an earlier step');
    restoreCheckpoint(this.#run, step);
    this.#delayedStep = step;
  }

  /** A signal from outside the graph, such as an env panel's `episode_reset`. */
  emitSignal(name: string): void {
    this.#run.signal(name);
  }

  #start(): void {
    const { signal } = this.#options;
    if (signal?.aborted) return this.abort(signal.reason);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#setState('running');
    this.#beginSlice();
    this.#advance();
  }

  readonly #onAbort = (): void => this.abort(this.#options.signal?.reason);

  #leavePause(next: Mode): void {
    const before = this.#mode;
    this.#mode = next;
    if (before.kind === 'paused') before.resume();
  }

  #wantsAttention(): boolean {
    if (this.#mode.kind !== 'free' || this.#stopRequested) return true;
    if (this.#wantsDelay()) return true;
    if (--this.#firingsUntilLook > 0) return false;
    this.#firingsUntilLook = 8;
    return this.#hasUsedItsSlice();
  }

  #wantsDelay(): boolean {
    const { step, phase } = this.#run;
    return (this.#options.stepDelayMs ?? 0) > 0 && this.#delayedStep < step && phase === 'loop';
  }

  #beginSlice(): void {
    this.#sliceStartMs = this.#clock.monotonic();
  }

  #hasUsedItsSlice(): boolean {
    return this.#clock.monotonic() - this.#sliceStartMs > sliceMs;
  }

  #pass(run: RunState): Promise<void> | undefined {
    if (this.#stopRequested) {
      run.ending ??= 'stopped';
      return undefined;
    }
    if (this.#wantsDelay()) {
      this.#delayedStep = run.step;
      return sleep(this.#clock, this.#options.stepDelayMs ?? 0, run.abort.signal).then(() =>
        this.#beginSlice(),
      );
    }
    const mode = this.#mode;
    switch (mode.kind) {
      case 'free':
        return this.#hasUsedItsSlice() ? this.#turn() : undefined;
      case 'stepping':
        if (mode.unit === 'iteration' ? run.step === mode.fromStep || run.phase !== 'loop' : mode.left > 0) {
          mode.left--;
          return undefined;
        }
        this.pause();
        return this.#wait();
      case 'paused':
        return this.#wait();
    }
  }

  #wait(): Promise<void> {
    if (this.#mode.kind !== 'paused') return Promise.resolve();
    this.#setState('paused');
    this.#wakeStepper();
    return this.#mode.resumed.then(() => {
      if (this.#state === 'paused') this.#setState('running');
      this.#beginSlice();
    });
  }

  /** A turn for timers, sockets and whoever wants to stop the run; no time passes by the clock. */
  #turn(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#beginSlice();
        resolve();
      });
    });
  }

  #wakeStepper(): void {
    const waiters = this.#pauseWaiters;
    this.#pauseWaiters = [];
    for (const wake of waiters) wake();
  }

  #setState(state: RunnerState): void {
    this.#state = state;
    this.#options.listener?.onState?.(state);
  }

  /** Runs until the next wait. */
  #advance(thrown?: unknown): void {
    this.#advancing = true;
    let wait: Promise<unknown> | undefined;
    try {
      const next = thrown === undefined ? this.#steps.next() : this.#steps.throw(thrown);
      if (!next.done) wait = next.value;
    } catch (crash) {
      if (!this.#run.abort.signal.aborted) this.#crash = crash;
    }
    this.#advancing = false;
    if (!wait || this.#run.abort.signal.aborted) return this.#finish();
    const number = ++this.#waitNumber;
    wait.then(
      () => {
        if (number === this.#waitNumber) this.#advance();
      },
      (reason: unknown) => {
        if (number === this.#waitNumber)
          this.#advance(reason ?? new StudioError('internal', 'rejected without a reason'));
      },
    );
  }

  #finish(): void {
    if (this.#state === 'finished') return;
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    const run = this.#run;
    run.signal('run_end');
    const error = this.#error();
    this.#setState('finished');
    this.#mode = { kind: 'free' };
    void this.#endHooks(error).then(() => {
      for (const node of run.graph.nodes) endQuietly(() => node.handler.end?.(this.#options.executionId));
      for (const handler of run.childHandlers.values())
        endQuietly(() => handler.end?.(this.#options.executionId));
      this.#finished.resolve(this.#result(error));
      this.#wakeStepper();
    });
  }

  async #endHooks(error: StudioError | undefined): Promise<void> {
    const run = this.#run;
    if (!run.options.hooks || run.abort.signal.aborted) return;
    const steps = error
      ? graphHook(run, 'GraphError', { step: run.step, error: error.message })
      : graphHook(run, 'GraphComplete', { step: run.step, terminated: run.rootEndedBy !== undefined });
    for (const wait of steps) await wait.catch(() => undefined);
  }

  #error(): StudioError | undefined {
    const run = this.#run;
    if (this.#crash !== undefined) return toStudioError(this.#crash);
    const first = run.failures[0];
    if (run.ending === 'stopped') return undefined;
    if (run.ending === 'firing_cap') {
      return new StudioError(
        'firing_cap',
        `the graph fired ${run.firings} times, more than its budgets allow; look for a cycle outside a loop, or lower the step budget`,
        { scope: { step: run.step } },
      );
    }
    if (!first) return undefined;
    const heads = run.failures
      .slice(0, 3)
      .map((failure) => `${failure.path} at step ${failure.step}: ${messageOf(failure.error)}`);
    const more = run.failures.length > 3 ? `; and ${run.failures.length - 3} more` : '';
    return new StudioError(
      run.ending === 'strict' ? 'strict_errors' : 'node_failed',
      heads.join('; ') + more,
      {
        cause: first.error,
        scope: { ...first.error.scope, nodePath: first.path, step: first.step },
        details: { ...first.error.details, firstCode: first.error.code },
      },
    );
  }

  #result(error: StudioError | undefined): RunResult {
    const run = this.#run;
    const outputs = graphOutputs(run);
    return {
      status: error ? 'error' : run.ending === 'stopped' ? 'stopped' : 'completed',
      steps: run.step,
      limit: run.rootEndedBy === 'budget' ? 'step_budget' : null,
      harvest: harvestMetrics(outputs),
      outputs,
      nodeErrors: run.failures,
      scopes: Object.fromEntries(
        run.graph.scopes.map((scope, index) => [scope.id, run.scopeSteps[index] ?? 0]),
      ),
      finalContainers: run.containers.snapshot().values,
      ...(error && { error }),
    };
  }
}

/** Ending is cleaning up: what fails there changes nothing about the run. */
function endQuietly(end: () => void): void {
  try {
    end();
  } catch (thrown) {
    process.emitWarning(`a node failed to end: ${messageOf(thrown)}`);
  }
}
