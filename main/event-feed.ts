// Numbers the engine's events for hosts and thins them out: what replaces its predecessor (lanes, lines, changed
// rows) is kept for at most 100 ms and sent once. Bounded: a client that fell behind the kept messages gets a gap.
import type { EventMap, EventMessage, EventName } from './contract/api.ts';
import type { EpisodeRow } from './contract/run.ts';
import type { Clock } from './base/clock.ts';

const flushEveryMs = 100;
const keptMessages = 1000;
const maxRowsPerMessage = 2000;

export interface EventFeed extends Disposable {
  publish<Name extends EventName>(name: Name, payload: EventMap[Name]): void;
  /** Every message from now on. */
  subscribe(listener: (message: EventMessage) => void): Disposable;
  /** Messages after `sequence`; null when some of them are no longer kept (or never were): ask for snapshots. */
  since(sequence: number): readonly EventMessage[] | null;
  readonly sequence: number;
  /** Sends what is waiting. */
  flush(): void;
}

export function createEventFeed(clock: Clock): EventFeed {
  const listeners = new Set<(message: EventMessage) => void>();
  const kept: EventMessage[] = [];
  const waiting = new Map<string, { name: EventName; payload: unknown }>();
  const rows = new Map<string, Map<number, EpisodeRow>>();
  let sequence = 0;
  let timer: Disposable | null = null;

  const send = (name: EventName, payload: unknown): void => {
    const message = { sequence: ++sequence, name, payload } as EventMessage;
    kept.push(message);
    if (kept.length > keptMessages) kept.shift();
    for (const listener of listeners) listener(message);
  };
  const flush = (): void => {
    timer?.[Symbol.dispose]();
    timer = null;
    for (const [runId, changed] of rows) sendRows(send, runId, [...changed.values()]);
    rows.clear();
    const due = [...waiting.values()];
    waiting.clear();
    for (const { name, payload } of due) send(name, payload);
  };
  const later = (): void => {
    timer ??= clock.after(flushEveryMs, flush);
  };
  return {
    publish(name, payload) {
      if (name === 'run.episodes') {
        const { runId, rows: changed } = payload as EventMap['run.episodes'];
        const ofRun = rows.get(runId) ?? new Map<number, EpisodeRow>();
        rows.set(runId, ofRun);
        for (const row of changed) ofRun.set(row.ordinal, row);
        later();
      } else if (name === 'run.live' || name === 'run.changed' || name === 'run.stage') {
        waiting.set(`${name}/${(payload as { runId: string }).runId}`, { name, payload });
        later();
      } else {
        flush();
        send(name, payload);
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    since(after) {
      if (after === sequence) return [];
      const first = kept[0]?.sequence ?? sequence + 1;
      return after > sequence || after + 1 < first
        ? null
        : kept.filter((message) => message.sequence > after);
    },
    get sequence() {
      return sequence;
    },
    flush,
    [Symbol.dispose]: () => {
      timer?.[Symbol.dispose]();
      listeners.clear();
    },
  };
}

function sendRows(
  send: (name: EventName, payload: unknown) => void,
  runId: string,
  changed: readonly EpisodeRow[],
): void {
  for (let from = 0; from < changed.length; from += maxRowsPerMessage) {
    send('run.episodes', { runId, rows: changed.slice(from, from + maxRowsPerMessage) });
  }
}
