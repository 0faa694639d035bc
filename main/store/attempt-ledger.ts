// Which episodes of a plan have their final row, how many attempts are on record, and who may write next. Pure
// bookkeeping: the rule "exactly one final row per planned episode" is kept here and nowhere else.
import { StudioError } from '../base/errors.ts';
import type { EpisodeAttempt, PlannedEpisode } from '../contract/run.ts';
import type { AttemptToken, RefusalCounts } from './ports.ts';

interface Entry {
  readonly planned: PlannedEpisode;
  attempts: number;
  /** `reserved`: a row is on its way to the disk. */
  final: 'none' | 'reserved' | 'written';
  current: AttemptToken | undefined;
}

/** A claim on a row's place; exactly one of the two is called. */
export interface Reservation {
  written(): void;
  failed(): void;
}

export class AttemptLedger {
  readonly #entries: ReadonlyMap<number, Entry>;
  readonly #refusals = { secondFinal: 0, staleAttempt: 0, staleEpoch: 0, notPlanned: 0 };
  #lastEpoch = 0;

  constructor(plan: readonly PlannedEpisode[]) {
    this.#entries = new Map(
      plan.map((planned) => [planned.ordinal, { planned, attempts: 0, final: 'none', current: undefined }]),
    );
  }

  get refusals(): RefusalCounts {
    return { ...this.#refusals };
  }

  /** Takes a row found in the journal; says why it does not count, or nothing. */
  replay(row: EpisodeAttempt): 'not planned' | 'surplus final row' | undefined {
    const entry = this.#entries.get(row.ordinal);
    if (!entry || entry.planned.key !== row.key) return 'not planned';
    entry.attempts = Math.max(entry.attempts + 1, row.attempt);
    this.#lastEpoch = Math.max(this.#lastEpoch, row.epoch);
    if (!row.final) return undefined;
    if (entry.final === 'written') return 'surplus final row';
    entry.final = 'written';
    return undefined;
  }

  begin(ordinal: number, epoch?: number): AttemptToken {
    const entry = this.#entry(ordinal);
    if (entry.final !== 'none')
      throw this.#refuse('secondFinal', `episode ${ordinal} already has its final row`);
    this.#lastEpoch = epoch ?? this.#lastEpoch + 1;
    entry.current = { attempt: entry.attempts + 1, epoch: this.#lastEpoch };
    return entry.current;
  }

  attempts(ordinal: number): number {
    return this.#entry(ordinal).attempts;
  }

  missing(): PlannedEpisode[] {
    return [...this.#entries.values()]
      .filter(({ final }) => final !== 'written')
      .map(({ planned }) => planned);
  }

  /** Claims the place of a row about to be written, or throws `conflict` and counts why. */
  reserve(row: EpisodeAttempt): Reservation {
    const entry = this.#entry(row.ordinal);
    const { ordinal } = row;
    if (entry.planned.key !== row.key) throw this.#refuse('notPlanned', `episode ${ordinal} has another key`);
    if (entry.final !== 'none')
      throw this.#refuse('secondFinal', `episode ${ordinal} already has its final row`);
    const expected = entry.current?.attempt ?? entry.attempts + 1;
    if (row.attempt !== expected) {
      throw this.#refuse('staleAttempt', `episode ${ordinal} is at attempt ${expected}, not ${row.attempt}`);
    }
    if (entry.current && row.epoch !== entry.current.epoch) {
      throw this.#refuse(
        'staleEpoch',
        `episode ${ordinal} is at epoch ${entry.current.epoch}, not ${row.epoch}`,
      );
    }
    const before = { attempts: entry.attempts, current: entry.current };
    entry.attempts = row.attempt;
    entry.current = undefined;
    if (row.final) entry.final = 'reserved';
    return {
      written: () => {
        if (row.final) entry.final = 'written';
      },
      failed: () => {
        entry.final = 'none';
        entry.attempts = before.attempts;
        entry.current = before.current;
      },
    };
  }

  #entry(ordinal: number): Entry {
    const entry = this.#entries.get(ordinal);
    if (!entry) throw this.#refuse('notPlanned', `the plan has no episode ${ordinal}`);
    return entry;
  }

  #refuse(reason: keyof RefusalCounts, message: string): StudioError {
    this.#refusals[reason]++;
    return new StudioError('conflict', message, { details: { refused: reason } });
  }
}
