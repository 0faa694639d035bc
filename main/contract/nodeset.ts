// What a nodeset says about itself: nodes, ports, config fields, env panel, evaluation metadata.
// TypeScript is camelCase; Python hosts and files are snake_case (see casing.ts).
import { z } from 'zod';
import { errorCodeNames } from '../base/error-codes.ts';

export const portDefinition = z.object({
  name: z.string(),
  /** A wire type or `LIST[T]` (inputs only). */
  wireType: z.string().default('ANY'),
  description: z.string().default(''),
  optional: z.boolean().default(false),
});
export type PortDefinition = z.infer<typeof portDefinition>;

export const configField = z.looseObject({
  kind: z.enum(['label', 'slider', 'text', 'select', 'toggle', 'textarea', 'number', 'port_list']),
  name: z.string(),
  label: z.string().default(''),
  description: z.string().default(''),
  options: z.array(z.union([z.string(), z.object({ value: z.unknown(), label: z.string() })])).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  step: z.number().optional(),
});
export type ConfigField = z.infer<typeof configField>;

export const displayField = z.looseObject({
  kind: z.string(),
  port: z.string().default(''),
  label: z.string().default(''),
});

export const nodeUi = z.looseObject({
  configFields: z.array(configField).default([]),
  displayFields: z.array(displayField).default([]),
});

export const nodeManifest = z.object({
  /** `<nodeset>__<tool>`, or a built-in name. */
  nodeType: z.string(),
  displayName: z.string(),
  description: z.string().default(''),
  category: z.string().default(''),
  icon: z.string().default(''),
  /** A free word that groups nodes in the palette: environment, policy, viewer, control … */
  kind: z.string().default(''),
  inputPorts: z.array(portDefinition).default([]),
  outputPorts: z.array(portDefinition).default([]),
  configSchema: z.record(z.string(), z.unknown()).default({}),
  defaultConfig: z.record(z.string(), z.unknown()).default({}),
  uiConfig: nodeUi.default({ configFields: [], displayFields: [] }),
  batched: z.boolean().default(false),
  batchDim: z.string().nullish(),
});
export type NodeManifest = z.infer<typeof nodeManifest>;

export const metricDefinition = z.object({
  name: z.string(),
  unit: z.string().default(''),
  kind: z.enum(['rate', 'mean', 'count']).default('mean'),
  /** null = unknown: shown without a direction. */
  higherIsBetter: z.boolean().nullable().default(null),
  /** The value a failed episode counts as; null = unknown, then never the headline. */
  worst: z.number().nullable().default(null),
});
export type MetricDefinition = z.infer<typeof metricDefinition>;

export const evalMetadata = z.object({
  envName: z.string(),
  /** Split names in the panel's order. */
  splits: z.array(z.string()).default([]),
  /** Episodes per split; null = unbounded (then `all` is refused). */
  episodeCounts: z.record(z.string(), z.number().int().nullable()).nullable().default(null),
  metrics: z.array(metricDefinition).default([]),
  supportsSetEpisode: z.boolean().default(true),
  stepBudget: z.number().int().nullable().default(null),
  actionSpace: z.unknown().optional(),
});
export type EvalMetadata = z.infer<typeof evalMetadata>;

export const panelField = z.looseObject({
  name: z.string(),
  kind: z.enum(['select', 'number', 'text', 'slider']),
  label: z.string().default(''),
  options: z.array(z.unknown()).optional(),
  value: z.unknown().optional(),
});
export const panelAction = z.looseObject({
  name: z.string(),
  label: z.string().default(''),
  sideEffect: z.enum(['run_start', 'run_pause', 'run_stop', 'run_step', 'signal', 'none']).default('none'),
  signal: z.string().nullish(),
});
export const panelInfo = z.object({
  fields: z.array(panelField).default([]),
  actions: z.array(panelAction).default([]),
});
export type PanelInfo = z.infer<typeof panelInfo>;

export const currentEpisode = z.looseObject({
  episodeId: z.string().nullish(),
  sceneId: z.string().nullish(),
  instruction: z.string().nullish(),
});
export type CurrentEpisode = z.infer<typeof currentEpisode>;

export const panelState = z.looseObject({
  available: z.boolean().default(true),
  message: z.string().nullish(),
  error: z.string().nullish(),
  /** Current value of every field, in cascade order. */
  values: z.record(z.string(), z.unknown()).default({}),
  currentEpisode: currentEpisode.nullish(),
  episodeCount: z.number().int().nullish(),
  stepBudget: z.number().int().nullish(),
});
export type PanelState = z.infer<typeof panelState>;

export const nodesetManifest = z.object({
  name: z.string(),
  description: z.string().default(''),
  language: z.enum(['typescript', 'python']),
  parallelism: z.enum(['shared', 'replicated']).default('shared'),
  nodes: z.array(nodeManifest).default([]),
  /** State containers the nodeset brings itself, in the graph format's form. */
  containers: z.array(z.record(z.string(), z.unknown())).default([]),
  hasEnvPanel: z.boolean().default(false),
  defaultPerStepBudgetSec: z.number().positive().default(30),
  startupTimeoutSec: z.number().positive().default(1800),
  expectedRamMb: z.number().nullish(),
  expectedVramMb: z.number().nullish(),
  /** Whether several of its environments may share a process; null = it does not say, the user decides. */
  sharesProcess: z.boolean().nullish(),
  /** Deadlines the nodeset declares for itself, seconds: reset, step, call, firstCall. */
  deadlinesSec: z.record(z.string(), z.number()).default({}),
});
export type NodesetManifest = z.infer<typeof nodesetManifest>;

export const nodesetState = z.enum(['found', 'loading', 'loaded', 'failed', 'unloading']);

/** The environment of packages a Python nodeset asks for (`uv:` or a PEP 723 block), which the app builds. */
export const nodesetEnvironment = z.object({
  /** `unneeded`: the default interpreter has the packages already. */
  state: z.enum(['missing', 'building', 'ready', 'failed', 'unneeded']),
  /** Requirement specifiers, as stated. */
  requirements: z.array(z.string()),
  /** Version specifier; empty = any. */
  requiresPython: z.string().default(''),
  /** What builds it on the command line. */
  command: z.string(),
  stage: z.string().optional(),
  elapsedMs: z.number().optional(),
  /** Why it failed. */
  message: z.string().optional(),
  folder: z.string().optional(),
});
export type NodesetEnvironment = z.infer<typeof nodesetEnvironment>;

/** A line of the Nodesets page and of `nodesets list`. */
export const nodesetSummary = z.object({
  name: z.string(),
  description: z.string().default(''),
  source: z.string(),
  origin: z.enum(['library', 'workspace', 'attached', 'builtin']),
  language: z.enum(['typescript', 'python']),
  /** Absent while nothing is known of it: it is not trusted, not built, or failed. */
  parallelism: z.enum(['shared', 'replicated']).optional(),
  state: nodesetState,
  stage: z.string().optional(),
  nodeTypes: z.array(z.string()).default([]),
  sourceHash: z.string().default(''),
  /** Where its code runs: in the engine, in processes of its own, or at a URL the app does not own. */
  mode: z.enum(['local', 'server', 'attached']).optional(),
  /** As the nodeset states it. */
  interpreter: z.string().optional(),
  /** The program that is used, once it is known, and who chose it. */
  interpreterPath: z.string().optional(),
  interpreterFrom: z.enum(['settings', 'nodeset', 'script', 'default']).optional(),
  environment: nodesetEnvironment.optional(),
  error: z.string().optional(),
  errorCode: z.enum(errorCodeNames).optional(),
  /** Of one that is not trusted: the content that was looked at and could be trusted, or why none can. */
  offered: z
    .object({ path: z.string(), hash: z.string().optional(), problem: z.string().optional() })
    .optional(),
  processes: z
    .array(
      z.object({
        name: z.string(),
        pid: z.number().int(),
        rssBytes: z.number().nullable(),
        silentSinceMs: z.number().nullable(),
      }),
    )
    .default([]),
});
export type NodesetSummary = z.infer<typeof nodesetSummary>;
