// Every request of the product: name -> {input, output}. Hosts validate both ends against it; the renderer and the
// command line know nothing else of the engine. Lists are paged: at most 1,000 rows a reply.
import { z } from 'zod';
import { chatRequests } from './chat.ts';
import { diagnostic, graphDefinition } from './graph.ts';
import { compareRequests } from './compare.ts';
import { errorInfo } from './error.ts';
import { evalConfig } from './eval-config.ts';
import { evalMetadata, nodeManifest, nodesetSummary, panelInfo, panelState } from './nodeset.ts';
import {
  batchView,
  episodeAttempt,
  episodeRow,
  runListItem,
  runRecord,
  runSummary,
  workerView,
} from './run.ts';
import { canvasRequests } from './play.ts';
import { recoveryRequests } from './recovery.ts';
import { replayRequests, transferRequests } from './replay.ts';
import { settings } from './settings.ts';

const nothing = z.strictObject({});
const runId = z.strictObject({ runId: z.string() });

export const guardView = z.object({
  holder: z
    .object({ kind: z.enum(['canvas', 'eval']), id: z.string(), label: z.string(), sinceMs: z.number() })
    .nullable(),
});
export type GuardView = z.infer<typeof guardView>;

export const graphListItem = z.object({
  name: z.string(),
  /** Absolute path, or `library:<name>`. */
  ref: z.string(),
  origin: z.enum(['library', 'workspace', 'file']),
  description: z.string(),
  nodesets: z.array(z.string()),
  evalGraph: z.boolean(),
  modifiedAt: z.string(),
});
export type GraphListItem = z.infer<typeof graphListItem>;

export const introspection = z.object({
  graph: graphListItem,
  diagnostics: z.array(diagnostic),
  environments: z.array(
    z.object({
      nodeset: z.string(),
      metadata: evalMetadata.nullable(),
      panel: panelInfo.nullable(),
      panelState: panelState.nullable(),
      perStepBudgetSec: z.number(),
      error: errorInfo.nullable(),
    }),
  ),
  nodesets: z.array(nodesetSummary),
  /** Named by the graph and nowhere to be found. */
  missing: z.array(z.string()),
  /** There, but must still be loaded before anything can be said of them, or failed to load. */
  unloaded: z.array(z.string()).default([]),
  batchedNodes: z.array(z.string()),
  /** A node of the graph is a chat node. */
  asksLanguageModels: z.boolean().optional(),
  stepBudget: z.number().int().nullable(),
  /** From cores and memory. */
  suggestedWorkers: z.number().int(),
});
export type Introspection = z.infer<typeof introspection>;

export const preflightCheck = z.object({
  name: z.string(),
  ok: z.boolean(),
  /** A failed check that does not block. */
  warning: z.boolean().default(false),
  message: z.string(),
  fix: z.string().default(''),
});
export const preflight = z.object({
  ok: z.boolean(),
  checks: z.array(preflightCheck),
  episodes: z.number().int().nullable(),
});
export type Preflight = z.infer<typeof preflight>;

/** All a renderer needs to draw a run after any gap. `sequence` is that of the last event it contains. */
export const liveRun = z.object({
  runId: z.string(),
  sequence: z.number().int(),
  status: runRecord.shape.status,
  stage: z.string().nullable(),
  elapsedMs: z.number(),
  episodesPerSecond: z.number().nullable(),
  remainingMs: z.object({ low: z.number(), high: z.number() }).nullable(),
  workers: z.array(workerView),
  summary: runSummary,
  /** Present while batched nodes exist. */
  batching: z.array(batchView).optional(),
});
export type LiveRun = z.infer<typeof liveRun>;

export const episodeQuery = z.strictObject({
  runId: z.string(),
  offset: z.number().int().nonnegative().default(0),
  limit: z.number().int().min(1).max(1000).default(200),
  /** Columns in order of priority: a row's field, or `metrics.<name>`. */
  sort: z.array(z.strictObject({ column: z.string(), descending: z.boolean().default(false) })).default([]),
  /** `success == 0 && steps > 400`; empty = all. */
  filter: z.string().max(2000).default(''),
  statuses: z.array(z.string()).default([]),
});

const trustedContent = z.object({ path: z.string(), hash: z.string() });

/** Text forms; `runs.exportFile` has these and the binary ones, of any size. */
export const exportFormat = z.enum(['csv', 'tsv', 'json', 'jsonl', 'latex', 'html']);

export const doctorCheck = z.object({
  name: z.string(),
  ok: z.boolean(),
  command: z.string().default(''),
  output: z.string(),
  fix: z.string().default(''),
});

const pageOf = <T extends z.ZodType>(row: T) => z.object({ rows: z.array(row), total: z.number().int() });

export const requests = {
  ...compareRequests,
  ...replayRequests,
  ...transferRequests,
  ...canvasRequests,
  ...chatRequests,
  ...recoveryRequests,
  'app.info': {
    input: nothing,
    output: z.object({
      version: z.string(),
      workspace: z.string(),
      library: z.string(),
      readOnly: z.boolean(),
      host: z.enum(['electron', 'web', 'cli']),
      platform: z.string(),
      /** What this host can do: `openFolder`, `systemBin`, `keyStore`, `notices`. */
      capabilities: z.array(z.string()),
      cores: z.number().int(),
      memoryBytes: z.number(),
      docsUrl: z.string().nullable(),
    }),
  },
  'guard.get': { input: nothing, output: guardView },
  'graphs.list': { input: nothing, output: z.object({ graphs: z.array(graphListItem) }) },
  'graphs.read': {
    input: z.strictObject({ ref: z.string() }),
    output: z.object({
      item: graphListItem,
      text: z.string(),
      definition: graphDefinition,
      diagnostics: z.array(diagnostic),
    }),
  },
  'graphs.validate': {
    input: z.strictObject({ ref: z.string().optional(), text: z.string().optional() }),
    output: z.object({ diagnostics: z.array(diagnostic) }),
  },
  'graphs.introspect': {
    input: z.strictObject({ ref: z.string(), load: z.boolean().default(true) }),
    output: introspection,
  },
  'graphs.save': {
    input: z.strictObject({ ref: z.string(), text: z.string() }),
    output: z.object({ ref: z.string(), diagnostics: z.array(diagnostic) }),
  },
  /** A graph brought in by drop or file dialog: kept in the workspace, never run. */
  'graphs.import': {
    input: z.strictObject({ name: z.string(), text: z.string() }),
    output: z.object({ ref: z.string() }),
  },
  'nodesets.list': { input: nothing, output: z.object({ nodesets: z.array(nodesetSummary) }) },
  'nodesets.nodes': { input: nothing, output: z.object({ nodes: z.array(nodeManifest) }) },
  'nodesets.load': { input: z.strictObject({ name: z.string() }), output: nodesetSummary },
  'nodesets.unload': { input: z.strictObject({ name: z.string() }), output: nothing },
  'nodesets.reload': { input: z.strictObject({ name: z.string() }), output: nodesetSummary },
  'nodesets.rescan': { input: nothing, output: z.object({ nodesets: z.array(nodesetSummary) }) },
  'nodesets.log': {
    input: z.strictObject({ name: z.string() }),
    output: z.object({ lines: z.array(z.string()) }),
  },
  /** Stages come as `nodeset.changed`, lines through `nodesets.log`. With `wait` the reply comes when it is built. */
  'nodesets.buildEnvironment': {
    input: z.strictObject({ name: z.string(), wait: z.boolean().default(true) }),
    output: nodesetSummary,
  },
  'nodesets.cancelBuild': { input: z.strictObject({ name: z.string() }), output: nothing },
  /** Empty: what the nodeset itself names, else the default. */
  'nodesets.setInterpreter': {
    input: z.strictObject({ name: z.string(), interpreter: z.string().max(4000) }),
    output: nodesetSummary,
  },
  'nodesets.attach': {
    input: z.strictObject({
      url: z.string().max(2000),
      tokenEnv: z.string().max(200).default(''),
      /** Default: the server's own name. */
      name: z.string().max(200).optional(),
    }),
    output: nodesetSummary,
  },
  'nodesets.detach': { input: z.strictObject({ name: z.string() }), output: nothing },
  'runs.preflight': { input: z.strictObject({ config: evalConfig }), output: preflight },
  'runs.start': {
    input: z.strictObject({
      config: evalConfig,
      whenBusy: z.enum(['refuse', 'queue']).default('refuse'),
      parentRun: z.string().optional(),
    }),
    output: z.object({ runId: z.string(), queued: z.boolean() }),
  },
  'runs.resume': {
    /** Without `acceptDifferences` a run whose nodesets changed since it started is refused with `conflict`. */
    input: z.strictObject({ runId: z.string(), acceptDifferences: z.boolean().default(false) }),
    output: z.object({ runId: z.string(), missing: z.number().int() }),
  },
  'runs.stop': { input: runId, output: nothing },
  'runs.cancel': { input: runId, output: nothing },
  'runs.list': {
    input: z.strictObject({
      offset: z.number().int().nonnegative().default(0),
      limit: z.number().int().min(1).max(1000).default(200),
      search: z.string().max(500).default(''),
      statuses: z.array(z.string()).default([]),
      sort: z
        .strictObject({ column: z.string(), descending: z.boolean().default(true) })
        .default({ column: 'createdAt', descending: true }),
    }),
    output: pageOf(runListItem),
  },
  'runs.get': {
    input: runId,
    output: z.object({ record: runRecord.omit({ plan: true }), summary: runSummary, folder: z.string() }),
  },
  'runs.live': { input: runId, output: liveRun.nullable() },
  'runs.episodes': { input: episodeQuery, output: pageOf(episodeRow) },
  'runs.attempts': {
    input: z.strictObject({ runId: z.string(), ordinal: z.number().int() }),
    output: z.object({ attempts: z.array(episodeAttempt) }),
  },
  'runs.update': {
    input: z.strictObject({
      runId: z.string(),
      name: z.string().max(200).optional(),
      tags: z.array(z.string()).optional(),
      note: z.string().max(10_000).optional(),
    }),
    output: nothing,
  },
  'runs.delete': {
    input: z.strictObject({ runIds: z.array(z.string()).min(1).max(1000) }),
    output: z.object({ deleted: z.array(z.string()) }),
  },
  'runs.export': {
    input: z.strictObject({ runId: z.string(), format: exportFormat, filter: z.string().default('') }),
    output: z.object({ fileName: z.string(), mimeType: z.string(), content: z.string() }),
  },
  'runs.queue': { input: nothing, output: z.object({ runIds: z.array(z.string()) }) },
  'runs.reorderQueue': { input: z.strictObject({ runIds: z.array(z.string()) }), output: nothing },
  'runs.rebuildIndex': {
    input: nothing,
    output: z.object({ runs: z.number().int(), problems: z.array(z.string()) }),
  },
  /** A PNG or JPEG of what a worker's environment shows now, at most twice a second; null when there is none, as after the run. */
  'runs.frame': {
    input: z.strictObject({ runId: z.string(), worker: z.number().int() }),
    output: z.object({ mimeType: z.string(), base64: z.string(), step: z.number().int() }).nullable(),
  },
  'settings.get': { input: nothing, output: z.object({ settings, path: z.string() }) },
  'settings.set': { input: z.strictObject({ settings }), output: nothing },
  'trust.list': {
    input: nothing,
    output: z.object({ folders: z.array(z.string()), contents: z.array(trustedContent).default([]) }),
  },
  'trust.add': { input: z.strictObject({ folder: z.string() }), output: nothing },
  'trust.remove': { input: z.strictObject({ folder: z.string() }), output: nothing },
  /** A folder of nodesets, or a graph with commands, as long as it is what the hash says. Without one: as it is now. */
  'trust.addContent': {
    input: z.strictObject({ path: z.string(), hash: z.string().max(200).optional() }),
    output: trustedContent,
  },
  'trust.removeContent': { input: z.strictObject({ path: z.string() }), output: nothing },
  'doctor.run': { input: nothing, output: z.object({ ok: z.boolean(), checks: z.array(doctorCheck) }) },
  'shell.openFolder': { input: z.strictObject({ runId: z.string() }), output: nothing },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;

export type RequestName = keyof typeof requests;
