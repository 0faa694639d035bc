// The real run service, queue of runs and guard, with runs that end as soon as they look at a full disk: every order of
// starts, queueing, Play, leaving the queue, and of the storage calls in between.
import { StudioError } from '../../../base/errors.ts';
import { silentLogger } from '../../../base/logger.ts';
import { evalConfig } from '../../../contract/eval-config.ts';
import { graphDefinition } from '../../../contract/graph.ts';
import type { RunRecord, RunSummary } from '../../../contract/run.ts';
import { settings } from '../../../contract/settings.ts';
import type { RunHandle, RunStore } from '../../../store/ports.ts';
import { createExecutionGuard, type ExecutionGuard } from '../../execution-guard.ts';
import { RunService } from '../../run-service.ts';
import { createSimulatedRegistry } from '../simulation/simulated-registry.ts';
import { Faults } from '../simulation/faults.ts';
import { Life, Scheduler } from '../simulation/scheduler.ts';
import { createRandom } from '../../../base/random.ts';
import type { Choice, Model } from './explore.ts';
import { ChoiceClock, OpenCalls } from './ports.ts';

export interface GuardModelOptions {
  /** How many runs are asked for; the first refuses when busy, the others queue. */
  readonly runs: number;
  readonly canPlay: boolean;
  readonly canUnqueue: boolean;
  /** Writes of the queue that may fail, in all. */
  readonly failures: number;
}

const emptySummary = {
  counts: {
    planned: 0,
    completed: 0,
    error: 0,
    timeout: 0,
    died: 0,
    noVerdict: 0,
    notRun: 0,
    running: 0,
    retried: 0,
  },
  metrics: [],
  flags: [],
  meanSteps: null,
  meanDurationMs: null,
} as RunSummary;

const graph = graphDefinition.parse({ name: 'g', eval_graph: true, nodes: [], edges: [] });

export class GuardModel implements Model {
  readonly #options: GuardModelOptions;
  readonly #calls = new OpenCalls();
  readonly #clock = new ChoiceClock();
  readonly #guard: ExecutionGuard;
  readonly #service: RunService;
  readonly #wrong: string[] = [];
  readonly #records = new Map<string, RunRecord>();
  /** Runs in the order in which they began. */
  readonly #begun: string[] = [];
  readonly #ended = new Map<string, string>();
  #stored: readonly string[] = [];
  #asked = 0;
  #created = 0;
  #play: 'not yet' | 'plays' | 'over' = 'not yet';
  #hasUnqueued = false;
  #failuresLeft: number;
  #pendingUser = 0;

  constructor(options: GuardModelOptions) {
    this.#options = options;
    this.#failuresLeft = options.failures;
    this.#guard = createExecutionGuard(this.#clock);
    const faults = new Faults(createRandom(0));
    faults.isCalm = true;
    this.#service = new RunService({
      clock: this.#clock,
      logger: silentLogger,
      store: this.#store(),
      registry: createSimulatedRegistry({
        scheduler: new Scheduler({ seed: 0, reorders: false, timerLatenessMs: () => 0 }),
        life: new Life('unused'),
        faults,
        toy: { seed: 0, stepBudget: 1, policies: [], contents: [] },
        episodeCount: 0,
        broken: (what) => void this.#wrong.push(what),
      }),
      guard: this.#guard,
      graphs: {
        parse: () => graph,
        validate: () => [],
        load: () =>
          Promise.resolve({
            item: {
              name: 'g',
              ref: 'g',
              origin: 'file',
              description: '',
              nodesets: [],
              evalGraph: true,
              modifiedAt: '',
            },
            text: '',
            definition: graph,
          }),
      },
      events: {
        publish: (name, payload) => {
          const { runId, status } = payload as { readonly runId?: string; readonly status?: string };
          if (name === 'run.finished' && runId !== undefined) this.#onEnded(runId, status ?? '');
        },
      },
      queueStorage: {
        read: () => Promise.resolve([]),
        write: (runIds) =>
          this.#calls.call(
            'write queue',
            () => {
              this.#stored = runIds;
            },
            {
              isPossible: () => this.#failuresLeft > 0,
              used: () => void this.#failuresLeft--,
              error: new StudioError('disk_full', 'no space is left'),
            },
          ),
      },
      machine: { cores: 1, memoryBytes: 1, freeMemoryBytes: () => 1 },
      settings: () => settings.parse({}),
      newRunId: () => `r${++this.#created}`,
      sequence: () => 0,
      provenance: (known) =>
        Promise.resolve({
          ...known,
          appVersion: '',
          gitCommit: null,
          interpreters: [],
          models: [],
          host: '',
          os: '',
          cpu: '',
          cores: 1,
          memoryBytes: 1,
          gpu: null,
        }),
    });
  }

  choices(): Choice[] {
    const { runs, canPlay, canUnqueue } = this.#options;
    const queued = this.#service.queue();
    const last = queued.at(-1);
    return [
      ...this.#calls.choices(),
      ...this.#clock.choices(),
      ...(this.#asked < runs ? [{ label: 'ask for a run', take: () => this.#start() }] : []),
      ...(canPlay && this.#play === 'not yet' && this.#guard.holder === null
        ? [{ label: 'play', take: () => this.#startPlay() }]
        : []),
      ...(canUnqueue && !this.#hasUnqueued && last !== undefined
        ? [{ label: 'leave the queue', take: () => this.#unqueue(last) }]
        : []),
    ];
  }

  fingerprint(): string {
    return JSON.stringify([
      this.#calls.labels(),
      this.#clock.fingerprint(),
      this.#guard.holder?.id,
      this.#service.activeRunId,
      this.#service.queue(),
      this.#stored,
      this.#begun,
      [...this.#ended],
      [...this.#records.values()].map(({ runId, status }) => [runId, status]),
      this.#asked,
      this.#play,
      this.#hasUnqueued,
      this.#failuresLeft,
      this.#pendingUser,
    ]);
  }

  violations(isEnd: boolean): string[] {
    const wrong = [...this.#wrong];
    const active = this.#service.activeRunId;
    const holder = this.#guard.holder?.id ?? null;
    if (active !== null && holder !== active) wrong.push(`${active} goes on while ${holder} holds the guard`);
    if (active !== null && this.#service.queue().includes(active))
      wrong.push(`${active} goes on and is queued`);
    if (new Set(this.#begun).size !== this.#begun.length)
      wrong.push(`begun twice: ${this.#begun.join(', ')}`);
    if (!isEnd) return wrong;
    if (holder !== null) wrong.push(`${holder} holds the guard for ever`);
    if (this.#service.queue().length > 0)
      wrong.push(`${this.#service.queue().join(', ')} never leave the queue`);
    if (this.#stored.length > 0) wrong.push(`${this.#stored.join(', ')} stay in the stored queue`);
    if (this.#pendingUser > 0) wrong.push('a request is never answered');
    for (const runId of this.#records.keys()) {
      if (!this.#ended.has(runId)) wrong.push(`${runId} never ends`);
    }
    return wrong;
  }

  #onEnded(runId: string, status: string): void {
    if (this.#ended.has(runId)) this.#wrong.push(`${runId} ends twice`);
    this.#ended.set(runId, status);
  }

  #start(): void {
    const number = ++this.#asked;
    this.#pendingUser++;
    const over = (): void => void this.#pendingUser--;
    this.#service
      .start({ config: evalConfig.parse({ graph: 'g' }), whenBusy: number === 1 ? 'refuse' : 'queue' })
      .then(over, over);
  }

  #startPlay(): void {
    const lease = this.#guard.acquire({ kind: 'canvas', id: 'play', label: 'play' });
    this.#play = 'plays';
    const call = this.#calls.open('play ends', [
      {
        name: '',
        act: () => {
          call[Symbol.dispose]();
          this.#play = 'over';
          lease[Symbol.dispose]();
        },
      },
    ]);
  }

  #unqueue(runId: string): void {
    this.#hasUnqueued = true;
    this.#pendingUser++;
    const over = (): void => void this.#pendingUser--;
    this.#service.cancel(runId).then(over, over);
  }

  #store(): RunStore {
    const handleOf = (record: RunRecord): RunHandle => {
      let current = record;
      const handle = {
        get record() {
          return current;
        },
        folder: '',
        readOnly: false,
        journalReport: { lines: 0, tornBytes: 0, corruptLines: [], surplusFinals: 0 },
        missing: () => [],
        live: () => emptySummary,
        update: (patch: Partial<RunRecord>) =>
          this.#calls.call(`update ${record.runId}`, () => {
            current = { ...current, ...patch };
            this.#records.set(record.runId, current);
            return current;
          }),
        finish: (status: RunRecord['status']) =>
          this.#calls.call(`finish ${record.runId}`, () => {
            current = { ...current, status };
            this.#records.set(record.runId, current);
            return emptySummary;
          }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
      // What an ending run asks of its handle, and no more.
      return handle as unknown as RunHandle;
    };
    const store = {
      create: ({ record }: { readonly record: RunRecord }) =>
        this.#calls.call(`create ${record.runId}`, () => {
          this.#records.set(record.runId, record);
          return handleOf(record);
        }),
      open: (runId: string) =>
        this.#calls.call(`open ${runId}`, () => {
          const record = this.#records.get(runId);
          if (!record) throw new StudioError('not_found', runId);
          return handleOf(record);
        }),
      readGraphText: () => Promise.resolve(''),
      freeBytes: () => {
        const { activeRunId } = this.#service;
        if (activeRunId !== null) this.#begun.push(activeRunId);
        return this.#calls.call(`look at the disk for ${activeRunId}`, () => 0);
      },
    };
    return store as unknown as RunStore;
  }
}
