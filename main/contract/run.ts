// Runs, episodes and numbers as they are stored and shown.
import { z } from 'zod';
import { chatUsage } from './chat.ts';
import { errorInfo } from './error.ts';
import { evalConfig } from './eval-config.ts';
import { metricDefinition } from './nodeset.ts';

export const runStatus = z.enum([
  'queued',
  'preparing',
  'running',
  'stopping',
  'paused',
  'completed',
  'completed_with_errors',
  'cancelled',
  'failed',
  'interrupted',
]);
export type RunStatus = z.infer<typeof runStatus>;

/** Outcomes that are written. `pending`, `running` and `cancelled` are the plan minus the final lines. */
export const episodeOutcome = z.enum(['completed', 'error', 'timeout', 'died', 'no_verdict']);
export type EpisodeOutcome = z.infer<typeof episodeOutcome>;

export const episodeStatus = z.enum([...episodeOutcome.options, 'pending', 'running', 'cancelled']);
export type EpisodeStatus = z.infer<typeof episodeStatus>;

/** One planned (episode, repeat). `key` names its folder: ordinal plus 8 hex of a hash. */
export const plannedEpisode = z.object({
  ordinal: z.number().int().nonnegative(),
  key: z.string(),
  /** Index in the split; null when chosen by id in an environment without indices. */
  episodeIndex: z.number().int().nullable(),
  episodeId: z.string().nullable(),
  repeat: z.number().int().nonnegative(),
  /** 32-bit policy seed: run seed, episode identity and repeat; the same for retries. */
  seed: z.number().int(),
});
export type PlannedEpisode = z.infer<typeof plannedEpisode>;

/** Finite number, a typed non-finite value, or null = not measured. */
export const metricValue = z.union([z.number(), z.enum(['nan', 'inf', '-inf']), z.null()]);
export type MetricValue = z.infer<typeof metricValue>;

export const episodeError = errorInfo.extend({
  exitCode: z.number().int().nullable().optional(),
  signal: z.string().nullable().optional(),
  stderrTail: z.array(z.string()).optional(),
});
export type EpisodeError = z.infer<typeof episodeError>;

/** One attempt at one planned episode: a line of episodes.jsonl. Exactly one per (ordinal) has final: true. */
export const episodeAttempt = z.object({
  ordinal: z.number().int().nonnegative(),
  key: z.string(),
  episodeIndex: z.number().int().nullable(),
  episodeId: z.string().nullable(),
  sceneId: z.string().nullable(),
  instruction: z.string().nullable().default(null),
  repeat: z.number().int().nonnegative(),
  seed: z.number().int(),
  attempt: z.number().int().min(1),
  epoch: z.number().int().nonnegative(),
  final: z.boolean(),
  status: episodeOutcome,
  metrics: z.record(z.string(), metricValue),
  steps: z.number().int().nonnegative(),
  stepBudget: z.number().int().positive(),
  /** A cap that was hit: a result, not an error. */
  limit: z.enum(['step_budget', 'truncated']).nullable().default(null),
  startedAt: z.string(),
  durationMs: z.number().nonnegative(),
  worker: z.number().int().nonnegative(),
  replica: z.string().nullable(),
  error: episodeError.nullable(),
  nodeErrors: z
    .array(z.object({ nodePath: z.string(), message: z.string(), step: z.number().int() }))
    .default([]),
  recording: z.enum(['none', 'kept', 'failed']).default('none'),
  /** What language models used in it; absent when none was asked. */
  usage: chatUsage.nullable().optional(),
});
export type EpisodeAttempt = z.infer<typeof episodeAttempt>;

/** A row of the episode table: the plan joined with the last attempt. Null fields are not known yet. */
export const episodeRow = z.object({
  ordinal: z.number().int(),
  key: z.string(),
  episodeIndex: z.number().int().nullable(),
  episodeId: z.string().nullable(),
  sceneId: z.string().nullable(),
  instruction: z.string().nullable(),
  repeat: z.number().int(),
  status: episodeStatus,
  attempts: z.number().int(),
  metrics: z.record(z.string(), metricValue),
  steps: z.number().int().nullable(),
  durationMs: z.number().nullable(),
  worker: z.number().int().nullable(),
  limit: z.string().nullable(),
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
  /** True when the last attempt ended otherwise than the first. */
  retried: z.boolean(),
  /** When the last attempt began (ISO time): throughput over time is drawn from it and `durationMs`. */
  startedAt: z.string().nullable().optional(),
  /** What language models used in the last attempt. */
  usage: chatUsage.nullable().optional(),
});
export type EpisodeRow = z.infer<typeof episodeRow>;

/** Counts always add up: planned = completed + error + timeout + died + noVerdict + notRun. */
export const runCounts = z.object({
  planned: z.number().int(),
  completed: z.number().int(),
  error: z.number().int(),
  timeout: z.number().int(),
  died: z.number().int(),
  noVerdict: z.number().int(),
  notRun: z.number().int(),
  /** Of `notRun`: in flight now. */
  running: z.number().int(),
  retried: z.number().int(),
});
export type RunCounts = z.infer<typeof runCounts>;

export const estimate = z.object({
  n: z.number().int(),
  mean: z.number().nullable(),
  /** 95 % interval; `t` only while a run is live (of per-episode clusters when episodes are repeated). */
  low: z.number().nullable(),
  high: z.number().nullable(),
  method: z.enum(['wilson', 't', 'bootstrap', 'bootstrap_clustered', 'none']),
  median: z.number().nullable(),
  /** Sample standard deviation. */
  sd: z.number().nullable(),
  /** Values that were not finite: left out of mean and interval, counted here. */
  nonFinite: z.number().int(),
});
export type Estimate = z.infer<typeof estimate>;

/** A metric given twice; `headline` says which one leads (`started` unless the worst value is unknown). */
export const metricSummary = z.object({
  definition: metricDefinition,
  completed: estimate,
  started: estimate.nullable(),
  headline: z.enum(['started', 'completed_only']),
  /** Episodes with a measured value, and episodes started and not cancelled. */
  measured: z.number().int(),
  of: z.number().int(),
  /** True while planned episodes are not run. */
  partial: z.boolean(),
});
export type MetricSummary = z.infer<typeof metricSummary>;

export const runFlag = z.object({ kind: z.string(), metric: z.string().nullable(), message: z.string() });

export const runSummary = z.object({
  counts: runCounts,
  metrics: z.array(metricSummary),
  flags: z.array(runFlag).default([]),
  meanSteps: z.number().nullable(),
  meanDurationMs: z.number().nullable(),
  /** Of language models, over every attempt on record; absent when none was asked. */
  usage: chatUsage.nullable().optional(),
});
export type RunSummary = z.infer<typeof runSummary>;

export const provenance = z.looseObject({
  appVersion: z.string(),
  gitCommit: z.string().nullable(),
  graphHash: z.string(),
  nodesets: z.array(z.looseObject({ name: z.string(), sourceHash: z.string() })),
  interpreters: z.array(z.looseObject({ path: z.string(), version: z.string() })).default([]),
  models: z.array(z.object({ path: z.string(), hash: z.string() })).default([]),
  host: z.string(),
  os: z.string(),
  cpu: z.string(),
  cores: z.number().int(),
  memoryBytes: z.number(),
  gpu: z.string().nullable(),
});
export type Provenance = z.infer<typeof provenance>;

/** run.json */
export const runRecord = z.object({
  formatVersion: z.literal(1).default(1),
  runId: z.string(),
  name: z.string(),
  parentRun: z.string().nullable().default(null),
  status: runStatus,
  config: evalConfig,
  graphName: z.string(),
  graphPath: z.string(),
  envNodeset: z.string().nullable(),
  envName: z.string().nullable(),
  split: z.string().nullable(),
  metrics: z.array(metricDefinition),
  stepBudget: z.number().int().nullable(),
  perStepBudgetSec: z.number(),
  plan: z.array(plannedEpisode),
  provenance,
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  /** Wall-clock time of all sessions of the run so far. */
  activeMs: z.number(),
  error: errorInfo.nullable(),
  /** Why the run is paused, for people. */
  pausedBecause: z.string().nullable().default(null),
  tags: z.array(z.string()),
  note: z.string(),
  /** Where an imported run came from; its seed is then not known. */
  importedFrom: z.string().optional(),
});
export type RunRecord = z.infer<typeof runRecord>;

/** A line of History. */
export const runListItem = z.object({
  runId: z.string(),
  name: z.string(),
  graphName: z.string(),
  envName: z.string().nullable(),
  split: z.string().nullable(),
  status: runStatus,
  counts: runCounts,
  headline: metricSummary.nullable(),
  workerCount: z.number().int(),
  createdAt: z.string(),
  finishedAt: z.string().nullable(),
  activeMs: z.number(),
  tags: z.array(z.string()),
  note: z.string(),
  parentRun: z.string().nullable(),
});
export type RunListItem = z.infer<typeof runListItem>;

export const workerPhase = z.enum([
  'starting',
  'idle',
  'reset',
  'step',
  'verdict',
  'replacing',
  'down',
  'closed',
]);

/** A worker lane. */
export const workerView = z.object({
  worker: z.number().int(),
  phase: workerPhase,
  phaseSinceMs: z.number(),
  ordinal: z.number().int().nullable(),
  episodeId: z.string().nullable(),
  step: z.number().int(),
  stepBudget: z.number().int().nullable(),
  attempt: z.number().int(),
  pids: z.array(z.number().int()),
  rssBytes: z.number().nullable(),
  idleMs: z.number(),
  deaths: z.number().int(),
  /** Why it is down; null while it is not. */
  downReason: z.string().nullable().optional(),
});
export type WorkerView = z.infer<typeof workerView>;

/** One batched key (node and resolved config) while a run lives. Times are milliseconds. */
export const batchView = z.object({
  nodePath: z.string(),
  key: z.string(),
  callers: z.number().int(),
  waiting: z.number().int(),
  batches: z.number().int(),
  samples: z.number().int(),
  /** Batches by size: index 0 is size 1. */
  sizes: z.array(z.number().int()),
  waitMs: z.object({ median: z.number(), p95: z.number() }).nullable(),
  forwardMs: z.object({ median: z.number(), p95: z.number() }).nullable(),
  samplesPerSecond: z.number().nullable(),
});
export type BatchView = z.infer<typeof batchView>;
