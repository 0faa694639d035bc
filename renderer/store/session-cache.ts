// The open runs; the two used last are kept so that going back is instant.
import type { Client } from '../api/client.ts';
import { onNextFrame } from './frame-schedule.ts';
import { RunSession } from './run-session.ts';

const keptSessions = 2;

export class SessionCache {
  readonly #client: Client;
  readonly #sessions = new Map<string, RunSession>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** The open run without opening it. */
  peek(runId: string): RunSession | undefined {
    return this.#sessions.get(runId);
  }

  open(runId: string): RunSession {
    const known = this.#sessions.get(runId);
    const session = known ?? new RunSession(runId, this.#client, onNextFrame);
    this.#sessions.delete(runId);
    this.#sessions.set(runId, session);
    for (const [oldest, stale] of this.#sessions) {
      if (this.#sessions.size <= keptSessions) break;
      stale.dispose();
      this.#sessions.delete(oldest);
    }
    if (!known) void session.refresh();
    return session;
  }

  refreshAll(): void {
    for (const session of this.#sessions.values()) void session.refresh();
  }
}
