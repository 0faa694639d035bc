// Decides what happens next: everything that is ready (port calls, timers) is in one heap, ordered by due time and,
// where several are due, by the seed. Nothing else moves time, so one seed is one history; its trace is hashed.
import type { Clock } from '../../../base/clock.ts';
import { createRandom, type Random } from '../../../base/random.ts';

interface Task {
  readonly dueMs: number;
  readonly tie: number;
  readonly sequence: number;
  readonly label: string;
  readonly life: Life;
  readonly fire: () => void;
  /** Carried out by the system, not by the engine's thread. */
  readonly isCall: boolean;
  isOff: boolean;
}

/** One life of the engine, or the world outside. When it is over, nothing of it happens any more. */
export class Life {
  readonly name: string;
  isOver = false;
  /** The engine dies in this very event: effects outside happen, it never learns of them. */
  isMuted = false;
  /** Its thread stands still. */
  isFrozen = false;
  pending = 0;

  constructor(name: string) {
    this.name = name;
  }
}

export interface SchedulerOptions {
  readonly seed: number;
  /** False: what is due at the same time happens in the order it was asked for. */
  readonly reorders: boolean;
  /** Milliseconds a timer comes late. */
  readonly timerLatenessMs: () => number;
  readonly trace?: ((line: string) => void) | undefined;
}

const startMs = 1_800_000_000_000;
const mostIdleTurns = 500;

export class Scheduler {
  readonly random: Random;
  readonly #options: SchedulerOptions;
  readonly #heap: Task[] = [];
  #sequence = 0;
  #nowMs = 0;
  #wallOffsetMs = 0;
  #hash = 0x811c9dc5;
  #otherHash = 0x01234567;
  steps = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.random = createRandom(options.seed);
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return startMs + this.#nowMs + this.#wallOffsetMs;
  }

  /** The machine sleeps: monotonic time jumps over everything that was due. */
  suspend(forMs: number): void {
    this.#nowMs += forMs;
    this.note(`asleep for ${forMs}`);
  }

  moveWallClock(byMs: number): void {
    this.#wallOffsetMs += byMs;
    this.note(`wall clock moved by ${byMs}`);
  }

  at(life: Life, delayMs: number, label: string, fire: () => void): Disposable {
    return this.#schedule(life, delayMs, label, { fire, isCall: false });
  }

  #schedule(
    life: Life,
    delayMs: number,
    label: string,
    { fire, isCall }: Pick<Task, 'fire' | 'isCall'>,
  ): Disposable {
    const task: Task = {
      dueMs: this.#nowMs + Math.max(0, delayMs),
      tie: this.#options.reorders ? this.random.bits() : 0,
      sequence: this.#sequence++,
      label,
      life,
      fire,
      isCall,
      isOff: life.isOver || life.isFrozen,
    };
    if (task.isOff) return { [Symbol.dispose]: () => undefined };
    life.pending++;
    this.#push(task);
    return { [Symbol.dispose]: () => this.#turnOff(task) };
  }

  /** A call through a port: its effect happens later, and its answer only if who asked still lives. */
  call<T>(life: Life, delayMs: number, label: string, effect: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const fire = (): void => {
        let value: T;
        try {
          value = effect();
        } catch (error) {
          if (!life.isMuted) reject(error);
          return;
        }
        if (!life.isMuted) resolve(value);
      };
      this.#schedule(life, delayMs, label, { fire, isCall: true });
    });
  }

  sleep(life: Life, delayMs: number, label: string): Promise<void> {
    return this.call(life, delayMs, label, () => undefined);
  }

  clockOf(life: Life): Clock {
    return {
      now: () => this.wallMs(),
      monotonic: () => this.#nowMs,
      after: (delayMs, fire) =>
        this.at(life, delayMs + this.#options.timerLatenessMs(), `timer ${Math.round(delayMs)}`, fire),
    };
  }

  /** The next event and all that follows from it at once; false when nothing will ever happen. */
  async next(): Promise<boolean> {
    let task = this.#pop();
    // Long work of the store hands the turn back between its slices.
    for (let turns = 0; !task && turns < mostIdleTurns; turns++) {
      await turn();
      task = this.#pop();
    }
    if (!task) return false;
    this.#nowMs = Math.max(this.#nowMs, task.dueMs);
    this.steps++;
    this.#turnOff(task);
    this.note(task.label);
    task.fire();
    await turn();
    return true;
  }

  /** Becomes a part of the trace. */
  note(text: string): void {
    this.#options.trace?.(
      `${String(this.steps).padStart(6)} ${this.#nowMs.toFixed(0).padStart(8)} ms  ${text}`,
    );
    this.#mix(this.#nowMs | 0);
    for (let at = 0; at < text.length; at++) this.#mix(text.charCodeAt(at));
  }

  digest(): string {
    return [this.#hash, this.#otherHash].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('');
  }

  end(life: Life): void {
    life.isOver = true;
    for (const task of this.#heap) if (task.life === life) this.#turnOff(task);
  }

  /** What it asked the system for still happens; it never learns of it, and asks for nothing more. */
  freeze(life: Life): void {
    life.isFrozen = true;
    life.isMuted = true;
    for (const task of this.#heap) if (task.life === life && !task.isCall) this.#turnOff(task);
  }

  /** Labels of what is still to come for a life. */
  pendingOf(life: Life): string[] {
    return this.#heap.filter((task) => !task.isOff && task.life === life).map(({ label }) => label);
  }

  #mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ value, 0x01000193);
    this.#otherHash = (Math.imul(this.#otherHash, 31) + value) | 0;
  }

  #turnOff(task: Task): void {
    if (task.isOff) return;
    task.isOff = true;
    task.life.pending--;
  }

  #push(task: Task): void {
    const heap = this.#heap;
    let at = heap.push(task) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (!above || !isBefore(task, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = task;
  }

  #pop(): Task | undefined {
    for (;;) {
      const first = this.#heap[0];
      const last = this.#heap.pop();
      if (!first || !last) return undefined;
      if (first !== last) this.#sink(last);
      if (!first.isOff) return first;
    }
  }

  #sink(task: Task): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [a, b] = [heap[left], heap[left + 1]];
      const child = b && a && isBefore(b, a) ? b : a;
      if (!child || !isBefore(child, task)) break;
      heap[at] = child;
      at = child === a ? left : left + 1;
    }
    heap[at] = task;
  }
}

function isBefore(a: Task, b: Task): boolean {
  if (a.dueMs !== b.dueMs) return a.dueMs < b.dueMs;
  return a.tie === b.tie ? a.sequence < b.sequence : a.tie < b.tie;
}

/** All promise reactions run before the next turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
