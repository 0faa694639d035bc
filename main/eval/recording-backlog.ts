// Kept recordings that the bulk thread still has to put in order. Whoever wants to read one asks here as well: two that
// put one recording in order at once would move each other's files.
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { BulkWork } from '../store/bulk-work.ts';
import type { FileSystemPort } from '../store/ports.ts';
import { scratchFolderName } from '../store/recording-format.ts';

export interface RecordingBacklogOptions {
  readonly fileSystem: FileSystemPort;
  readonly bulk: Pick<BulkWork, 'run'>;
  readonly logger: Logger;
}

/** Waiting recordings beyond this make the next episode wait. */
const largestBacklog = 8;

export class RecordingBacklog {
  readonly #options: RecordingBacklogOptions;
  /** The last turn of each episode folder. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(options: RecordingBacklogOptions) {
    this.#options = options;
  }

  /** Resolves at once while there is room. */
  async add(episodeFolder: string): Promise<void> {
    void this.#finish(episodeFolder).catch((error: unknown) => {
      // The scratch stays whole: it is put in order when it is first opened.
      this.#options.logger.warn('a recording waits to be put in order', {
        episodeFolder,
        error: messageOf(error),
      });
    });
    if (this.#turns.size > largestBacklog) await Promise.race(this.#turns.values());
  }

  /** Resolves when nothing of the episode waits. Rejects with what kept it from being put in order. */
  async inOrder(episodeFolder: string): Promise<void> {
    await this.#turns.get(episodeFolder);
    const entries = await this.#options.fileSystem.listFolder(episodeFolder);
    if (entries.some(({ name, isFolder }) => isFolder && scratchFolderName.test(name)))
      await this.#finish(episodeFolder);
  }

  async settled(): Promise<void> {
    while (this.#turns.size > 0) await Promise.all(this.#turns.values());
  }

  async #finish(episodeFolder: string): Promise<void> {
    const before = this.#turns.get(episodeFolder);
    const finishing = (async () => {
      await before;
      await this.#options.bulk.run('finishRecordings', { episodeFolder });
    })();
    const turn = finishing
      .catch(() => undefined)
      .finally(() => {
        if (this.#turns.get(episodeFolder) === turn) this.#turns.delete(episodeFolder);
      });
    this.#turns.set(episodeFolder, turn);
    await finishing;
  }
}
