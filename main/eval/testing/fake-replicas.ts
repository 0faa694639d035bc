// Replica sets and an episode runner that live on a clock, with behaviours a test chooses. They watch the pool: a lease
// on a dead, killed or still occupied replica is remembered as a violation.
import { sleep } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError, toStudioError } from '../../base/errors.ts';
import type { EpisodeAttempt } from '../../contract/run.ts';
import type { ReplicaDeath, ReplicaSet } from '../../nodeset/ports.ts';
import { attemptRow, episodeError, failure, type AttemptOutcome } from '../attempt-row.ts';
import type { EpisodeRequest, EpisodeRunner, ReplicaSource } from '../ports.ts';

/** What one attempt does, and after how long. `hang` never answers; `lateAnswer` answers after it was aborted. */
export type Behaviour =
  | { readonly kind: 'complete' | 'error' | 'no_verdict' | 'fatal' | 'hang' | 'die' | 'throw' }
  | { readonly kind: 'lateAnswer' };

export interface FakeReplicas extends ReplicaSource, EpisodeRunner {
  readonly violations: readonly string[];
  readonly starts: number;
  /** Replicas that are neither killed, closed nor dead. */
  readonly alive: number;
  readonly leases: readonly { readonly ordinal: number; readonly worker: number; readonly atMs: number }[];
  /** Ends the replica of a slot as if by a signal from outside. */
  strike(slot: number): void;
}

export interface FakeReplicaOptions {
  readonly clock: Clock;
  readonly behaviour?: (request: EpisodeRequest) => Behaviour;
  readonly episodeMs?: (request: EpisodeRequest) => number;
  readonly startMs?: (slot: number, nthStart: number) => number;
  /** An error, or `hang`, instead of a replica. */
  readonly startFault?: (slot: number, nthStart: number) => Error | 'hang' | undefined;
  readonly killMs?: number;
  readonly stepBudget?: number;
  /** So many slots share a process: what ends one ends the others. Default: 1. */
  readonly slotsPerProcess?: number;
  readonly waitedForMatesMs?: (slot: number) => number;
}

/** Replicas that end together; nobody joins once one has ended. */
interface FakeProcess {
  readonly replicas: FakeReplica[];
}

class FakeReplica implements ReplicaSet {
  readonly slot: number;
  readonly instances: readonly string[];
  readonly pids: readonly number[] = [];
  readonly catalog = { lookup: () => undefined };
  readonly death: Promise<ReplicaDeath>;
  readonly #clock: Clock;
  readonly #killMs: number;
  #resolveDeath: (death: ReplicaDeath) => void = () => undefined;
  occupiedBy: number | null = null;
  whyBroken: StudioError | undefined;
  isEnded = false;
  isGone = false;
  leaseCount = 0;
  readonly #process: FakeProcess;
  waitedForMatesMs: (() => number) | undefined;

  constructor(slot: number, process: FakeProcess, clock: Clock, killMs: number) {
    this.slot = slot;
    this.#process = process;
    process.replicas.push(this);
    this.instances = [`fake#${slot}`];
    this.#clock = clock;
    this.#killMs = killMs;
    this.death = new Promise((resolve) => {
      this.#resolveDeath = resolve;
    });
  }

  die(signal: string, expected: boolean): void {
    this.#end(signal, { expected, byMate: false });
    for (const mate of this.#process.replicas)
      if (!mate.isEnded) mate.#end(signal, { expected: false, byMate: true });
  }

  #end(signal: string, how: { readonly expected: boolean; readonly byMate: boolean }): void {
    this.isEnded = true;
    this.isGone = true;
    const [instance = ''] = this.instances;
    this.#resolveDeath({ instance, exitCode: null, signal, stderrTail: ['last words'], ...how });
  }

  panel(): never {
    throw new StudioError('unsupported', 'a fake replica has no panel');
  }

  broken(): StudioError | undefined {
    return this.whyBroken;
  }

  endExecution(): void {}

  async kill(): Promise<void> {
    this.isEnded = true;
    await sleep(this.#clock, this.#killMs);
    this.die('SIGKILL', true);
  }

  /** Those who share its process go on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.isEnded = true;
    await sleep(this.#clock, this.#killMs);
    this.#end('SIGKILL', { expected: true, byMate: false });
  }

  rssBytes(): number {
    return 100 * 2 ** 20 + this.leaseCount;
  }
}

export function createFakeReplicas(options: FakeReplicaOptions): FakeReplicas {
  const { clock } = options;
  const violations: string[] = [];
  const replicas: FakeReplica[] = [];
  const leases: { ordinal: number; worker: number; atMs: number }[] = [];
  const startsOf = new Map<number, number>();
  const processes = new Map<number, FakeProcess>();
  const processFor = (slot: number): FakeProcess => {
    const group = Math.floor(slot / (options.slotsPerProcess ?? 1));
    const current = processes.get(group);
    if (current && current.replicas.every((replica) => !replica.isEnded)) return current;
    const fresh = { replicas: [] };
    processes.set(group, fresh);
    return fresh;
  };

  const checkLease = (replica: FakeReplica, request: EpisodeRequest): void => {
    if (replica.isEnded) violations.push(`episode ${request.episode.ordinal} leased on an ended replica`);
    if (replica.occupiedBy !== null) {
      violations.push(
        `slot ${request.worker}: ${request.episode.ordinal} leased while ${replica.occupiedBy} is unanswered`,
      );
    }
    if (replica.slot !== request.worker)
      violations.push(`worker ${request.worker} uses slot ${replica.slot}`);
  };
  return {
    violations,
    leases,
    get starts() {
      return replicas.length;
    },
    get alive() {
      return replicas.filter((replica) => !replica.isEnded).length;
    },
    strike(slot) {
      replicas.findLast((replica) => replica.slot === slot && !replica.isEnded)?.die('SIGKILL', false);
    },
    async start(slot, signal) {
      const nthStart = (startsOf.get(slot) ?? 0) + 1;
      startsOf.set(slot, nthStart);
      const fault = options.startFault?.(slot, nthStart);
      if (fault === 'hang') await sleep(clock, 1e9, signal);
      await sleep(clock, options.startMs?.(slot, nthStart) ?? 10, signal);
      if (fault instanceof Error) throw fault;
      if (replicas.some((other) => other.slot === slot && !other.isGone))
        violations.push(`slot ${slot} was started before its predecessor was gone`);
      const replica = new FakeReplica(slot, processFor(slot), clock, options.killMs ?? 5);
      const { waitedForMatesMs } = options;
      if (waitedForMatesMs) replica.waitedForMatesMs = () => waitedForMatesMs(slot);
      replicas.push(replica);
      return replica;
    },
    async run(request) {
      const replica = replicas.find((candidate) => candidate === request.replicas);
      if (!replica) throw new Error('an unknown replica');
      checkLease(replica, request);
      leases.push({ ordinal: request.episode.ordinal, worker: request.worker, atMs: clock.monotonic() });
      replica.occupiedBy = request.episode.ordinal;
      replica.leaseCount++;
      try {
        return await live(replica, request, options);
      } finally {
        replica.occupiedBy = null;
      }
    },
  };
}

async function live(
  replica: FakeReplica,
  request: EpisodeRequest,
  options: FakeReplicaOptions,
): Promise<EpisodeAttempt> {
  const { clock, stepBudget = 100 } = options;
  const behaviour = options.behaviour?.(request) ?? { kind: 'complete' };
  const durationMs = options.episodeMs?.(request) ?? 100;
  const startedAtMs = clock.now();
  const startedMs = clock.monotonic();
  const row = (outcome: AttemptOutcome): EpisodeAttempt =>
    attemptRow(
      {
        episode: request.episode,
        token: request,
        worker: request.worker,
        replica: replica.instances[0] ?? null,
        episodeId: `e${request.episode.ordinal}`,
        sceneId: null,
        instruction: null,
        startedAtMs,
        durationMs: clock.monotonic() - startedMs,
        steps: 3,
        stepBudget,
      },
      outcome,
    );
  const failed = (error: unknown): EpisodeAttempt =>
    row(failure('error', episodeError(toStudioError(error))));
  try {
    await sleep(clock, durationMs / 4, request.signal);
    request.onChosen?.({ episodeId: `e${request.episode.ordinal}`, sceneId: 's', instruction: null });
    request.onPhase('step', 0, stepBudget);
    await sleep(clock, durationMs / 2, request.signal);
    request.onPhase('step', 3, stepBudget);
    if (behaviour.kind === 'die') replica.die('SIGSEGV', false);
    if (behaviour.kind === 'hang' || behaviour.kind === 'die') await sleep(clock, 1e9, request.signal);
    if (behaviour.kind === 'lateAnswer')
      await sleep(clock, 1e7, request.signal).catch(() => sleep(clock, 50));
    else await sleep(clock, durationMs / 4, request.signal);
  } catch (error) {
    return failed(error);
  }
  switch (behaviour.kind) {
    case 'throw':
      throw new Error('the runner itself failed');
    case 'error':
      return failed(new StudioError('node_failed', 'a node threw'));
    case 'fatal':
      return row(failure('died', episodeError(new StudioError('fatal', 'CUDA out of memory'))));
    case 'no_verdict':
      return row(failure('no_verdict', episodeError(new StudioError('no_verdict', 'no metric'))));
    default:
      return row({
        status: 'completed',
        metrics: { success: request.episode.seed % 2 },
        limit: null,
        error: null,
        nodeErrors: [],
      });
  }
}
