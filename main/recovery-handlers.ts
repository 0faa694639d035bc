// Requests about what was found and mended when the workspace was taken over.
import type { RunStatus } from './contract/run.ts';
import type { Handlers } from './dispatch.ts';
import type { RecoveryLog } from './recovery-log.ts';
import type { RunStore } from './store/ports.ts';

export interface RecoveryServices {
  readonly recovery: RecoveryLog;
  readonly store: RunStore;
}

export function createRecoveryHandlers({
  recovery,
  store,
}: RecoveryServices): Pick<Handlers, 'app.recovery' | 'app.acknowledgeRecovery'> {
  return {
    'app.recovery': async () => ({ items: await recovery.items((runId) => statusOf(store, runId)) }),
    'app.acknowledgeRecovery': async ({ id }) => {
      recovery.acknowledge(id);
      return {};
    },
  };
}

/** Undefined for a run that is gone or cannot be read. */
async function statusOf(store: RunStore, runId: string): Promise<RunStatus | undefined> {
  try {
    return (await store.readRecord(runId)).status;
  } catch {
    return undefined;
  }
}
