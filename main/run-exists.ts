// Whether there is a run, without reading it: the plan of a large one takes a third of a second, which belongs into the
// bulk thread.
import { stat } from 'node:fs/promises';
import { StudioError } from './base/errors.ts';
import type { RunStore } from './store/ports.ts';

/** Answers its folder; throws `not_found`. */
export async function folderOfRun(store: Pick<RunStore, 'folderOf'>, runId: string): Promise<string> {
  const folder = store.folderOf(runId);
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory())
    throw new StudioError('not_found', `There is no run ${runId}; see \`runs list\``);
  return folder;
}
