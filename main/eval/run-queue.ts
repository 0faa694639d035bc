// Ids of queued runs in order, kept across restarts. Every change is stored before it counts, one after the other.
import { StudioError } from '../base/errors.ts';
import type { QueueStorage } from './ports.ts';

export class RunQueue {
  readonly #storage: QueueStorage;
  readonly #onChange: (runIds: readonly string[]) => void;
  #runIds: readonly string[] = [];
  #lastChange: Promise<void> = Promise.resolve();

  constructor(storage: QueueStorage, onChange: (runIds: readonly string[]) => void) {
    this.#storage = storage;
    this.#onChange = onChange;
  }

  get runIds(): readonly string[] {
    return this.#runIds;
  }

  /** At start; before anything else. */
  async restore(): Promise<void> {
    this.#runIds = [...new Set(await this.#storage.read())];
  }

  async add(runId: string): Promise<void> {
    await this.#change((runIds) => [...runIds.filter((other) => other !== runId), runId]);
  }

  async remove(runId: string): Promise<void> {
    await this.#change((runIds) => runIds.filter((other) => other !== runId));
  }

  /** Throws `conflict` unless it is a new order of the same runs. */
  async reorder(wanted: readonly string[]): Promise<void> {
    await this.#change((runIds) => {
      const isSame = wanted.length === runIds.length && new Set(wanted).size === wanted.length;
      if (isSame && wanted.every((runId) => runIds.includes(runId))) return [...wanted];
      throw new StudioError(
        'conflict',
        'The queue has changed in between. Look at it again and reorder what is there now.',
      );
    });
  }

  #change(edit: (runIds: readonly string[]) => readonly string[]): Promise<void> {
    const change = this.#lastChange.then(() => this.#apply(edit));
    this.#lastChange = change.catch(() => undefined);
    return change;
  }

  async #apply(edit: (runIds: readonly string[]) => readonly string[]): Promise<void> {
    const runIds = edit(this.#runIds);
    await this.#storage.write(runIds);
    this.#runIds = runIds;
    this.#onChange(runIds);
  }
}
