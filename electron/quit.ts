// Quitting stops everything the app started, within four seconds, and asks first while a run is active. What was
// running is resumable: committed episodes are on disk.
import { askYesNo } from './ask.ts';
import type { BrowserWindow, ElectronApi } from './electron-api.ts';

export const quitDeadlineMs = 4000;

export interface QuitOptions {
  readonly app: ElectronApi['app'];
  readonly dialog: ElectronApi['dialog'];
  readonly window: () => BrowserWindow | null;
  /** Label of the run that would be stopped; null when nothing runs. */
  readonly activeRun: () => string | null;
  /** Stops the engine and every process of it. */
  readonly stopEngine: () => Promise<void>;
}

export interface QuitFlow {
  /** True from the moment the user agreed (or nothing was running). */
  readonly quitting: boolean;
}

type Stage = 'running' | 'asking' | 'stopping' | 'stopped';

export function installQuit(options: QuitOptions): QuitFlow {
  const { app } = options;
  let stage: Stage = 'running';
  const stop = async (): Promise<void> => {
    stage = 'stopping';
    await Promise.race([
      options.stopEngine().catch(() => {}),
      new Promise((resolve) => setTimeout(resolve, quitDeadlineMs)),
    ]);
    stage = 'stopped';
    app.exit(0);
  };
  app.on('before-quit', (event) => {
    if (stage === 'stopped') return;
    event.preventDefault();
    if (stage !== 'running') return;
    stage = 'asking';
    void agreed(options).then((yes) => (yes ? stop() : void (stage = 'running')));
  });
  return {
    get quitting() {
      return stage === 'stopping' || stage === 'stopped';
    },
  };
}

async function agreed(options: QuitOptions): Promise<boolean> {
  const run = options.activeRun();
  if (run === null) return true;
  return askYesNo(options, {
    type: 'question',
    message: `${run} is still running.`,
    detail:
      'If you quit, the episodes in flight are dropped. Everything that is finished is kept, and the run can be resumed.',
    buttons: ['Keep running', 'Stop and quit'],
  });
}
