// Lanes with scripted callers and faulty backends under a fake clock: one seed is one interleaving. It reports every
// broken promise of the batch queue as text.
import { createFakeClock, type FakeClock } from '../../base/fake-clock.ts';
import { StudioError } from '../../base/errors.ts';
import { createRandom, type Random } from '../../base/random.ts';
import { BatchQueue, type BatchLimits, type LaneBackend, type Values } from '../batch-queue.ts';
import type { FlushPolicy } from '../flush-rule.ts';

export interface SimulationReport {
  readonly violations: readonly string[];
  readonly submitted: number;
  readonly answered: number;
  readonly rejected: number;
  readonly batches: number;
  readonly largestBatch: number;
  readonly hangs: number;
  readonly deaths: number;
  readonly refusals: number;
  readonly mismatches: number;
  readonly cancelled: number;
}

const limits: BatchLimits = { batchMs: 1_000, firstBatchMs: 3_000, resetMs: 100, maxWaiting: 12 };

interface Ticket {
  readonly id: number;
  readonly key: string;
  readonly caller: string;
  readonly submittedMs: number;
  isBad: boolean;
  isCancelled: boolean;
  settlements: number;
}

type Counts = { -readonly [Name in keyof Omit<SimulationReport, 'violations'>]: number };

class Simulation {
  readonly clock: FakeClock = createFakeClock();
  readonly random: Random;
  readonly violations: string[] = [];
  readonly tickets = new Map<number, Ticket>();
  readonly deferred: (() => void)[] = [];
  readonly counts: Counts = {
    submitted: 0,
    answered: 0,
    rejected: 0,
    batches: 0,
    largestBatch: 0,
    hangs: 0,
    deaths: 0,
    refusals: 0,
    mismatches: 0,
    cancelled: 0,
  };

  constructor(seed: number) {
    this.random = createRandom(seed);
  }

  broken(what: string): void {
    this.violations.push(`${what} at ${this.clock.monotonic()} ms`);
  }

  defer(run: () => void): void {
    this.deferred.push(run);
  }

  async turn(): Promise<void> {
    for (let count = 0; count < 12; count++) await Promise.resolve();
    for (let run = this.deferred.shift(); run; run = this.deferred.shift()) run();
    for (let count = 0; count < 12; count++) await Promise.resolve();
  }
}

class Lane {
  readonly key: string;
  readonly queue: BatchQueue;
  readonly policy: FlushPolicy;
  readonly live = new Set<string>();
  readonly #world: Simulation;
  readonly #faultRate: number;
  #callsUnderWay = 0;
  #needsReset = false;

  constructor(world: Simulation, key: string, faultRate: number) {
    const { random } = world;
    this.key = key;
    this.#world = world;
    this.#faultRate = faultRate;
    this.policy = {
      flushPolicy: random.integer(2) === 0 ? 'greedy' : 'rendezvous',
      flushTimeoutMs: 50,
      maxBatch: random.integer(3) === 0 ? 2 + random.integer(3) : 256,
    };
    const backend: LaneBackend = {
      call: (samples, signal) => this.#call(samples, signal),
      reset: () => this.#reset(),
    };
    const { clock } = world;
    this.queue = new BatchQueue({
      name: key,
      backend,
      policy: this.policy,
      limits,
      clock,
      defer: (run) => world.defer(run),
    });
  }

  get isBusy(): boolean {
    return this.#callsUnderWay > 0 || this.#needsReset;
  }

  submit(caller: string, isBad: boolean): void {
    const world = this.#world;
    const id = world.counts.submitted++;
    const ticket: Ticket = {
      id,
      key: this.key,
      caller,
      submittedMs: world.clock.monotonic(),
      isBad,
      isCancelled: false,
      settlements: 0,
    };
    world.tickets.set(id, ticket);
    this.live.add(caller);
    this.queue.submit(caller, { id, key: this.key }).then(
      (answer) => {
        ticket.settlements++;
        world.counts.answered++;
        if (answer['id'] !== id || answer['key'] !== this.key)
          world.broken(`${id} got the answer of ${String(answer['id'])}`);
        if (isBad) world.broken(`the bad sample ${id} was answered`);
        if (ticket.isCancelled) world.broken(`${id} was answered after its caller had left`);
      },
      (error: unknown) => {
        ticket.settlements++;
        world.counts.rejected++;
        if (!(error instanceof StudioError))
          world.broken(`${id} was rejected with something else than a StudioError`);
        else if (error.code === 'node_failed' && !isBad && !error.message.includes('wait for'))
          world.broken(`${id} was refused though it is good`);
      },
    );
  }

  leave(caller: string): void {
    const world = this.#world;
    this.live.delete(caller);
    for (const ticket of world.tickets.values()) {
      if (ticket.caller !== caller || ticket.key !== this.key || ticket.settlements > 0) continue;
      ticket.isCancelled = true;
      world.counts.cancelled++;
    }
    this.queue.leave(caller, new StudioError('aborted', 'left'));
  }

  #call(samples: readonly Values[], signal: AbortSignal): Promise<readonly Values[]> {
    const world = this.#world;
    const { random, clock, counts } = world;
    const tickets = samples.map((sample) => world.tickets.get(Number(sample['id'])));
    this.#check(samples, tickets);
    counts.batches++;
    counts.largestBatch = Math.max(counts.largestBatch, samples.length);
    this.#callsUnderWay++;
    const answers = samples.map(({ id, key }) => ({ id, key }));
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): (() => void) => {
        return () => {
          if (!signal.aborted) this.#callsUnderWay--;
          settle();
        };
      };
      const fault = random.next() < this.#faultRate ? random.integer(5) : -1;
      const delayMs = random.integer(40);
      if (tickets.some((ticket) => ticket?.isBad)) {
        counts.refusals++;
        clock.after(
          delayMs,
          finish(() => reject(new StudioError('node_failed', 'a bad sample'))),
        );
        return;
      }
      if (fault === 0) {
        counts.hangs++;
        this.#needsReset = true;
        signal.addEventListener('abort', () => this.#callsUnderWay--);
        // Its answer comes all the same, long after the batch was given up.
        clock.after(limits.firstBatchMs + 500, () => resolve(answers));
      } else if (fault === 1) {
        counts.deaths++;
        clock.after(
          delayMs,
          finish(() => reject(new StudioError('process_died', 'killed by SIGKILL'))),
        );
      } else if (fault === 2) {
        counts.mismatches++;
        clock.after(
          delayMs,
          finish(() => resolve(random.integer(2) === 0 ? answers.slice(1) : [...answers, {}])),
        );
      } else if (fault === 3) {
        this.#callsUnderWay--;
        throw new StudioError('connection_closed', 'thrown at once');
      } else {
        clock.after(
          delayMs,
          finish(() => resolve(answers)),
        );
      }
    });
  }

  #check(samples: readonly Values[], tickets: readonly (Ticket | undefined)[]): void {
    const world = this.#world;
    if (this.#callsUnderWay > 0) world.broken(`two batches of ${this.key} at once`);
    if (this.#needsReset) world.broken(`${this.key} was called before its reset`);
    if (samples.length > this.policy.maxBatch)
      world.broken(`a batch of ${samples.length} exceeds ${this.policy.maxBatch}`);
    for (const ticket of tickets) {
      if (!ticket) world.broken('an unknown sample');
      else if (ticket.key !== this.key) world.broken(`${ticket.id} is of another key`);
      else if (ticket.isCancelled) world.broken(`${ticket.id} was in a batch after its caller had left`);
      else if (ticket.settlements > 0) world.broken(`${ticket.id} was in a batch after it had settled`);
    }
  }

  #reset(): Promise<void> {
    this.#needsReset = false;
    return this.#world.random.integer(4) === 0 ? new Promise(() => undefined) : Promise.resolve();
  }

  /** After a turn: what could be a batch is one. */
  checkAtRest(isClosed: boolean): void {
    const { waiting, callers } = this.queue.view();
    const world = this.#world;
    if (waiting > limits.maxWaiting) world.broken(`${waiting} wait in ${this.key}`);
    const open = [...world.tickets.values()].filter(
      (ticket) => ticket.key === this.key && ticket.settlements === 0,
    );
    if (waiting > open.length)
      world.broken(`${waiting} wait in ${this.key}, but only ${open.length} are open`);
    if (isClosed) return;
    if (callers !== this.live.size)
      world.broken(`${this.key} counts ${callers} callers instead of ${this.live.size}`);
    if (waiting === 0 || this.queue.isBusy) return;
    if (this.policy.flushPolicy === 'greedy') world.broken(`${waiting} wait for an idle ${this.key}`);
    else if (waiting >= Math.min(callers, this.policy.maxBatch)) world.broken(`${this.key} waits for nobody`);
    if (callers <= 1) world.broken(`the only caller of ${this.key} waits`);
  }
}

/** Plays one interleaving to its end. */
export async function simulateLanes(seed: number): Promise<SimulationReport> {
  const world = new Simulation(seed);
  const { random, clock } = world;
  const faultRate = [0, 0.1, 0.4][random.integer(3)] ?? 0;
  const lanes = Array.from(
    { length: 1 + random.integer(3) },
    (_, index) => new Lane(world, `key${index}`, faultRate),
  );
  const callerCount = 1 + random.integer(8);
  const stepCount = 8 + random.integer(25);
  for (let step = 0; step < stepCount; step++) {
    const lane = lanes[random.integer(lanes.length)];
    const caller = `caller${random.integer(callerCount)}`;
    const act = random.integer(10);
    if (!lane) continue;
    if (act < 6) lane.submit(caller, random.integer(12) === 0);
    else if (act < 7) lane.leave(caller);
    else await clock.advance([0, 1, 10, 60, 400][random.integer(5)] ?? 0);
    if (random.integer(3) > 0) continue;
    await world.turn();
    for (const each of lanes) each.checkAtRest(false);
  }
  const isClosedEarly = random.integer(4) === 0;
  if (isClosedEarly) {
    for (const lane of lanes) lane.queue.close(new StudioError('aborted', 'over'));
    lanes[0]?.submit('late', false);
  } else {
    for (let count = 0; count < 2_000; count++) {
      await world.turn();
      if (lanes.every((lane) => !lane.queue.isBusy && lane.queue.view().waiting === 0)) break;
      if (!(await clock.advanceToNext())) break;
    }
  }
  await world.turn();
  for (const lane of lanes) lane.checkAtRest(isClosedEarly);
  for (const ticket of world.tickets.values())
    if (ticket.settlements !== 1) world.broken(`${ticket.id} settled ${ticket.settlements} times`);
  await clock.advance(10_000);
  for (const ticket of world.tickets.values())
    if (ticket.settlements !== 1) world.broken(`${ticket.id} settled ${ticket.settlements} times in the end`);
  return { ...world.counts, violations: world.violations };
}
