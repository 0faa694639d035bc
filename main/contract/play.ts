// The canvas: saving an edited graph without loss, and Play, which runs one execution of it under the guard. State is
// told as it changes; values are fetched by whoever looks at them, so that a hidden canvas costs nothing.
import { z } from 'zod';
import { chatUsage } from './chat.ts';
import { errorInfo } from './error.ts';
import { diagnostic, graphDefinition } from './graph.ts';
import { panelInfo, panelState } from './nodeset.ts';
import { metricValue } from './run.ts';

const nothing = z.strictObject({});

export const playStatus = z.enum(['idle', 'preparing', 'running', 'paused', 'stopping', 'finished']);
export type PlayStatus = z.infer<typeof playStatus>;

export const playError = z.object({
  nodeId: z.string(),
  /** `composite > inner`. */
  path: z.string(),
  step: z.number().int(),
  message: z.string(),
});

export const playResult = z.object({
  status: z.enum(['completed', 'stopped', 'error']),
  steps: z.number().int(),
  /** A cap that was hit: a result, not an error. */
  limit: z.enum(['step_budget']).nullable(),
  harvest: z.record(z.string(), metricValue),
  nodeErrors: z.array(playError),
  error: errorInfo.nullable(),
  durationMs: z.number(),
});
export type PlayResult = z.infer<typeof playResult>;

/** An environment of the prepared graph. */
export const playPanel = z.object({ nodeset: z.string(), info: panelInfo, state: panelState });
export type PlayPanel = z.infer<typeof playPanel>;

export const playView = z.object({
  /** Rises with every view that is given out: an older one that comes late is dropped. */
  revision: z.number().int(),
  status: playStatus,
  /** Differs from one Play to the next; null before the first. */
  executionId: z.string().nullable(),
  graphName: z.string(),
  graphRef: z.string().nullable(),
  /** What loading is at, while it lasts. */
  stage: z.string().nullable(),
  /** Why the last preparation failed. */
  error: errorInfo.nullable(),
  /** Iterations of the root loop so far. */
  step: z.number().int(),
  stepBudget: z.number().int().nullable(),
  firings: z.number().int(),
  stepDelayMs: z.number(),
  seed: z.number().int(),
  /** Boundaries `play.restore` can go back to; only graphs with containers keep some. */
  checkpoints: z.array(z.number().int()),
  /** True while the processes of the nodesets are up, also between two Plays. */
  isPrepared: z.boolean(),
  panels: z.array(playPanel),
  result: playResult.nullable(),
  /** What language models used in it so far; absent when none was asked. */
  usage: chatUsage.optional(),
});
export type PlayView = z.infer<typeof playView>;

/** What one node did so far. Ids are those of the flat graph: `composite__inner`. */
export const playedNode = z.object({
  nodeId: z.string(),
  path: z.string(),
  isFiring: z.boolean(),
  firings: z.number().int(),
  /** Root iteration of the last firing, from 0. */
  step: z.number().int(),
  lastMs: z.number().nullable(),
  totalMs: z.number(),
  error: z.string().nullable(),
  hasLog: z.boolean(),
});
export type PlayedNode = z.infer<typeof playedNode>;

/** A value in a form that can be drawn. Images are PNG; numbers of points are little-endian float32, x y z. */
export const shownValue = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('image'),
    mimeType: z.string(),
    base64: z.string(),
    width: z.number().int(),
    height: z.number().int(),
    note: z.string(),
  }),
  z.object({ kind: z.literal('text'), text: z.string(), isCut: z.boolean() }),
  z.object({ kind: z.literal('number'), value: metricValue }),
  z.object({ kind: z.literal('flag'), value: z.boolean() }),
  z.object({ kind: z.literal('empty') }),
  z.object({ kind: z.literal('table'), rows: z.array(z.object({ name: z.string(), value: z.string() })) }),
  z.object({
    kind: z.literal('points'),
    base64: z.string(),
    count: z.number().int(),
    shown: z.number().int(),
  }),
  z.object({ kind: z.literal('pose'), position: z.array(z.number()), orientation: z.array(z.number()) }),
]);
export type ShownValue = z.infer<typeof shownValue>;

export const shownPort = z.object({ port: z.string(), value: shownValue });

/** What a viewer received. `entries` are new since the asked version, oldest first; bounded by the engine. */
export const viewerFrame = z.object({
  nodeId: z.string(),
  nodeType: z.string(),
  version: z.number().int(),
  entries: z.array(z.object({ step: z.number().int(), fields: z.array(shownPort) })),
  /** Entries the engine let go before they were asked for. */
  dropped: z.number().int(),
});
export type ViewerFrame = z.infer<typeof viewerFrame>;

/** `ref` is null for a graph that has no file yet. */
const playedGraph = z.strictObject({ name: z.string(), ref: z.string().nullable() });
const savedGraph = z.object({ ref: z.string(), text: z.string(), diagnostics: z.array(diagnostic) });
const panelAddress = { nodeset: z.string(), name: z.string() };

export const canvasRequests = {
  /** Edits the original text; refused with `conflict` when the file is no longer that text, unless `overwrite`. */
  'graphs.saveEdited': {
    input: z.strictObject({
      ref: z.string(),
      originalText: z.string(),
      definition: graphDefinition,
      overwrite: z.boolean().default(false),
    }),
    output: savedGraph,
  },
  /** A new file in the workspace under a free name; the text stays the original's where there is one. */
  'graphs.saveCopy': {
    input: z.strictObject({
      name: z.string().min(1).max(80),
      originalText: z.string().nullable(),
      definition: graphDefinition,
    }),
    output: savedGraph,
  },
  'play.state': { input: nothing, output: z.object({ view: playView, nodes: z.array(playedNode) }) },
  /** Starts the processes the graph needs and reads its environments, without running anything. */
  'play.prepare': {
    input: z.strictObject({ definition: graphDefinition, graph: playedGraph }),
    output: playView,
  },
  /** Takes the guard; throws `guard_busy` while a batch or another Play has it. */
  'play.start': {
    input: z.strictObject({
      definition: graphDefinition,
      graph: playedGraph,
      seed: z.number().int().min(0).max(0xffff_ffff).default(0),
      stepBudget: z.number().int().min(1).nullable().default(null),
      stepDelayMs: z.number().min(0).max(60_000).default(0),
      /** Start and stop again after one firing or iteration. */
      first: z.enum(['run', 'firing', 'iteration']).default('run'),
    }),
    output: playView,
  },
  'play.pause': { input: nothing, output: playView },
  'play.resume': { input: nothing, output: playView },
  'play.step': { input: z.strictObject({ unit: z.enum(['firing', 'iteration']) }), output: playView },
  /** Ends the run before the next firing; `now` does not wait for the node that is firing. */
  'play.stop': { input: z.strictObject({ now: z.boolean().default(false) }), output: playView },
  'play.restore': { input: z.strictObject({ step: z.number().int().nonnegative() }), output: playView },
  'play.delay': { input: z.strictObject({ stepDelayMs: z.number().min(0).max(60_000) }), output: playView },
  /** Ends the processes; Play starts them again. */
  'play.release': { input: nothing, output: playView },
  /** Last inputs, outputs, inner log and error of one node of the flat graph. */
  'play.node': {
    input: z.strictObject({ nodeId: z.string() }),
    output: z
      .object({
        node: playedNode,
        inputs: z.array(shownPort),
        outputs: z.array(shownPort),
        log: z.array(z.object({ key: z.string(), value: shownValue })),
      })
      .nullable(),
  },
  /** What viewers received since the versions the asker knows. */
  'play.viewers': {
    input: z.strictObject({ known: z.record(z.string(), z.number().int()).default({}) }),
    output: z.object({ executionId: z.string().nullable(), frames: z.array(viewerFrame) }),
  },
  'panel.field': {
    input: z.strictObject({ ...panelAddress, value: z.unknown() }),
    output: playView,
  },
  'panel.action': { input: z.strictObject(panelAddress), output: playView },
  'panel.options': {
    input: z.strictObject(panelAddress),
    output: z.object({ options: z.array(z.unknown()) }),
  },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;

export const canvasEvents = {
  /** Replaces the previous one; at most every 60 ms. */
  'play.changed': playView,
  /** Nodes that changed since the last one, at most every 60 ms, and viewers that have something new. */
  'play.firing': z.object({
    executionId: z.string(),
    nodes: z.array(playedNode),
    viewers: z.array(z.string()),
  }),
} as const satisfies Record<string, z.ZodType>;
