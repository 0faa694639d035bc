// Files of a recorded episode, in `episodes/<key>/`. Readers check everything: a recording may come out of a bundle
// somebody else made.
//   replay.json     what was recorded; its presence says that the recording is complete
//   log.jsonl       one line per firing; large values are references to assets
//   log.index       where each line is (log-index.ts)
//   assets/         files named by the SHA-256 of what they hold
//   scratch_<attempt>_<epoch>/   a recording that is being made, or that still has to be put in order
//   attempt_<n>/    an earlier attempt that was kept as well
import { join } from 'node:path';
import { z } from 'zod';

export const recordingFiles = {
  header: 'replay.json',
  log: 'log.jsonl',
  index: 'log.index',
  indexState: 'log.index.json',
  assets: 'assets',
  /** Raw bytes of arrays and long texts, only while a recording is scratch. */
  blobs: 'blobs.raw',
} as const;

export const assetName = /^[0-9a-f]{64}\.(?:png|txt|json|bin)$/;
export const episodeKeyName = /^[0-9A-Za-z_-]{1,100}$/;

export function scratchName(attempt: number, epoch: number): string {
  return `scratch_${attempt}_${epoch}`;
}

export const scratchFolderName = /^scratch_(\d{1,9})_(\d{1,9})$/;
export const attemptFolderName = /^attempt_(\d{1,9})$/;

export function attemptFolder(episodeFolder: string, attempt: number): string {
  return join(episodeFolder, `attempt_${attempt}`);
}

export const headerNode = z.object({
  nodeId: z.string(),
  nodeType: z.string(),
  path: z.string(),
  firings: z.number().int(),
  totalMs: z.number(),
});

export const headerStream = z.object({
  nodeId: z.string(),
  port: z.string(),
  isDepth: z.boolean(),
  width: z.number().int(),
  height: z.number().int(),
});

/** replay.json */
export const replayHeader = z.object({
  formatVersion: z.literal(1).default(1),
  runId: z.string(),
  ordinal: z.number().int(),
  key: z.string(),
  attempt: z.number().int().min(1),
  epoch: z.number().int().nonnegative(),
  startedAt: z.string(),
  steps: z.number().int(),
  lines: z.number().int(),
  isCut: z.boolean(),
  nodes: z.array(headerNode),
  streams: z.array(headerStream).default([]),
  /** [step, x, y, heading in radians or null] */
  track: z.array(z.array(z.number().nullable())).default([]),
  /** What the environment said about its map, as it said it. */
  map: z.record(z.string(), z.unknown()).nullable().default(null),
  /** Asset of the environment's own picture of the map. */
  mapImage: z.string().nullable().default(null),
});
export type ReplayHeader = z.infer<typeof replayHeader>;

/** In log.jsonl. `at` is a place in blobs.raw while the recording is scratch; `asset` a file name afterwards. */
const blob = { at: z.number().optional(), asset: z.string().optional(), bytes: z.number().optional() };

export const arrayCell = z.object({
  $array: z.object({
    dtype: z.string(),
    shape: z.array(z.number()),
    data: z.array(z.unknown()).optional(),
    image: z.enum(['rgb', 'depth']).optional(),
    low: z.number().nullable().optional(),
    high: z.number().nullable().optional(),
    ...blob,
  }),
});
export type ArrayCell = z.infer<typeof arrayCell>;

export const textCell = z.object({ $text: z.object({ length: z.number(), start: z.string(), ...blob }) });
export type TextCell = z.infer<typeof textCell>;

export const jsonCell = z.object({ $json: z.object({ length: z.number(), start: z.string(), ...blob }) });
export type JsonCell = z.infer<typeof jsonCell>;

export const logLine = z.object({
  step: z.number().int().nonnegative().catch(0),
  node: z.string().catch(''),
  type: z.string().catch(''),
  path: z.string().optional(),
  phase: z.enum(['loop', 'settle', 'verdict']).catch('loop'),
  at: z.number().catch(0),
  ms: z.number().catch(0),
  error: z.string().optional(),
  in: z.record(z.string(), z.unknown()).optional(),
  out: z.record(z.string(), z.unknown()).optional(),
  log: z.array(z.tuple([z.string(), z.unknown()])).optional(),
});
export type LogLine = z.infer<typeof logLine>;
