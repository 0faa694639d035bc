// Shared nodesets by version, one living instance each, ended when the last lease is given back. Sessions that ask
// for the same version at once wait for one start; one that gives up does not take it from the others.
import { withDeadline } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { StudioError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { deadlinesOf } from './deadlines.ts';
import type { LiveNodeset } from './live-nodeset.ts';
import type { LiveStart } from './start-live.ts';
import type { NodesetVersion } from './version.ts';

export interface SharedLease extends AsyncDisposable {
  readonly nodeset: LiveNodeset;
  /** False when it was running before. */
  readonly startedNow: boolean;
}

export interface SharedPoolOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly start: (version: NodesetVersion, start: LiveStart) => Promise<LiveNodeset>;
  /** An instance of this nodeset began or ended. */
  readonly onChange: (name: string) => void;
}

interface Entry {
  readonly version: NodesetVersion;
  readonly starting: Promise<LiveNodeset>;
  readonly stop: AbortController;
  live: LiveNodeset | undefined;
  users: number;
}

/** Process start and import come before the time a nodeset declares for itself. */
const beforeReadyMs = 120_000;

export class SharedPool {
  readonly #options: SharedPoolOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: SharedPoolOptions) {
    this.#options = options;
  }

  /** Running instances of a nodeset, any version. */
  running(name: string): readonly LiveNodeset[] {
    return [...this.#entries.values()].flatMap(({ version, live }) =>
      version.source.name === name && live ? [live] : [],
    );
  }

  isRunning(version: NodesetVersion): boolean {
    return this.#entries.get(keyOf(version))?.live !== undefined;
  }

  async acquire(version: NodesetVersion, start: LiveStart): Promise<SharedLease> {
    const known = this.#entries.get(keyOf(version));
    const entry = known ?? this.#open(version, start);
    entry.users++;
    try {
      const timeoutMs = version.manifest.startupTimeoutSec * 1000 + beforeReadyMs;
      const { clock } = this.#options;
      const nodeset = await withDeadline(entry.starting, {
        clock,
        timeoutMs,
        signal: start.signal,
        what: `loading nodeset "${version.source.name}"`,
      });
      return this.#lease(entry, nodeset, known === undefined);
    } catch (error) {
      await this.#release(entry);
      throw error;
    }
  }

  #open(version: NodesetVersion, start: LiveStart): Entry {
    const stop = new AbortController();
    const starting = this.#options.start(version, { ...start, signal: stop.signal });
    const entry: Entry = { version, starting, stop, live: undefined, users: 0 };
    starting.then(
      (live) => {
        entry.live = live;
        this.#options.onChange(version.source.name);
      },
      () => undefined,
    );
    this.#entries.set(keyOf(version), entry);
    return entry;
  }

  #lease(entry: Entry, nodeset: LiveNodeset, startedNow: boolean): SharedLease {
    let given = true;
    return {
      nodeset,
      startedNow,
      [Symbol.asyncDispose]: async () => {
        if (!given) return;
        given = false;
        await this.#release(entry);
      },
    };
  }

  async #release(entry: Entry): Promise<void> {
    if (--entry.users > 0) return;
    this.#entries.delete(keyOf(entry.version));
    entry.stop.abort(
      new StudioError('aborted', `nodeset "${entry.version.source.name}" is no longer needed`),
    );
    const live = await entry.starting.catch(() => undefined);
    if (live) await this.#end(live);
    this.#options.onChange(entry.version.source.name);
  }

  async #end(live: LiveNodeset): Promise<void> {
    const { clock, logger } = this.#options;
    const { name } = live.manifest;
    const timeoutMs = deadlinesOf(live.manifest).closeMs + 5_000;
    try {
      await withDeadline(Promise.resolve(live[Symbol.asyncDispose]()), {
        clock,
        timeoutMs,
        what: `shutting down nodeset "${name}"`,
      });
    } catch (error) {
      logger.warn('a nodeset did not shut down cleanly', { nodeset: name, error: messageOf(error) });
    }
  }
}

function keyOf({ source, hash }: NodesetVersion): string {
  return `${source.path}\n${hash}`;
}
