// Deadlines that move when the machine was asleep (or the engine stopped): a ticker that comes much later than it
// was set shows the gap, and every deadline moves by it, whichever of the two timers fires first.
import type { Clock } from '../base/clock.ts';

const tickMs = 500;
/** A tick may be this late before the machine is taken to have slept. */
const toleratedLateMs = 2000;

export class SuspendWatch implements Disposable {
  readonly clock: Clock;
  readonly #deadlines = new Set<MovableDeadline>();
  readonly #listeners = new Set<() => void>();
  #lastTickMs: number;
  #ticker: Disposable;
  #suspendedMs = 0;

  constructor(clock: Clock) {
    this.clock = clock;
    this.#lastTickMs = clock.monotonic();
    this.#ticker = clock.after(tickMs, () => this.#tick());
  }

  /** Milliseconds noticed so far. */
  get suspendedMs(): number {
    return this.#suspendedMs;
  }

  deadline(delayMs: number, onDue: () => void): MovableDeadline {
    this.look();
    const deadline = new MovableDeadline(this, delayMs, onDue, (ended) => this.#deadlines.delete(ended));
    this.#deadlines.add(deadline);
    return deadline;
  }

  /** Called at every tick, twice a second. */
  onTick(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Looks for a gap since the last tick and moves what is pending. */
  look(): void {
    const nowMs = this.clock.monotonic();
    const lateMs = nowMs - this.#lastTickMs - tickMs;
    if (lateMs <= toleratedLateMs) return;
    this.#suspendedMs += lateMs;
    this.#lastTickMs = nowMs;
    for (const deadline of this.#deadlines) deadline.move(lateMs);
  }

  [Symbol.dispose](): void {
    this.#ticker[Symbol.dispose]();
    for (const deadline of this.#deadlines) deadline[Symbol.dispose]();
    this.#listeners.clear();
  }

  #tick(): void {
    this.look();
    this.#lastTickMs = this.clock.monotonic();
    this.#ticker = this.clock.after(tickMs, () => this.#tick());
    for (const listener of this.#listeners) listener();
  }
}

/** Made by SuspendWatch. Fires once, unless rearmed or disposed before. */
export class MovableDeadline implements Disposable {
  readonly #watch: SuspendWatch;
  readonly #onDue: () => void;
  readonly #onEnd: (ended: MovableDeadline) => void;
  #dueMs: number;
  #timer: Disposable;

  constructor(
    watch: SuspendWatch,
    delayMs: number,
    onDue: () => void,
    onEnd: (ended: MovableDeadline) => void,
  ) {
    this.#watch = watch;
    this.#onDue = onDue;
    this.#onEnd = onEnd;
    this.#dueMs = watch.clock.monotonic() + delayMs;
    this.#timer = watch.clock.after(delayMs, () => this.#check());
  }

  /** Starts anew, `delayMs` from now. */
  rearm(delayMs: number): void {
    this.#watch.look();
    this.#timer[Symbol.dispose]();
    this.#dueMs = this.#watch.clock.monotonic() + delayMs;
    this.#timer = this.#watch.clock.after(delayMs, () => this.#check());
  }

  move(byMs: number): void {
    this.#dueMs += byMs;
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
    this.#onEnd(this);
  }

  #check(): void {
    this.#watch.look();
    const leftMs = this.#dueMs - this.#watch.clock.monotonic();
    if (leftMs > 0) {
      this.#timer = this.#watch.clock.after(leftMs, () => this.#check());
      return;
    }
    this.#onEnd(this);
    this.#onDue();
  }
}
