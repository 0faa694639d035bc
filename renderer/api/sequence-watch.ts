// Notices missed events by their numbers. Pure state, no timers.

export type SequenceOutcome = 'deliver' | 'duplicate' | 'gap';

export class SequenceWatch {
  #last: number | null = null;

  /** Number of the last event seen, or null before the first. */
  get last(): number | null {
    return this.#last;
  }

  /** A jump means missed events; on a new connection a number that is not greater means the engine started anew. */
  see(sequence: number, isFirstOfConnection = false): SequenceOutcome {
    const last = this.#last;
    if (last !== null && sequence <= last && !isFirstOfConnection) return 'duplicate';
    this.#last = sequence;
    if (last === null || sequence === last + 1) return 'deliver';
    return 'gap';
  }

  /** Where a stream stands; what comes next must follow it. */
  startAt(sequence: number): void {
    this.#last = Number.isSafeInteger(sequence) ? sequence : null;
  }
}
