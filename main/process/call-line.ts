// Hot path. The calls of several channels to one process that serves them one after another, in the order they were
// sent: whose turn it is, since when, and how long each channel has waited behind the others.
// Invariant: a call's time runs only from its turn on, so a call that hangs is the only one that can come too late.

import type { ChannelLine } from './ports.ts';

interface LineEntry {
  readonly id: number;
  readonly channel: number;
  readonly sentMs: number;
  readonly timeoutMs: number;
  /** Monotonic; infinite while it waits behind others. */
  turnMs: number;
  /** It has begun and waits for something itself; the next one has its turn meanwhile. */
  isAside: boolean;
}

/** A call that went aside is not blamed while another one has kept the process this long. */
const blockingMs = 1_000;
/** So long whoever gave up a call may take to end the process. */
const endingMs = 5_000;

export class CallLine implements ChannelLine {
  /** In the order of sending; a call that was given up stays until its answer comes. */
  readonly #open = new Map<number, LineEntry>();
  readonly #waitedMs = new Map<number, number>();
  #running: LineEntry | undefined;
  #lastChannel: number | undefined;

  /** The channel whose call runs, or ran last: what happens to the process is its doing. */
  get lastChannel(): number | undefined {
    return this.#lastChannel;
  }

  sent(call: {
    readonly id: number;
    readonly channel: number;
    readonly timeoutMs: number;
    readonly nowMs: number;
  }): void {
    const { id, channel, timeoutMs, nowMs } = call;
    const entry: LineEntry = { id, channel, sentMs: nowMs, timeoutMs, turnMs: Infinity, isAside: false };
    this.#open.set(id, entry);
    if (!this.#running) this.#begin(entry, nowMs);
  }

  answered(id: number, nowMs: number): void {
    const entry = this.#open.get(id);
    if (!entry) return;
    // Answers come in order, but for those of calls that went aside; whatever was before it has gone aside, too.
    while (entry.turnMs === Infinity) this.#passOn(nowMs);
    this.#open.delete(id);
    if (entry === this.#running) this.#beginNext(nowMs);
  }

  /** It was given up before it was sent: no answer will come. */
  withdrawn(id: number, nowMs: number): void {
    const entry = this.#open.get(id);
    this.#open.delete(id);
    if (entry && entry === this.#running) this.#beginNext(nowMs);
  }

  /** The host says that this call goes on later. */
  wentAside(id: number, nowMs: number): void {
    const entry = this.#open.get(id);
    if (!entry) return;
    while (entry.turnMs === Infinity) this.#passOn(nowMs);
    entry.isAside = true;
    if (entry === this.#running) this.#beginNext(nowMs);
  }

  /**
   * The host shows that this call runs. It may have answered earlier ones without their answers having arrived: it
   * keeps those of quick calls together, and something may have stopped it since.
   */
  seenRunning(id: number): void {
    const entry = this.#open.get(id);
    if (!entry || entry === this.#running) return;
    const sinceMs = this.#running?.turnMs ?? entry.sentMs;
    while (entry.turnMs === Infinity) this.#passOn(sinceMs);
  }

  /** Until when its answer may come, as far as can be said now. */
  dueMs(id: number, nowMs: number): number {
    const entry = this.#open.get(id);
    if (!entry) return nowMs;
    if (entry.turnMs === Infinity) {
      const strandedMs = this.#strandedMs();
      return Math.min(nowMs + entry.timeoutMs, strandedMs > nowMs ? strandedMs : Infinity);
    }
    const ownMs = entry.turnMs + entry.timeoutMs;
    const running = this.#running;
    if (!entry.isAside || !running || nowMs - running.turnMs < blockingMs) return ownMs;
    return Math.max(ownMs, running.turnMs + running.timeoutMs + blockingMs);
  }

  /**
   * The call whose turn it is has had its time, and whoever sent it did not end the process: it left, or did not care.
   * Those behind it would wait for ever.
   */
  isStranded(nowMs: number): boolean {
    return nowMs >= this.#strandedMs();
  }

  #strandedMs(): number {
    return this.#running ? this.#running.turnMs + this.#running.timeoutMs + endingMs : Infinity;
  }

  /** How long calls of this channel have waited for their turn, the present one included. */
  waitedMs(channel: number, nowMs: number): number {
    let sumMs = this.#waitedMs.get(channel) ?? 0;
    for (const entry of this.#open.values())
      if (entry.channel === channel && entry.turnMs === Infinity) sumMs += nowMs - entry.sentMs;
    return sumMs;
  }

  /** The machine slept: nobody could have answered meanwhile. */
  postpone(byMs: number): void {
    for (const entry of this.#open.values()) if (entry.turnMs < Infinity) entry.turnMs += byMs;
  }

  #begin(entry: LineEntry, nowMs: number): void {
    entry.turnMs = nowMs;
    this.#running = entry;
    this.#lastChannel = entry.channel;
    if (nowMs > entry.sentMs)
      this.#waitedMs.set(entry.channel, (this.#waitedMs.get(entry.channel) ?? 0) + nowMs - entry.sentMs);
  }

  #beginNext(nowMs: number): void {
    this.#running = undefined;
    for (const entry of this.#open.values()) {
      if (entry.turnMs < Infinity) continue;
      this.#begin(entry, nowMs);
      return;
    }
  }

  #passOn(nowMs: number): void {
    if (this.#running) this.#running.isAside = true;
    this.#beginNext(nowMs);
  }
}
