// One attempt at one episode: choose it, run the graph with a fresh LoopRunner, harvest the verdict. Whatever goes
// wrong is in the row; wall-clock limits are the pool's, which aborts the signal and drops what comes after.
import type { Clock } from '../base/clock.ts';
import { StudioError, toStudioError } from '../base/errors.ts';
import { deriveSeed } from '../base/random.ts';
import type { EvalConfig } from '../contract/eval-config.ts';
import type { GraphDefinition } from '../contract/graph.ts';
import type { MetricDefinition, PanelState } from '../contract/nodeset.ts';
import type { EpisodeAttempt } from '../contract/run.ts';
import { compileGraph, type CompiledGraph } from '../graph/compile.ts';
import type { HookRunner } from '../graph/hooks.ts';
import type { RunListener as GraphListener } from '../graph/listener.ts';
import { LoopRunner, type RunResult } from '../graph/loop-runner.ts';
import type { ReplicaSet } from '../nodeset/ports.ts';
import { attemptRow, type AttemptOutcome } from './attempt-row.ts';
import { chooseEpisode, type ChosenEpisode } from './choose-episode.ts';
import type { Environment } from './environment.ts';
import { episodeIdentity } from './episode-source.ts';
import { failedOutcome, verdictOf } from './episode-verdict.ts';
import type { EpisodeRequest, EpisodeRunner } from './ports.ts';

export interface EpisodeRunnerOptions {
  readonly runId: string;
  readonly graph: GraphDefinition;
  readonly environment: Environment | null;
  readonly config: Pick<EvalConfig, 'selectors' | 'stepBudget' | 'strictErrors'>;
  readonly metrics: readonly MetricDefinition[];
  /** Stands in rows of episodes that failed before their budget was known. */
  readonly defaultStepBudget: number;
  readonly clock: Clock;
  readonly hooks?: HookRunner | null;
  readonly recording?: RecordingPort | undefined;
}

/** Keeps what an episode did; decides by its outcome whether it stays. */
export interface RecordingPort {
  begin(request: EpisodeRequest, executionId: string): EpisodeRecording;
}

export interface EpisodeRecording {
  readonly listener: GraphListener;
  /** Also called for an aborted attempt (then with null). The first call decides. Never rejects. */
  finish(outcome: AttemptOutcome | null): Promise<EpisodeAttempt['recording']>;
}

/** What is kept for one replica set from episode to episode. */
interface ReplicaMemory {
  readonly compiled: CompiledGraph;
  panelState: PanelState | undefined;
}

const unchosen: ChosenEpisode = { episodeId: null, sceneId: null, instruction: null, stepBudget: null };

export function createEpisodeRunner(options: EpisodeRunnerOptions): EpisodeRunner {
  const memories = new WeakMap<ReplicaSet, ReplicaMemory>();
  return {
    run(request) {
      const known = memories.get(request.replicas);
      const remember = (): ReplicaMemory => {
        const compiled = compileGraph(options.graph, request.replicas.catalog);
        const memory: ReplicaMemory = { compiled, panelState: undefined };
        memories.set(request.replicas, memory);
        return memory;
      };
      return new Attempt(options, request, () => known ?? remember()).run();
    },
  };
}

/** Begins with the run's id, and is another one for every try. */
export function executionIdOf(
  runId: string,
  { key, attempt, epoch }: Pick<EpisodeAttempt, 'key' | 'attempt' | 'epoch'>,
): string {
  return `${runId}/${key}/${attempt}.${epoch}`;
}

class Attempt {
  readonly #options: EpisodeRunnerOptions;
  readonly #request: EpisodeRequest;
  readonly #memory: () => ReplicaMemory;
  readonly #executionId: string;
  readonly #startedAtMs: number;
  readonly #startedMs: number;
  #chosen = unchosen;
  #steps = 0;
  #stepBudget: number;

  constructor(options: EpisodeRunnerOptions, request: EpisodeRequest, memory: () => ReplicaMemory) {
    this.#options = options;
    this.#request = request;
    this.#memory = memory;
    const { attempt, epoch } = request;
    this.#executionId = executionIdOf(options.runId, { key: request.episode.key, attempt, epoch });
    this.#startedAtMs = options.clock.now();
    this.#startedMs = options.clock.monotonic();
    this.#stepBudget = options.defaultStepBudget;
  }

  async run(): Promise<EpisodeAttempt> {
    const { recording } = this.#options;
    const recorder = recording?.begin(this.#request, this.#executionId);
    if (recorder) this.#request.onRecording?.(() => recorder.finish(null));
    const outcome = await this.#outcome(recorder?.listener);
    this.#request.replicas.endExecution(this.#executionId);
    const kept = await recorder?.finish(this.#request.signal.aborted ? null : outcome);
    return { ...this.#row(outcome), recording: kept ?? 'none' };
  }

  async #outcome(listener: GraphListener | undefined): Promise<AttemptOutcome> {
    let phase = 'reset';
    try {
      const memory = this.#memory();
      await this.#choose(memory);
      phase = 'step';
      const result = await this.#runGraph(memory.compiled, listener);
      this.#steps = result.steps;
      return verdictOf(result, this.#options.metrics);
    } catch (error) {
      return failedOutcome(toStudioError(error), { phase, step: this.#steps });
    }
  }

  async #choose(memory: ReplicaMemory): Promise<void> {
    const { environment, config } = this.#options;
    const { episode, replicas, signal, onPhase, onChosen } = this.#request;
    onPhase('reset', 0, null);
    if (!environment) return;
    const { chosen, state } = await chooseEpisode({
      panel: replicas.panel(environment.nodeset),
      info: environment.info,
      selectors: config.selectors,
      episode,
      environmentSeed: deriveSeed(
        'environment',
        episodeIdentity(environment.space, episode, episode.ordinal),
      ),
      known: memory.panelState,
      limits: { signal },
    });
    memory.panelState = state;
    this.#chosen = chosen;
    onChosen?.(chosen);
  }

  async #runGraph(compiled: CompiledGraph, recorder: GraphListener | undefined): Promise<RunResult> {
    const { clock, config, hooks = null } = this.#options;
    const { episode, signal, onPhase } = this.#request;
    if (signal.aborted) throw new StudioError('aborted', 'stopped', { cause: signal.reason });
    const stepBudget = config.stepBudget ?? this.#chosen.stepBudget;
    const runner = new LoopRunner(compiled, {
      executionId: this.#executionId,
      seed: episode.seed,
      ...(stepBudget === null ? {} : { stepBudget }),
      strictErrors: config.strictErrors,
      clock,
      signal,
      hooks,
      checkpointLimit: 0,
      listener: {
        ...recorder,
        onStep: (event) => {
          recorder?.onStep?.(event);
          if (!event.isRoot) return;
          this.#steps = event.step;
          onPhase('step', event.step, event.budget);
        },
      },
    });
    this.#stepBudget = runner.stepBudget;
    onPhase('step', 0, runner.stepBudget);
    const result = await runner.run();
    onPhase('verdict', result.steps, runner.stepBudget);
    return result;
  }

  #row(outcome: AttemptOutcome): EpisodeAttempt {
    const { episode, worker, replicas } = this.#request;
    const { episodeId, sceneId, instruction } = this.#chosen;
    return attemptRow(
      {
        episode,
        token: this.#request,
        worker,
        replica: replicas.instances[0] ?? null,
        episodeId,
        sceneId,
        instruction,
        startedAtMs: this.#startedAtMs,
        durationMs: this.#options.clock.monotonic() - this.#startedMs,
        steps: this.#steps,
        stepBudget: this.#stepBudget,
      },
      outcome,
    );
  }
}
