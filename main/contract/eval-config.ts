// Everything a run can be told. The command line's flags and the form are generated from this schema, so nothing
// exists in one and not in the other. `.meta` gives flag, unit and help.
import { z } from 'zod';
import { spawnPlace } from './spawners.ts';
import { chatRunConfig } from './chat.ts';

export const episodeSelection = z.union([
  z.literal('all'),
  z.number().int().positive(),
  z.strictObject({ indices: z.array(z.number().int().nonnegative()).min(1) }),
  z.strictObject({ sample: z.number().int().positive(), seed: z.number().int().nonnegative().default(0) }),
  z.strictObject({ ids: z.array(z.string()).min(1) }),
]);
export type EpisodeSelection = z.infer<typeof episodeSelection>;

export const recordingPolicy = z.union([
  z.enum(['failures', 'none', 'all']),
  z.string().regex(/^sample:[1-9]\d*$/, 'failures, none, all or sample:<count>'),
]);

export const retryPolicy = z.strictObject({
  attempts: z.number().int().min(1).max(10).default(2).describe('Attempts per episode'),
  on: z
    .array(z.enum(['died', 'timeout', 'error']))
    .default(['died', 'timeout'])
    .describe('Outcomes after which an episode is tried again'),
});

export const batchingConfig = z.strictObject({
  flushPolicy: z
    .enum(['greedy', 'rendezvous'])
    .default('greedy')
    .describe('When batched nodes run: with what has gathered, or when every worker waits'),
  flushTimeoutMs: z
    .number()
    .positive()
    .default(50)
    .describe('Milliseconds a rendezvous waits for the other workers'),
  maxBatch: z.number().int().positive().optional().describe('Largest batch; default: the node’s own'),
});
export type BatchingConfig = z.infer<typeof batchingConfig>;

export const evalConfig = z.strictObject({
  graph: z.string().min(1).describe('Name of a graph in the workspace or library, or a path'),
  envNodeset: z.string().optional().describe('Environment nodeset; needed only when the graph has several'),
  selectors: z
    .record(z.string(), z.string())
    .default({})
    .describe('Env panel selectors in cascade order: dataset, split, task'),
  episodes: episodeSelection
    .default('all')
    .describe('Which episodes: all, a count, a range, ids or a seeded sample'),
  repeats: z.number().int().min(1).max(1000).default(1).describe('Runs of every episode'),
  seed: z.number().int().min(0).max(0xffff_ffff).default(0).describe('Run seed; policy seeds derive from it'),
  workerCount: z
    .number()
    .int()
    .min(1)
    .max(256)
    .default(1)
    .describe('Environment processes that work at once'),
  envsPerProcess: z
    .number()
    .int()
    .min(1)
    .max(256)
    .default(1)
    .describe(
      'Python environments that share a process: faster, but one that dies or hangs restarts the episodes of the others in it',
    ),
  spawner: spawnPlace
    .optional()
    .describe('Where environment processes run; default: the nodeset, then Settings'),
  stepBudget: z
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Steps per episode; default: env panel, graph, 1000'),
  perStepBudgetSec: z
    .number()
    .positive()
    .optional()
    .describe(
      'Wall-clock seconds per step; the episode limit is steps x this; default: the environment’s own',
    ),
  retry: retryPolicy
    .default({ attempts: 2, on: ['died', 'timeout'] })
    .describe('Attempts per episode and for which outcomes'),
  failOn: z
    .number()
    .positive()
    .optional()
    .describe('Stop the run at this many errors (>= 1) or this share (< 1)'),
  strictErrors: z.boolean().default(false).describe('End an episode at its first node error'),
  affinity: z
    .enum(['none', 'scene'])
    .default('none')
    .describe('Keep consecutive episodes of a scene on one worker'),
  recording: recordingPolicy.default('failures').describe('Which episodes keep frames and firing logs'),
  batching: batchingConfig
    .default({ flushPolicy: 'greedy', flushTimeoutMs: 50 })
    .describe('How batched nodes gather calls'),
  chat: chatRunConfig.default({ profile: '', replies: 'live', repliesFrom: '' }).describe('Language models'),
  tags: z.array(z.string()).default([]).describe('Tags of the run'),
  note: z.string().default('').describe('A note kept with the run'),
});
/** A complete configuration, defaults filled in. */
export type EvalConfig = z.infer<typeof evalConfig>;
/** What a caller may leave out. */
export type EvalConfigInput = z.input<typeof evalConfig>;
