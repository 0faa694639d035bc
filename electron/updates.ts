// Updates of an installed, signed app. Nothing is looked for, fetched or asked while a run is active, and nothing is
// installed that the user did not agree to: an evaluation never changes its program by surprise.
import { systemClock, type Clock } from '../main/base/clock.ts';
import type { EventFeed } from '../main/event-feed.ts';
import { askYesNo } from './ask.ts';
import type { BrowserWindow, ElectronApi } from './electron-api.ts';

export const checkIntervalMs = 6 * 60 * 60 * 1000;
/** The next run of a queue begins sooner than this. */
export const quietAfterRunMs = 10_000;

/** What is used of electron-updater. It says what it found through events, before its promises resolve. */
export interface Updater {
  checkForUpdates(): Promise<unknown>;
  downloadUpdate(): Promise<unknown>;
  quitAndInstall(): void;
  on(
    event: 'update-available' | 'update-downloaded',
    listener: (info: { readonly version: string }) => void,
  ): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface Build {
  readonly packaged: boolean;
  readonly signed: boolean;
  readonly platform: NodeJS.Platform;
}

export type UpdateDecision = 'never' | 'after_run' | 'now';

/** Where the system does not verify who signed an update (Linux), updates come as the app itself came. */
export function decideUpdate(
  { packaged, signed, platform }: Build,
  activeRun: string | null,
): UpdateDecision {
  if (!packaged || !signed || (platform !== 'win32' && platform !== 'darwin')) return 'never';
  return activeRun === null ? 'now' : 'after_run';
}

/** What the running app lends: the shell hands it in once its window is there. */
export interface UpdateSurroundings {
  readonly feed: Pick<EventFeed, 'subscribe'>;
  readonly dialog: Pick<ElectronApi['dialog'], 'showMessageBox'>;
  readonly window: () => BrowserWindow | null;
  readonly activeRun: () => string | null;
  readonly logError: (error: unknown) => void;
}

export interface UpdateOptions extends UpdateSurroundings {
  readonly build: Build;
  /** Not called where updates are off. */
  readonly loadUpdater: () => Promise<Updater>;
  readonly clock?: Clock;
}

/** Resolves when updates are set up, or at once where they are off; never rejects. */
export async function startUpdates(options: UpdateOptions): Promise<Disposable> {
  if (decideUpdate(options.build, options.activeRun()) === 'never') return { [Symbol.dispose]: () => {} };
  try {
    return new UpdateCycle(options, await options.loadUpdater());
  } catch (error) {
    options.logError(error);
    return { [Symbol.dispose]: () => {} };
  }
}

/** One step at a time (check, download, offer), each only when it is due and no run is active. */
class UpdateCycle implements Disposable {
  readonly #options: UpdateOptions;
  readonly #updater: Updater;
  readonly #clock: Clock;
  readonly #subscription: Disposable;
  #nextCheck: Disposable | null = null;
  #quiet: Disposable | null = null;
  #checkDue = false;
  #found = false;
  #ready: string | null = null;
  #declined: string | null = null;
  #lastError: unknown = null;
  #busy = false;
  #disposed = false;

  constructor(options: UpdateOptions, updater: Updater) {
    this.#options = options;
    this.#updater = updater;
    this.#clock = options.clock ?? systemClock;
    updater.on('update-available', ({ version }) => {
      if (version === this.#declined) return;
      this.#found = true;
      void this.#advance();
    });
    updater.on('update-downloaded', ({ version }) => {
      this.#ready = version;
      void this.#advance();
    });
    updater.on('error', (error) => this.#note(error));
    this.#subscription = options.feed.subscribe((message) => {
      if (message.name === 'guard.changed') this.#advanceWhenQuiet();
    });
    this.#checkNow();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#subscription[Symbol.dispose]();
    this.#nextCheck?.[Symbol.dispose]();
    this.#quiet?.[Symbol.dispose]();
  }

  #checkNow(): void {
    this.#checkDue = true;
    this.#nextCheck = this.#clock.after(checkIntervalMs, () => this.#checkNow());
    void this.#advance();
  }

  #advanceWhenQuiet(): void {
    this.#quiet?.[Symbol.dispose]();
    this.#quiet = this.#clock.after(quietAfterRunMs, () => void this.#advance());
  }

  async #advance(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let step = this.#nextStep(); step; step = this.#nextStep())
      await step().catch((error: unknown) => this.#note(error));
    this.#busy = false;
  }

  /** A step forgets what called for it before it begins: one that fails waits for the next check. */
  #nextStep(): (() => Promise<void>) | null {
    if (this.#disposed || !this.#mayWork()) return null;
    const ready = this.#ready;
    if (ready !== null) return () => this.#offer(ready);
    if (this.#found) return () => this.#download();
    return this.#checkDue ? () => this.#check() : null;
  }

  async #check(): Promise<void> {
    this.#checkDue = false;
    await this.#updater.checkForUpdates();
  }

  async #download(): Promise<void> {
    this.#found = false;
    await this.#updater.downloadUpdate();
  }

  async #offer(version: string): Promise<void> {
    this.#ready = null;
    if (!(await agreed(this.#options, version))) this.#declined = version;
    else if (this.#mayWork()) this.#updater.quitAndInstall();
    // A run began while the question was open.
    else this.#ready = version;
  }

  #mayWork(): boolean {
    return decideUpdate(this.#options.build, this.#options.activeRun()) === 'now';
  }

  /** The updater raises an error and rejects with the same one. */
  #note(error: unknown): void {
    if (error === this.#lastError) return;
    this.#lastError = error;
    this.#options.logError(error);
  }
}

function agreed(surroundings: UpdateSurroundings, version: string): Promise<boolean> {
  return askYesNo(surroundings, {
    type: 'info',
    message: `AgentCanvas ${version} is ready to install.`,
    detail:
      'The app restarts to install it. “Later” keeps the version you have; the offer comes again at the next start.',
    buttons: ['Later', 'Restart and install'],
  });
}
