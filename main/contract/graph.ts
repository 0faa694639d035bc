// The graph file. Field names are literally those of the format (mixed case is the format's); known fields are
// typed, unknown ones kept. Rules beyond shape live in main/graph/validate.
import { z } from 'zod';

export const position = z.looseObject({ x: z.number(), y: z.number() });

export const graphEdge = z.looseObject({
  id: z.string(),
  source: z.string(),
  target: z.string(),
  sourceHandle: z.string().nullish(),
  targetHandle: z.string().nullish(),
});
export type GraphEdge = z.infer<typeof graphEdge>;

export const stateDefinition = z.looseObject({
  type: z.enum(['accumulator', 'lastWrite', 'counter']).default('lastWrite'),
  value_type: z.string().default('ANY'),
  config: z
    .looseObject({ initial_value: z.unknown().optional(), max_size: z.number().nullish() })
    .default({}),
  lifetime: z.enum(['forever', 'step', 'episode', 'run', 'custom']).default('forever'),
  reset_on: z.array(z.string()).default([]),
});
export type StateDefinition = z.infer<typeof stateDefinition>;

export const graphContainer = z.looseObject({
  id: z.string(),
  label: z.string().default(''),
  position: position.optional(),
  states: z.record(z.string(), stateDefinition).default({}),
});
export type GraphContainer = z.infer<typeof graphContainer>;

export const accessGrant = z.looseObject({
  id: z.string().default(''),
  node_id: z.string(),
  container_id: z.string(),
});
export type AccessGrant = z.infer<typeof accessGrant>;

export const hookEvents = [
  'PreNodeExecute',
  'PostNodeExecute',
  'GraphStart',
  'GraphComplete',
  'GraphError',
] as const;
export const graphHook = z.looseObject({
  event: z.enum(hookEvents),
  command: z.string(),
  match_node_type: z.string().default('*'),
  match_node_id: z.string().nullish(),
  timeout_ms: z.number().default(1000),
  enabled: z.boolean().default(true),
});
export type GraphHook = z.infer<typeof graphHook>;

export const graphNode = z.looseObject({
  id: z.string(),
  type: z.string(),
  label: z.string().default(''),
  position: position.default({ x: 0, y: 0 }),
  config: z.record(z.string(), z.unknown()).default({}),
  get subgraph() {
    return graphDefinition.nullish();
  },
});
export type GraphNode = z.infer<typeof graphNode>;

export const graphDefinition = z.looseObject({
  name: z.string().default(''),
  description: z.string().default(''),
  nodes: z.array(graphNode).default([]),
  edges: z.array(graphEdge).default([]),
  containers: z.array(graphContainer).default([]),
  access_grants: z.array(accessGrant).default([]),
  hooks: z.array(graphHook).default([]),
  step_budget: z.number().int().nullish(),
  maxIterations: z.number().int().nullish(),
  eval_graph: z.boolean().default(true),
  kind: z.enum(['graph', 'node']).default('graph'),
  group: z.string().nullish(),
  presetId: z.string().nullish(),
});
export type GraphDefinition = z.infer<typeof graphDefinition>;

/** A finding about a graph. Errors block Play and Start, never opening or saving. */
export const diagnostic = z.object({
  severity: z.enum(['error', 'warning']),
  /** Stable name of the rule, kebab-case. */
  rule: z.string(),
  message: z.string(),
  /** What to do about it. */
  fix: z.string(),
  /** `composite > inner`; empty for the graph itself. */
  nodePath: z.string().default(''),
  edgeId: z.string().optional(),
});
export type Diagnostic = z.infer<typeof diagnostic>;

export const wireTypes = [
  'IMAGE',
  'DEPTH',
  'POSE',
  'DISCRETE_ACTION',
  'CONTROL',
  'TEXT',
  'BOOL',
  'METRICS',
  'ANY',
  'ACTION',
  'OBSERVATION',
  'STEP_RESULT',
] as const;
export type WireType = (typeof wireTypes)[number];
