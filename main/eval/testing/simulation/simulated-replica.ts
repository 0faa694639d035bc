// One replica of the simulated environment, and its faults: what it is asked happens later, never, twice, or kills it.
// It remembers what the pool may not do: ask an ended replica anew, or ask while an answer is outstanding.
import { abortedError } from '../../../base/abort.ts';
import { StudioError } from '../../../base/errors.ts';
import type { PanelInfo, PanelState } from '../../../contract/nodeset.ts';
import type { NodeCatalog, NodeHandler, PortValues } from '../../../graph/ports.ts';
import type { CallLimits, EnvPanelClient, ReplicaDeath, ReplicaSet } from '../../../nodeset/ports.ts';
import type { Faults } from './faults.ts';
import type { Life, Scheduler } from './scheduler.ts';
import { contentOf, lengthOf, mix, observationOf, actionOf, type ToyWorld } from './toy-world.ts';

export interface ReplicaWorld {
  readonly scheduler: Scheduler;
  readonly life: Life;
  readonly faults: Faults;
  readonly toy: ToyWorld;
  readonly episodeCount: number;
  readonly broken: (what: string) => void;
}

interface Answer {
  readonly reject: (error: StudioError) => void;
}

const callDeadlineMs = 20_000;
const oversizeText = 'y'.repeat(60_000);

export class SimulatedReplica implements ReplicaSet {
  readonly slot: number;
  readonly instances: readonly string[];
  readonly pids: readonly number[];
  readonly death: Promise<ReplicaDeath>;
  readonly catalog: NodeCatalog;
  readonly #world: ReplicaWorld;
  readonly #resolveDeath: (death: ReplicaDeath) => void;
  readonly #unanswered = new Set<Answer>();
  #index = 0;
  #step = 0;
  #history = 0;
  /** Killed, closed or dead: nothing may be asked of it any more. */
  isEnded = false;
  isGone = false;
  #isDoomed = false;
  #broken: StudioError | undefined;

  constructor(
    slot: number,
    pid: number,
    world: ReplicaWorld,
    catalogOf: (replica: SimulatedReplica) => NodeCatalog,
  ) {
    this.slot = slot;
    this.instances = [`sim#${slot}`];
    this.pids = [pid];
    this.#world = world;
    const { promise, resolve } = Promise.withResolvers<ReplicaDeath>();
    this.death = promise;
    this.#resolveDeath = resolve;
    this.catalog = catalogOf(this);
  }

  panel(): EnvPanelClient {
    const state = (): PanelState => {
      const isOversize = contentOf(this.#world.toy, this.#index) === 'oversize';
      return {
        available: true,
        values: { episode_index: this.#index },
        currentEpisode: {
          episodeId: `e${this.#index}`,
          sceneId: `scene${this.#index % 3}`,
          instruction: isOversize ? oversizeText : 'go',
        },
        episodeCount: this.#world.episodeCount,
      };
    };
    return {
      info: (limits) => this.#call('info', () => panelInfo, limits),
      load: (limits) => this.#call('load', state, limits),
      changeField: (_field, value, limits) =>
        this.#call('choose', () => ((this.#index = Number(value)), state()), limits),
      act: (_action, _values, limits) =>
        this.#call('reset', () => ((this.#step = 0), (this.#history = 0), state()), limits),
      options: () => Promise.resolve([]),
    };
  }

  readonly observe: NodeHandler = {
    forward: () => ({ observation: observationOf(this.#index, this.#step, this.#history) }),
  };

  readonly step: NodeHandler = {
    forward: ({ action }, { signal }) => this.#call('step', () => this.#takeStep(Number(action)), { signal }),
  };

  readonly evaluate: NodeHandler = {
    forward: (_inputs, { signal }) =>
      this.#call('evaluate', () => ({ metrics: this.#metrics() }), { signal }),
  };

  endExecution(): void {}

  async kill(): Promise<void> {
    this.isEnded = true;
    const { scheduler, life, faults } = this.#world;
    const slowMs = faults.strikes('kill_slow', 20) ? 8_000 : 0;
    await scheduler.call(life, 1 + faults.latencyMs() + slowMs, `kill ${this.slot}`, () =>
      this.#gone('SIGKILL', true),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isEnded = true;
    const { scheduler, life, faults } = this.#world;
    if (faults.strikes('close_hangs', 60)) return new Promise(() => undefined);
    await scheduler.call(life, 1 + faults.latencyMs(), `close ${this.slot}`, () => this.#gone(null, true));
  }

  broken(): StudioError | undefined {
    return this.#broken;
  }

  rssBytes(): number {
    return 100 * 2 ** 20;
  }

  /** Ends as if by a signal from outside. Calls learn of it before or after the pool does. */
  die(signal: string): void {
    if (this.isGone || this.#isDoomed) return;
    this.#isDoomed = true;
    const { scheduler, life, faults } = this.#world;
    const [a, b] = [faults.latencyMs(), faults.latencyMs()];
    const isFirst = scheduler.random.integer(2) === 0;
    const fail = (): void => this.#failCalls();
    scheduler.at(life, a, `sim#${this.slot} dies`, () => (isFirst ? this.#gone(signal, false) : fail()));
    scheduler.at(life, a + b, `sim#${this.slot} is dead`, () =>
      isFirst ? fail() : this.#gone(signal, false),
    );
    if (faults.strikes('duplicate', 500))
      scheduler.at(life, a + b + 1, `sim#${this.slot} is dead again`, () => this.#gone(signal, false));
  }

  #gone(signal: string | null, expected: boolean): void {
    this.isEnded = true;
    this.isGone = true;
    this.#failCalls();
    const [instance = ''] = this.instances;
    this.#resolveDeath({
      instance,
      exitCode: signal ? null : 0,
      signal,
      stderrTail: ['last words'],
      expected,
    });
  }

  #failCalls(): void {
    for (const { reject } of this.#unanswered)
      reject(new StudioError('process_died', `sim#${this.slot} is gone`));
    this.#unanswered.clear();
  }

  #takeStep(action: number): PortValues {
    const { toy, broken } = this.#world;
    const observation = observationOf(this.#index, this.#step, this.#history);
    if (action !== actionOf(toy, observation)) broken(`episode ${this.#index} got the action of another`);
    if (contentOf(toy, this.#index) === 'typed_error') throw new StudioError('node_failed', 'a node threw');
    this.#history = mix(this.#history, action);
    this.#step++;
    const done = this.#step >= lengthOf(toy, this.#index);
    return { observation: observationOf(this.#index, this.#step, this.#history), done };
  }

  #metrics(): Readonly<Record<string, number>> {
    const content = contentOf(this.#world.toy, this.#index);
    if (content === 'no_verdict') return {};
    return { success: this.#history % 2, score: content === 'nan' ? Number.NaN : this.#history % 1000 };
  }

  #call<T>(what: string, effect: () => T, limits: CallLimits = {}): Promise<T> {
    const { scheduler, life, faults, broken } = this.#world;
    const { signal } = limits;
    if (what === 'choose' && this.#unanswered.size > 0)
      broken(`sim#${this.slot}: ${what} while an answer is outstanding`);
    if (this.isEnded && !this.#isDoomed) broken(`sim#${this.slot}: ${what} after its end`);
    if (this.isGone) return Promise.reject(new StudioError('process_died', `sim#${this.slot} is gone`));
    return new Promise((resolve, reject) => {
      const answer: Answer = { reject };
      this.#unanswered.add(answer);
      const onAbort = (): void => reject(abortedError(signal as AbortSignal));
      if (signal?.aborted) return onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      const settle = (finish: () => void): void => {
        signal?.removeEventListener('abort', onAbort);
        this.#unanswered.delete(answer);
        finish();
      };
      if (faults.strikes('hang', 8) || faults.strikes('drop', 8)) {
        // The call's own deadline, as the nodeset layer has it. What is asked within an episode is judged long before.
        const late = (): void => {
          this.#broken ??= new StudioError('timeout', `${what} took longer than 20 s`);
          reject(this.#broken);
        };
        scheduler.at(life, callDeadlineMs, 'call deadline', () => life.isMuted || late());
        return;
      }
      const delayMs = 2 + faults.latencyMs() + (faults.strikes('slow', 20) ? 700 : 0);
      scheduler.at(life, delayMs, `sim#${this.slot} ${what}`, () => {
        if (this.isGone || !this.#unanswered.has(answer)) return;
        if (faults.strikes('die_before', 8)) return this.die('SIGSEGV');
        if (faults.strikes('fatal', 6))
          return settle(() => reject(new StudioError('fatal', 'CUDA error: out of memory')));
        let value: T;
        try {
          value = effect();
        } catch (error) {
          return settle(() => reject(error));
        }
        if (faults.strikes('die_after', 8)) {
          this.die('SIGKILL');
          if (scheduler.random.integer(2) === 0) return;
        }
        if (!life.isMuted) settle(() => resolve(value));
      });
    });
  }
}

const panelInfo: PanelInfo = {
  fields: [{ name: 'episode_index', kind: 'number', label: '' }],
  actions: [{ name: 'play', label: '', sideEffect: 'run_start' }],
};
