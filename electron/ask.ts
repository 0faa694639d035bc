// One question with two answers, before the window where there is one.
import type { BrowserWindow, ElectronApi } from './electron-api.ts';

export interface Asking {
  readonly dialog: Pick<ElectronApi['dialog'], 'showMessageBox'>;
  readonly window: () => BrowserWindow | null;
}

export interface YesNoQuestion {
  readonly type: 'info' | 'question';
  readonly message: string;
  readonly detail: string;
  /** The first is no: it is the default, and what Escape means. */
  readonly buttons: readonly [no: string, yes: string];
}

export async function askYesNo({ dialog, window }: Asking, question: YesNoQuestion): Promise<boolean> {
  const box = { ...question, buttons: [...question.buttons], defaultId: 0, cancelId: 0, noLink: true };
  const parent = window();
  const { response } = parent ? await dialog.showMessageBox(parent, box) : await dialog.showMessageBox(box);
  return response === 1;
}
