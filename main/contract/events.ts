// Events the engine tells its hosts: name -> payload. A host numbers what it sends (`sequence`), coalesces to at
// most ten messages a second, and a client that missed some asks for a snapshot (`runs.live`, `runs.episodes`).
import { z } from 'zod';
import { guardView, liveRun } from './requests.ts';
import { nodesetSummary } from './nodeset.ts';
import { episodeRow, runListItem, runStatus } from './run.ts';
import { canvasEvents } from './play.ts';
import { errorInfo } from './error.ts';

export const events = {
  ...canvasEvents,
  /** Any change of a run worth a new line in History; carries the line. */
  'run.changed': z.object({ runId: z.string(), item: runListItem }),
  'run.stage': z.object({ runId: z.string(), stage: z.string(), elapsedMs: z.number() }),
  /** Lanes, counts, cards: replaces the previous one. */
  'run.live': z.object({ runId: z.string(), live: liveRun }),
  /** Rows that changed since the last one (an attempt became durable, an episode started). */
  'run.episodes': z.object({ runId: z.string(), rows: z.array(episodeRow) }),
  'run.finished': z.object({
    runId: z.string(),
    status: runStatus,
    error: errorInfo.nullable(),
    item: runListItem,
  }),
  'run.deleted': z.object({ runId: z.string() }),
  'queue.changed': z.object({ runIds: z.array(z.string()) }),
  'guard.changed': guardView,
  'nodeset.changed': z.object({ nodeset: nodesetSummary }),
  'graphs.changed': z.object({}),
  /** Something a person should know that belongs to no request: recovery, low disk, a slot down. */
  notice: z.object({
    level: z.enum(['info', 'warning', 'error']),
    message: z.string(),
    runId: z.string().nullable().default(null),
  }),
} as const satisfies Record<string, z.ZodType>;

export type EventName = keyof typeof events;
