// Why episodes failed, most often first. Messages that differ in their numbers only are one reason.
import type { EpisodeAttempt, RunSummary } from '../contract/run.ts';

/** Beyond so many different reasons further ones are not told apart: memory does not grow with the run. */
const mostReasons = 100;
const shownCharacters = 300;

interface Reason {
  count: number;
  readonly message: string;
  readonly episode: string;
}

export class FailureReasons {
  readonly #reasons = new Map<string, Reason>();
  #failures = 0;

  add({ error, episodeId, ordinal }: EpisodeAttempt): void {
    if (!error) return;
    this.#failures++;
    const [line = ''] = error.message.split('\n');
    const key = `${error.code} ${line.replaceAll(/\d+/g, '#').slice(0, shownCharacters)}`;
    const known = this.#reasons.get(key);
    if (known) known.count++;
    else if (this.#reasons.size < mostReasons)
      this.#reasons.set(key, {
        count: 1,
        message: line.slice(0, shownCharacters),
        episode: episodeId ?? String(ordinal),
      });
  }

  /** Where nothing completed there is no number to speak of, only this. */
  flags(completed: number): RunSummary['flags'] {
    const [first] = [...this.#reasons.values()].sort((a, b) => b.count - a.count);
    if (completed > 0 || !first) return [];
    const share = `${first.count} of ${this.#failures}`;
    const message = `no episode completed; most often (${share}): ${first.message} (first in episode ${first.episode})`;
    return [{ kind: 'all_failed', metric: null, message }];
  }
}
