// The real pool with two slots, three episodes and two attempts: every order of starts, answers, deaths, deadlines,
// commits, kills, a stop and a cancel. States that differ only in which slot is which are one.
import { StudioError } from '../../../base/errors.ts';
import type { ReplicaDeath, ReplicaSet } from '../../../nodeset/ports.ts';
import { attemptRow, episodeError, failure } from '../../attempt-row.ts';
import { EnvWorkerPool, type PoolEnd } from '../../env-worker-pool.ts';
import type { EpisodeRequest } from '../../ports.ts';
import { createFakeJournal, planOf, type FakeJournal } from '../fake-journal.ts';
import type { Choice, Model } from './explore.ts';
import { ChoiceClock, OpenCalls } from './ports.ts';
import { renamings } from './renamings.ts';

export interface PoolModelOptions {
  readonly slots: number;
  readonly episodes: number;
  readonly attempts: number;
  /** How an attempt may end besides with a verdict. */
  readonly outcomes: readonly ('error' | 'die' | 'hang')[];
  readonly canStop: boolean;
  readonly canCancel: boolean;
  /** Commits and starts that may fail, in all. */
  readonly failures: number;
}

/** So long a kill is waited for before the slot goes on without it. */
const killWaitMs = 5000;
/** `start 0`, `kill 0 unwaited`, `close 0`, `run 2.1@0`, `commit 2.1@0 died`. */
const slotInLabel = /(?<=start |kill |close |@)\d+/;
const limits = { resetMs: 2000, episodeMs: () => 10_000, defaultStepBudget: 10 };

export class PoolModel implements Model {
  readonly #options: PoolModelOptions;
  readonly #calls = new OpenCalls();
  readonly #clock = new ChoiceClock(500);
  readonly #journal: FakeJournal;
  readonly #pool: EnvWorkerPool;
  readonly #wrong: string[] = [];
  /** Deaths of each slot when it last finished an episode: those since then count against its budget. */
  readonly #forgiven: number[];
  readonly #alive = new Set<{ readonly slot: number; killedMs: number }>();
  readonly #inFlight = new Map<number, number>();
  #failuresLeft: number;
  #stopped: 'no' | 'stopped' | 'cancelled' = 'no';
  #end: PoolEnd | 'failed' | null = null;

  constructor(options: PoolModelOptions) {
    this.#options = options;
    this.#failuresLeft = options.failures;
    this.#forgiven = Array.from({ length: options.slots }, () => 0);
    const failing = {
      isPossible: () => this.#failuresLeft > 0,
      used: () => void this.#failuresLeft--,
    };
    this.#journal = createFakeJournal({
      beforeAppend: (row) =>
        this.#calls.call(
          `commit ${row.ordinal}.${row.attempt}@${row.worker} ${row.status}`,
          () => undefined,
          {
            ...failing,
            error: new StudioError('disk_full', 'no space is left'),
          },
        ),
    });
    this.#pool = new EnvWorkerPool({
      workerCount: options.slots,
      episodes: planOf(options.episodes),
      source: {
        start: (slot, signal) =>
          this.#calls.call(`start ${slot}`, () => this.#replica(slot, signal?.aborted ?? false), {
            ...failing,
            error: new StudioError('spawn_failed', 'no memory'),
          }),
      },
      runner: { run: (request) => this.#run(request) },
      journal: this.#journal,
      limits,
      retry: { attempts: options.attempts, on: ['died', 'timeout'] },
      clock: this.#clock,
      listener: {
        onAttempt: ({ worker, status }) => {
          if (status !== 'died' && status !== 'timeout')
            this.#forgiven[worker] = this.#pool.workers()[worker]?.deaths ?? 0;
        },
      },
    });
    void this.#pool
      .start()
      .then(() => this.#pool.run())
      .then(
        (end) => (this.#end = end),
        () => (this.#end = 'failed'),
      )
      .then(() => this.#pool[Symbol.dispose]());
  }

  choices(): Choice[] {
    const user: Choice[] = [];
    const canAsk = this.#end === null && this.#stopped !== 'cancelled';
    if (this.#options.canStop && canAsk && this.#stopped === 'no')
      user.push({ label: 'stop', take: () => ((this.#stopped = 'stopped'), this.#pool.stop('asked')) });
    if (this.#options.canCancel && canAsk)
      user.push({ label: 'cancel', take: () => ((this.#stopped = 'cancelled'), this.#pool.cancel()) });
    // Starts, commits, kills and closings are quicker than any deadline here; the simulation also has slow ones.
    const calls = this.#calls.choices();
    const isTimeLeft = calls.every(({ label }) => label.startsWith('run '));
    return [...calls, ...(isTimeLeft ? this.#clock.choices() : []), ...user];
  }

  /** The least of those under all orders of the slots. */
  fingerprint(): string {
    const named = renamings(this.#options.slots).map((renaming) => this.#fingerprintAs(renaming));
    return named.reduce((least, other) => (other < least ? other : least));
  }

  #fingerprintAs(renaming: readonly number[]): string {
    const rename = (slot: number): number => renaming[slot] ?? slot;
    const inOrder = <Row extends readonly unknown[]>(rows: readonly Row[]): Row[] =>
      rows.toSorted((one, other) => Number(one[0]) - Number(other[0]));
    const slots = this.#pool
      .workers()
      .map(({ worker, phase, ordinal, attempt, deaths }) => [
        rename(worker),
        phase,
        ordinal,
        attempt,
        deaths - (this.#forgiven[worker] ?? 0),
      ]);
    const { rows } = this.#journal;
    // The order of retries is that of the queue; which slot wrote a row changes nothing any more.
    const retried = rows.filter(({ final }) => !final).map(({ ordinal, attempt }) => [ordinal, attempt]);
    const labels = this.#calls
      .labels()
      .split(',')
      .map((label) => label.replace(slotInLabel, (slot) => String(rename(Number(slot)))))
      .sort();
    return JSON.stringify([
      inOrder(slots),
      retried,
      rows.flatMap(({ final, ordinal }) => (final ? [ordinal] : [])).sort((a, b) => a - b),
      labels,
      this.#clock.fingerprint(),
      this.#stopped,
      this.#failuresLeft,
      // Why it was paused depends on what came first, and decides nothing.
      this.#end !== null && this.#end !== 'failed' ? this.#end.kind : this.#end,
      inOrder(
        [...this.#alive].map(({ slot, killedMs }) => [
          rename(slot),
          this.#clock.monotonic() - killedMs < killWaitMs,
        ]),
      ),
    ]);
  }

  violations(isEnd: boolean): string[] {
    const wrong = [...this.#wrong, ...this.#journal.refused];
    const finals = this.#journal.finals();
    if (new Set(finals.map(({ ordinal }) => ordinal)).size !== finals.length)
      wrong.push('two final rows of one episode');
    if (!isEnd) return wrong;
    if (this.#end === null) return [...wrong, 'nothing can happen, and the pool has not ended'];
    if (this.#alive.size > 0) wrong.push(`${this.#alive.size} replicas are left`);
    if (this.#clock.pending > 0) wrong.push('timers are left');
    const isFinished = this.#end !== 'failed' && this.#end.kind === 'finished';
    if (isFinished !== (finals.length === this.#options.episodes))
      wrong.push(`ended as ${JSON.stringify(this.#end)} with ${finals.length} final rows`);
    const mayEndEarly =
      this.#stopped !== 'no' ||
      this.#options.outcomes.includes('die') ||
      this.#failuresLeft < this.#options.failures;
    if (!isFinished && !mayEndEarly) wrong.push('ended early for no reason');
    return wrong;
  }

  /** `isLate`: nobody wants it any more; its end is not waited for. */
  #replica(slot: number, isLate: boolean): ReplicaSet {
    const { promise: death, resolve: die } = Promise.withResolvers<ReplicaDeath>();
    let isEnded = false;
    const me = { slot, killedMs: Number.POSITIVE_INFINITY };
    for (const other of this.#alive)
      if (other.slot === slot && this.#clock.monotonic() - other.killedMs < killWaitMs)
        this.#wrong.push(`slot ${slot} was started before its predecessor was gone`);
    this.#alive.add(me);
    const gone = (signal: string, expected: boolean): void => {
      this.#alive.delete(me);
      isEnded = true;
      die({ instance: `r#${slot}`, exitCode: null, signal, stderrTail: [], expected });
    };
    return Object.assign(
      {
        slot,
        instances: [`r#${slot}`],
        pids: [],
        death,
        catalog: { lookup: () => undefined },
        panel: () => {
          throw new StudioError('unsupported', 'no panel');
        },
        endExecution: () => undefined,
        broken: () => undefined,
        kill: () => {
          me.killedMs = Math.min(me.killedMs, this.#clock.monotonic());
          return this.#calls.call(`kill ${slot}${isLate ? ' unwaited' : ''}`, () => gone('SIGKILL', true));
        },
        rssBytes: () => null,
        [Symbol.asyncDispose]: () => this.#calls.call(`close ${slot}`, () => gone('SIGTERM', true)),
      },
      { strike: () => gone('SIGSEGV', false), isDead: () => isEnded },
    );
  }

  #run(request: EpisodeRequest): Promise<ReturnType<typeof attemptRow>> {
    const { episode, worker, signal } = request;
    const replica = request.replicas as ReplicaSet & { strike(): void; isDead(): boolean };
    if (replica.isDead()) this.#wrong.push(`${episode.ordinal} is run on an ended replica`);
    if (this.#stopped !== 'no') this.#wrong.push(`${episode.ordinal} is handed out after ${this.#stopped}`);
    if (this.#inFlight.has(episode.ordinal))
      this.#wrong.push(`${episode.ordinal} is handed out twice at once`);
    if ([...this.#inFlight.values()].includes(worker)) this.#wrong.push(`slot ${worker} holds two leases`);
    this.#inFlight.set(episode.ordinal, worker);
    const startedAtMs = this.#clock.now();
    const row = (outcome: Parameters<typeof attemptRow>[1]): ReturnType<typeof attemptRow> =>
      attemptRow(
        {
          episode,
          token: request,
          worker,
          replica: null,
          episodeId: null,
          sceneId: null,
          instruction: null,
          startedAtMs,
          durationMs: this.#clock.now() - startedAtMs,
          steps: 1,
          stepBudget: 10,
        },
        outcome,
      );
    const failed = (code: 'node_failed' | 'process_died'): ReturnType<typeof attemptRow> =>
      row(failure(code === 'node_failed' ? 'error' : 'died', episodeError(new StudioError(code, code))));
    return new Promise((resolve) => {
      const label = `run ${episode.ordinal}.${request.attempt}@${worker}`;
      const settle = (value: ReturnType<typeof attemptRow>): void => {
        call[Symbol.dispose]();
        this.#inFlight.delete(episode.ordinal);
        resolve(value);
      };
      const completed = {
        status: 'completed' as const,
        metrics: { success: 1 },
        limit: null,
        error: null,
        nodeErrors: [],
      };
      const { outcomes } = this.#options;
      const call = this.#calls.open(label, [
        { name: ' ok', act: () => settle(row(completed)) },
        ...(outcomes.includes('error') ? [{ name: ' error', act: () => settle(failed('node_failed')) }] : []),
        ...(outcomes.includes('die')
          ? [
              { name: ' dies', act: () => replica.strike() },
              {
                name: ' call fails, then dies',
                act: () => (settle(failed('process_died')), replica.strike()),
              },
            ]
          : []),
      ]);
      signal.addEventListener('abort', () => settle(failed('node_failed')), { once: true });
    });
  }
}
