// Numbers the engine's events for hosts and thins them out: what replaces its predecessor (lanes, lines, changed
// rows) is kept for at most 100 ms and sent once. Bounded: a client that fell behind the kept messages gets a gap.
import type { EventMap, EventMessage, EventName } from './contract/api.ts';
import type { EpisodeRow } from './contract/run.ts';
import type { Clock } from './base/clock.ts';
import { messageOf } from './base/errors.ts';
import { silentLogger, type Logger } from './base/logger.ts';

const flushEveryMs = 100;
const keptMessages = 1000;
/** Of all kept messages together: quick episodes would make a thousand messages of tens of thousands of rows. */
const keptRows = 5000;
const maxRowsPerMessage = 2000;

export class EventFeed implements Disposable {
  readonly #clock: Clock;
  /** Takes secrets out of what is told. */
  readonly #redact: <Value>(value: Value) => Value;
  readonly #logger: Logger;
  readonly #listeners = new Set<(message: EventMessage) => void>();
  readonly #kept: EventMessage[] = [];
  #keptRows = 0;
  readonly #waiting = new Map<string, { readonly name: EventName; readonly payload: unknown }>();
  readonly #rows = new Map<string, Map<number, EpisodeRow>>();
  #sequence = 0;
  #timer: Disposable | null = null;

  constructor(
    clock: Clock,
    redact: <Value>(value: Value) => Value = (value) => value,
    logger: Logger = silentLogger,
  ) {
    this.#clock = clock;
    this.#redact = redact;
    this.#logger = logger;
  }

  /** Number of the last message sent. */
  get sequence(): number {
    return this.#sequence;
  }

  publish<Name extends EventName>(name: Name, payload: EventMap[Name]): void {
    if (name === 'run.episodes') {
      const { runId, rows } = payload as EventMap['run.episodes'];
      const ofRun = this.#rows.get(runId) ?? new Map<number, EpisodeRow>();
      this.#rows.set(runId, ofRun);
      for (const row of rows) ofRun.set(row.ordinal, row);
      this.#flushLater();
    } else if (name === 'run.live' || name === 'run.changed' || name === 'run.stage') {
      this.#waiting.set(`${name}/${(payload as { runId: string }).runId}`, { name, payload });
      this.#flushLater();
    } else {
      this.flush();
      this.#send(name, payload);
    }
  }

  /** Every message from now on. */
  subscribe(listener: (message: EventMessage) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Messages after `after`; null when some of them are no longer kept (or never were): ask for snapshots. */
  since(after: number): readonly EventMessage[] | null {
    if (after === this.#sequence) return [];
    const first = this.#kept[0]?.sequence ?? this.#sequence + 1;
    if (after > this.#sequence || after + 1 < first) return null;
    return this.#kept.filter((message) => message.sequence > after);
  }

  /** Sends what is waiting. */
  flush(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    for (const [runId, changed] of this.#rows) this.#sendRows(runId, [...changed.values()]);
    this.#rows.clear();
    const due = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { name, payload } of due) this.#send(name, payload);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#listeners.clear();
  }

  #flushLater(): void {
    this.#timer ??= this.#clock.after(flushEveryMs, () => this.flush());
  }

  #send(name: EventName, payload: unknown): void {
    const message = { sequence: ++this.#sequence, name, payload: this.#redact(payload) } as EventMessage;
    this.#keep(message);
    for (const listener of this.#listeners) this.#tell(listener, message);
  }

  /** One that fails takes nothing from the others, nor from whoever had the news. */
  #tell(listener: (message: EventMessage) => void, message: EventMessage): void {
    try {
      listener(message);
    } catch (error) {
      this.#logger.error('a listener of events failed', { name: message.name, error: messageOf(error) });
    }
  }

  #keep(message: EventMessage): void {
    this.#kept.push(message);
    this.#keptRows += rowsIn(message);
    while (this.#kept.length > keptMessages || this.#keptRows > keptRows) {
      const oldest = this.#kept.shift();
      if (oldest) this.#keptRows -= rowsIn(oldest);
    }
  }

  #sendRows(runId: string, changed: readonly EpisodeRow[]): void {
    for (let from = 0; from < changed.length; from += maxRowsPerMessage) {
      this.#send('run.episodes', { runId, rows: changed.slice(from, from + maxRowsPerMessage) });
    }
  }
}

function rowsIn(message: EventMessage): number {
  return message.name === 'run.episodes' ? message.payload.rows.length : 0;
}
