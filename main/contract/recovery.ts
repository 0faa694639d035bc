// What the engine found and mended when it took over a workspace: what happened, what was lost, what to do, and the one
// thing that a button does about it.
import { z } from 'zod';

export const recoveryItem = z.object({
  /** The same for the same finding, also after a restart. */
  id: z.string(),
  kind: z.enum([
    'interrupted_run',
    'ended_run',
    'unreadable_run',
    'damaged_settings',
    'rebuilt_index',
    'stale_owner',
  ]),
  runId: z.string().nullable(),
  happened: z.string(),
  lost: z.string(),
  toDo: z.string(),
  action: z.enum(['resume', 'open_run', 'open_history', 'open_settings', 'acknowledge']),
});
export type RecoveryItem = z.infer<typeof recoveryItem>;

const nothing = z.strictObject({});

export const recoveryRequests = {
  /** What is still so: an interrupted run that was resumed or deleted is left out. */
  'app.recovery': { input: nothing, output: z.object({ items: z.array(recoveryItem) }) },
  'app.acknowledgeRecovery': { input: z.strictObject({ id: z.string().max(300) }), output: nothing },
} as const;
