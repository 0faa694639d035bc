// A journal in memory with the rules of the real one: one final row per episode, only the current token is accepted.
// What it refuses it remembers, so that a test can say how often that happened.
import { StudioError } from '../../base/errors.ts';
import type { EpisodeAttempt, PlannedEpisode } from '../../contract/run.ts';
import type { AttemptJournal, AttemptToken } from '../ports.ts';

export interface FakeJournal extends AttemptJournal {
  readonly rows: readonly EpisodeAttempt[];
  readonly refused: readonly string[];
  finals(): EpisodeAttempt[];
  missing(plan: readonly PlannedEpisode[]): PlannedEpisode[];
}

export interface FakeJournalOptions {
  /** Awaited before a row counts; may reject. */
  readonly beforeAppend?: (attempt: EpisodeAttempt) => Promise<void>;
}

export function createFakeJournal(options: FakeJournalOptions = {}): FakeJournal {
  const rows: EpisodeAttempt[] = [];
  const refused: string[] = [];
  const tokens = new Map<number, AttemptToken>();
  const finals = (): EpisodeAttempt[] =>
    rows.filter((row) => row.final).sort((a, b) => a.ordinal - b.ordinal);
  const refuse = (why: string): never => {
    refused.push(why);
    throw new StudioError('conflict', why);
  };
  return {
    rows,
    refused,
    finals,
    missing(plan) {
      const done = new Set(finals().map((row) => row.ordinal));
      return plan.filter((episode) => !done.has(episode.ordinal));
    },
    beginAttempt(ordinal) {
      const recorded = rows.filter((row) => row.ordinal === ordinal);
      if (recorded.some((row) => row.final)) refuse(`episode ${ordinal} is final`);
      const token = { attempt: recorded.length + 1, epoch: (tokens.get(ordinal)?.epoch ?? 0) + 1 };
      tokens.set(ordinal, token);
      return token;
    },
    async append(attempt) {
      await options.beforeAppend?.(attempt);
      const token = tokens.get(attempt.ordinal);
      if (token?.attempt !== attempt.attempt || token.epoch !== attempt.epoch) {
        refuse(`episode ${attempt.ordinal}: attempt ${attempt.attempt}, epoch ${attempt.epoch} is stale`);
      }
      if (rows.some((row) => row.ordinal === attempt.ordinal && row.final))
        refuse(`second final of ${attempt.ordinal}`);
      rows.push(attempt);
    },
  };
}

export function planOf(count: number): PlannedEpisode[] {
  return Array.from({ length: count }, (_item, ordinal) => ({
    ordinal,
    key: `${ordinal}`,
    episodeIndex: ordinal,
    episodeId: null,
    repeat: 0,
    seed: 1000 + ordinal,
  }));
}
