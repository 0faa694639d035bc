// Settings of one workspace's owner; every limit a user may want to move, with its default.
import { z } from 'zod';
import { savedConnection, spawnerSettings } from './spawners.ts';
import { chatSettings } from './chat.ts';

export const deadlines = z.object({
  handshakeSec: z.number().positive().default(60),
  readySec: z.number().positive().default(1800),
  resetSec: z.number().positive().default(120),
  stepSec: z.number().positive().default(60),
  callSec: z.number().positive().default(120),
  firstCallSec: z.number().positive().default(1800),
  batchSec: z.number().positive().default(120),
  closeSec: z.number().positive().default(10),
});
export type Deadlines = z.infer<typeof deadlines>;

export const processLimits = z.object({
  crashBudget: z.number().int().min(1).max(100).default(3),
  recycleAfterEpisodes: z.number().int().min(1).nullable().default(null),
  recycleAboveMb: z.number().positive().nullable().default(null),
  pauseBelowFreeMb: z.number().nonnegative().default(500),
});
export type ProcessLimits = z.infer<typeof processLimits>;

/** A nodeset server at a URL that the app does not own. */
export const attachment = z.object({
  /** Name of the nodeset here; its node types begin with it. */
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]*$/),
  url: z.url({ protocol: /^https?$/ }),
  /** Environment variable that holds the bearer token; empty = none. The token itself is never stored. */
  tokenEnv: z.string().default(''),
});
export type Attachment = z.infer<typeof attachment>;

export const settings = z.object({
  appearance: z.object({ theme: z.enum(['system', 'light', 'dark']).default('system') }).prefault({}),
  python: z
    .string()
    .default('')
    .describe('Interpreter for Python nodesets that name none; empty = python3 on PATH'),
  nodesetFolders: z.array(z.string()).default([]),
  /** Nodeset to the interpreter it shall use, whatever it names itself. */
  interpreters: z.record(z.string(), z.string()).default({}),
  attachments: z.array(attachment).default([]),
  /** Where processes of nodesets run. */
  spawners: spawnerSettings.prefault({}),
  /** Other engines, usually behind SSH. */
  connections: z.array(savedConnection).default([]),
  deadlines: deadlines.prefault({}),
  processLimits: processLimits.prefault({}),
  perStepBudgetSec: z.number().positive().nullable().default(null),
  chat: chatSettings.prefault({}),
});
export type Settings = z.infer<typeof settings>;
