// Recorded episodes: open one, page its steps and firings, follow its path on the map. Images and long text travel by
// address: `address` is a path of the web host (`/assets/<run>/<episode key>/<name>`) and the same under app-media://.
import { z } from 'zod';
import { episodeStatus, metricValue } from './run.ts';

const nothing = z.strictObject({});

/** `attempt` left out: the last one that was kept. */
const episodeAddress = {
  runId: z.string(),
  ordinal: z.number().int().nonnegative(),
  attempt: z.number().int().min(1).optional(),
};

export const recordedAsset = z.object({ address: z.string(), mimeType: z.string(), bytes: z.number().int() });

/** A value as it was kept. Everything large is an asset. */
export const recordedValue = z.discriminatedUnion('kind', [
  /** Depth is a 16-bit grey PNG: metres = low + grey / 65535 x (high - low). */
  z.object({
    kind: z.literal('image'),
    asset: recordedAsset,
    width: z.number().int(),
    height: z.number().int(),
    isDepth: z.boolean(),
    low: z.number().nullable(),
    high: z.number().nullable(),
  }),
  /** Little-endian bytes in C order when there is an asset, else all numbers are in `preview`. */
  z.object({
    kind: z.literal('tensor'),
    dtype: z.string(),
    shape: z.array(z.number().int()),
    preview: z.array(metricValue),
    asset: recordedAsset.nullable(),
  }),
  /** `asset` holds all of it when it was clipped. */
  z.object({
    kind: z.literal('text'),
    text: z.string(),
    length: z.number().int(),
    asset: recordedAsset.nullable(),
  }),
  z.object({ kind: z.literal('number'), value: metricValue }),
  z.object({ kind: z.literal('flag'), value: z.boolean() }),
  z.object({ kind: z.literal('empty') }),
  /** Lists and objects as JSON text, clipped like text; tensors within are named by dtype and shape. */
  z.object({
    kind: z.literal('json'),
    text: z.string(),
    length: z.number().int(),
    asset: recordedAsset.nullable(),
  }),
]);
export type RecordedValue = z.infer<typeof recordedValue>;

export const recordedPort = z.object({ port: z.string(), value: recordedValue });

export const recordedFiring = z.object({
  /** Line of log.jsonl, from 0. */
  line: z.number().int(),
  step: z.number().int(),
  phase: z.enum(['loop', 'settle', 'verdict']),
  /** Of the flat graph: `composite__inner`. */
  nodeId: z.string(),
  nodeType: z.string(),
  path: z.string(),
  /** Milliseconds since the episode began, at the end of the firing. */
  atMs: z.number(),
  durationMs: z.number(),
  error: z.string().nullable(),
  inputs: z.array(recordedPort),
  outputs: z.array(recordedPort),
  /** The node's own log: prompts, replies, whatever it wrote. */
  log: z.array(z.object({ key: z.string(), value: recordedValue })),
});
export type RecordedFiring = z.infer<typeof recordedFiring>;

/** A source of pictures: an output port that gave images. */
export const imageStream = z.object({
  nodeId: z.string(),
  port: z.string(),
  isDepth: z.boolean(),
  width: z.number().int(),
  height: z.number().int(),
});

/** What a step looks like without its details: enough to play. */
export const recordedStep = z.object({
  step: z.number().int(),
  firings: z.number().int(),
  /** Milliseconds since the episode began, at the end of the step. */
  atMs: z.number(),
  errors: z.number().int(),
  /** Index into `streams` of the opened recording. */
  images: z.array(
    z.object({
      stream: z.number().int(),
      asset: recordedAsset,
      /** Of a depth map: what its darkest and its brightest grey stand for. */
      low: z.number().nullable(),
      high: z.number().nullable(),
    }),
  ),
  action: z.string().nullable(),
  /** x, y, z in the environment's own frame. */
  position: z.array(z.number()).nullable(),
});
export type RecordedStep = z.infer<typeof recordedStep>;

const point = z.array(z.number());

/** Top-down map in metres, x to the right and y up. What is unknown is empty or null. */
export const recordedMap = z.object({
  bounds: z.array(z.number()).length(4).nullable(),
  /** Boxes are min x, min y, max x, max y. */
  rooms: z.array(z.object({ name: z.string(), box: z.array(z.number()) })),
  obstacles: z.array(z.object({ name: z.string(), box: z.array(z.number()) })),
  start: point.nullable(),
  goal: point.nullable(),
  referencePath: z.array(point),
  /** Where it went: one entry per step with a pose, thinned beyond 5,000. `heading` in radians, 0 along x. */
  path: z.array(
    z.object({ step: z.number().int(), x: z.number(), y: z.number(), heading: z.number().nullable() }),
  ),
  /** The environment's own picture of it, when it gives one. */
  image: recordedAsset.nullable(),
});
export type RecordedMap = z.infer<typeof recordedMap>;

export const recordedNode = z.object({
  nodeId: z.string(),
  nodeType: z.string(),
  path: z.string(),
  firings: z.number().int(),
  totalMs: z.number(),
});

export const attemptOutcome = z.object({
  attempt: z.number().int(),
  /** Null when its line was never written. */
  status: episodeStatus.nullable(),
  isKept: z.boolean(),
});

export const openedRecording = z.object({
  runId: z.string(),
  ordinal: z.number().int(),
  key: z.string(),
  attempt: z.number().int(),
  /** Every attempt on record or kept, first to last. */
  attempts: z.array(attemptOutcome),
  episodeId: z.string().nullable(),
  sceneId: z.string().nullable(),
  instruction: z.string().nullable(),
  /** Of this attempt, like metrics and error. Unknown for a run that ended without writing the episode's line. */
  status: episodeStatus.nullable(),
  metrics: z.record(z.string(), metricValue),
  errorMessage: z.string().nullable(),
  graphName: z.string(),
  /** So far, while the log is still being indexed; ask again until `isIndexed`. */
  steps: z.number().int(),
  lines: z.number().int(),
  isIndexed: z.boolean(),
  logBytes: z.number(),
  indexedBytes: z.number(),
  /** True when the recording hit its size limit: later steps are missing. */
  isCut: z.boolean(),
  streams: z.array(imageStream),
  nodes: z.array(recordedNode),
  map: recordedMap.nullable(),
});
export type OpenedRecording = z.infer<typeof openedRecording>;

export const recordedEpisode = z.object({
  ordinal: z.number().int(),
  key: z.string(),
  /** Attempts that were kept, first to last. */
  attempts: z.array(z.number().int()),
  episodeId: z.string().nullable(),
  sceneId: z.string().nullable(),
  instruction: z.string().nullable(),
  repeat: z.number().int(),
  status: episodeStatus,
  metrics: z.record(z.string(), metricValue),
  steps: z.number().int().nullable(),
});
export type RecordedEpisode = z.infer<typeof recordedEpisode>;

export const replayRequests = {
  /** Episodes of a run that have a recording, in the order of the plan. */
  'replay.episodes': {
    input: z.strictObject({
      runId: z.string(),
      statuses: z.array(z.string()).default([]),
      offset: z.number().int().nonnegative().default(0),
      limit: z.number().int().min(1).max(1000).default(200),
    }),
    output: z.object({ rows: z.array(recordedEpisode), total: z.number().int() }),
  },
  /** `not_found` when nothing was kept. Answers at once, also for a log of a gigabyte. */
  'replay.open': { input: z.strictObject(episodeAddress), output: openedRecording },
  'replay.steps': {
    input: z.strictObject({
      ...episodeAddress,
      fromStep: z.number().int().nonnegative().default(0),
      limit: z.number().int().min(1).max(500).default(100),
    }),
    output: z.object({ steps: z.array(recordedStep) }),
  },
  /** The firings of one step, in the order they ended. */
  'replay.firings': {
    input: z.strictObject({
      ...episodeAddress,
      step: z.number().int().nonnegative(),
      offset: z.number().int().nonnegative().default(0),
      limit: z.number().int().min(1).max(200).default(100),
    }),
    output: z.object({ firings: z.array(recordedFiring), total: z.number().int() }),
  },
  /** The log itself, from a line on; with `nodeId` only that node's firings. */
  'replay.log': {
    input: z.strictObject({
      ...episodeAddress,
      fromLine: z.number().int().nonnegative().default(0),
      nodeId: z.string().default(''),
      limit: z.number().int().min(1).max(200).default(50),
    }),
    /** `nextLine` is null at the end of what is indexed. */
    output: z.object({ firings: z.array(recordedFiring), nextLine: z.number().int().nullable() }),
  },
  /** One line per step: time, action, position, heading, errors. */
  'replay.csv': {
    input: z.strictObject(episodeAddress),
    output: z.object({ fileName: z.string(), mimeType: z.string(), content: z.string() }),
  },
  /** Frames (numbered by step), log and steps.csv into a new folder on the engine's machine. */
  'replay.exportFolder': {
    input: z.strictObject({ ...episodeAddress, folder: z.string().min(1).max(4000) }),
    output: z.object({ folder: z.string(), frames: z.number().int(), bytes: z.number() }),
  },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;

export const transferFormat = z.enum(['csv', 'tsv', 'json', 'jsonl', 'latex', 'html', 'parquet', 'zip']);

export const transferRequests = {
  /**
   * A run as a file of any size in the workspace's exports folder. Get it from `path` on the same machine, or from
   * `address` (GET, like assets). `zip` is the whole run and can be imported elsewhere; it takes no filter.
   */
  'runs.exportFile': {
    input: z.strictObject({
      runId: z.string(),
      format: transferFormat,
      filter: z.string().max(2000).default(''),
    }),
    output: z.object({
      fileName: z.string(),
      mimeType: z.string(),
      bytes: z.number(),
      path: z.string(),
      address: z.string(),
    }),
  },
  /**
   * A run bundle (zip), a run folder of AgentCanvas, or JSON of metrics by episode id (docs/import-export.md). `path`
   * is a file or folder on the engine's machine; `upload` is what POST /uploads/<file name> answered.
   */
  'runs.import': {
    input: z.strictObject({
      path: z.string().max(4000).optional(),
      upload: z.string().max(200).optional(),
      name: z.string().max(200).default(''),
      environment: z.string().max(200).default(''),
      split: z.string().max(200).default(''),
      /** Steps per episode, if known; without it the run's budget is unknown and comparisons say so. */
      stepBudget: z.number().int().positive().optional(),
    }),
    output: z.object({
      runId: z.string(),
      kind: z.enum(['bundle', 'agentcanvas_folder', 'episode_metrics']),
      episodes: z.number().int(),
      warnings: z.array(z.string()),
    }),
  },
  /** Uploads that no import took are removed at the next start. */
  'runs.dropUpload': { input: z.strictObject({ upload: z.string() }), output: nothing },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;
