// What a run shows outside its window: task-bar progress, no sleep while it works, a notice when it ends unseen.
import type { EventMessage } from '../main/contract/api.ts';
import type { Engine } from '../main/hosts/engine.ts';
import type { BrowserWindow, ElectronApi } from './electron-api.ts';

export interface RunSignalOptions {
  readonly engine: Engine;
  readonly powerSaveBlocker: ElectronApi['powerSaveBlocker'];
  readonly Notification: ElectronApi['Notification'];
  readonly window: () => BrowserWindow | null;
  readonly showRun: (runId: string) => void;
}

export function connectRunSignals(options: RunSignalOptions): Disposable {
  const { engine, powerSaveBlocker, window } = options;
  let blocker: number | null = null;
  const release = (): void => {
    if (blocker !== null) powerSaveBlocker.stop(blocker);
    blocker = null;
    window()?.setProgressBar(-1);
    window()?.setTitle('AgentCanvas');
  };
  const subscription = engine.feed.subscribe((message) => {
    switch (message.name) {
      case 'guard.changed':
        if (message.payload.holder?.kind === 'eval')
          blocker ??= powerSaveBlocker.start('prevent-app-suspension');
        else release();
        return;
      case 'run.live':
        return showProgress(message, window());
      case 'run.finished':
        return notify(message, options);
      default:
        return;
    }
  });
  return {
    [Symbol.dispose]: () => {
      subscription[Symbol.dispose]();
      release();
    },
  };
}

function showProgress(
  message: Extract<EventMessage, { name: 'run.live' }>,
  window: BrowserWindow | null,
): void {
  const { counts } = message.payload.live.summary;
  if (!window || counts.planned === 0) return;
  const share = (counts.planned - counts.notRun) / counts.planned;
  window.setProgressBar(share);
  window.setTitle(`${Math.floor(share * 100)} % – AgentCanvas`);
}

function notify(
  message: Extract<EventMessage, { name: 'run.finished' }>,
  { Notification, window, showRun }: RunSignalOptions,
): void {
  if (window()?.isFocused() || !Notification.isSupported()) return;
  const { item, runId, status } = message.payload;
  const done = item.counts.planned - item.counts.notRun;
  const notice = new Notification({
    title: `${item.graphName}: ${status.replaceAll('_', ' ')}`,
    body: `${done} of ${item.counts.planned} episodes have run.`,
  });
  notice.on('click', () => showRun(runId));
  notice.show();
}
