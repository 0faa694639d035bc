// Collects what was found and mended when the workspace was taken over, in words for people. Nothing is forgotten until
// somebody acknowledges it or it is no longer so.
import { createHash } from 'node:crypto';
import type { RecoveryItem } from './contract/recovery.ts';
import type { RunStatus } from './contract/run.ts';
import type { RecoveryReport } from './store/ports.ts';
import type { WorkspaceOwner } from './store/workspace-lock.ts';

/** Undefined for a run that is gone. */
export type StatusOf = (runId: string) => Promise<RunStatus | undefined>;

const nothingLost = 'Nothing that was finished is lost.';

export class RecoveryLog {
  readonly #items = new Map<string, RecoveryItem>();

  /** What is still so. */
  async items(statusOf: StatusOf): Promise<RecoveryItem[]> {
    const held = await Promise.all(
      [...this.#items.values()].map(async (item) => ((await isStillSo(item, statusOf)) ? item : undefined)),
    );
    return held.filter((item) => item !== undefined);
  }

  acknowledge(id: string): void {
    this.#items.delete(id);
  }

  addRuns({ interrupted, ended, unreadable }: RecoveryReport): void {
    for (const { runId, missing } of interrupted)
      this.#add('interrupted_run', runId, {
        happened: `AgentCanvas ended while run ${runId} was going on.`,
        lost: nothingLost,
        toDo:
          missing > 0
            ? `Resume runs exactly the ${missing} missing episodes.`
            : 'Resume chooses its episodes and runs them.',
        action: 'resume',
      });
    for (const runId of ended)
      this.#add('ended_run', runId, {
        happened: `AgentCanvas ended just after the last episode of run ${runId}.`,
        lost: 'Nothing is lost: every episode has its result, and its end was written now.',
        toDo: 'Nothing is left to do.',
        action: 'open_run',
      });
    for (const { runId, message } of unreadable)
      this.#add('unreadable_run', runId, {
        happened: `The folder of run ${runId} cannot be read: ${message}`,
        lost: 'Nothing was changed in it.',
        toDo: 'Restore the folder from a copy, or delete the run in History.',
        action: 'open_history',
      });
  }

  addSettings(problem: string): void {
    this.#add('damaged_settings', null, {
      happened: `The settings could not be read: ${problem}`,
      lost: 'The last good settings are used; the damaged file was kept beside them.',
      toDo: 'Look whether they are as you want them.',
      action: 'open_settings',
    });
  }

  addIndex(because: string): void {
    this.#add('rebuilt_index', null, {
      happened: `The index of the runs was damaged (${because}) and was built anew from their folders.`,
      lost: 'Nothing is lost: the folders are the record.',
      toDo: 'Nothing is left to do.',
      action: 'open_history',
    });
  }

  addStaleOwner({ pid, since }: WorkspaceOwner): void {
    this.#add('stale_owner', null, {
      happened: `The last AgentCanvas in this workspace (process ${pid}, since ${since}) ended without closing.`,
      lost: `${nothingLost} What it had started was ended with it.`,
      toDo: 'Nothing is left to do.',
      action: 'acknowledge',
    });
  }

  #add(
    kind: RecoveryItem['kind'],
    runId: string | null,
    words: Pick<RecoveryItem, 'happened' | 'lost' | 'toDo' | 'action'>,
  ): void {
    const id = `${kind}-${createHash('sha256').update(words.happened).digest('hex').slice(0, 12)}`;
    this.#items.set(id, { id, kind, runId, ...words });
  }
}

async function isStillSo({ kind, runId }: RecoveryItem, statusOf: StatusOf): Promise<boolean> {
  if (runId === null) return true;
  const status = await statusOf(runId);
  if (kind === 'unreadable_run') return true;
  return kind === 'interrupted_run' ? status === 'interrupted' : status !== undefined;
}
