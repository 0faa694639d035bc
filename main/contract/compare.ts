// Comparing runs: what may be compared and why not, tests and intervals, flips, graph and provenance differences, how
// many more episodes. The baseline is always the first run. Long lists are paged; nothing here carries a plan.
import { z } from 'zod';
import { evalConfig } from './eval-config.ts';
import { graphDefinition } from './graph.ts';
import { metricDefinition } from './nodeset.ts';
import { metricSummary, runCounts, runStatus } from './run.ts';

const pair = { baselineRun: z.string(), otherRun: z.string() };
const page = {
  offset: z.number().int().nonnegative().default(0),
  limit: z.number().int().min(1).max(1000).default(200),
};

export const comparabilityReason = z.object({
  /** The other run; the baseline's own id when it is the baseline that is not complete. */
  runId: z.string(),
  kind: z.enum([
    'environment',
    'split',
    'selectors',
    'episodes',
    'budget',
    'unknown_budget',
    'seed',
    'unknown_seed',
    'partial',
  ]),
  message: z.string(),
});

export const flipOutcome = z.enum(['won', 'lost', 'same']);

/** One metric of one other run against the baseline, over the pairs both have. */
export const metricComparison = z.object({
  runId: z.string(),
  metric: metricDefinition,
  /** `started`: failures count as the worst value. */
  basis: z.enum(['started', 'completed_only']),
  pairs: z.number().int(),
  episodes: z.number().int(),
  /** Pairs without a finite value on both sides. */
  leftOut: z.number().int(),
  baselineMean: z.number().nullable(),
  otherMean: z.number().nullable(),
  /** Other minus baseline, with its 95 % interval. */
  difference: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  intervalMethod: z.enum(['bootstrap', 'bootstrap_clustered', 'newcombe', 'none']),
  test: z.enum(['mcnemar_exact', 'sign_flip_exact', 'sign_flip_monte_carlo', 'none']),
  pValue: z.number().nullable(),
  /** Holm over every test of this comparison. */
  adjustedPValue: z.number().nullable(),
  won: z.number().int(),
  lost: z.number().int(),
  same: z.number().int(),
  /** Paired episodes that would show a difference of this size with 80 % power. */
  need: z.object({ needed: z.number(), more: z.number() }).nullable(),
});
export type MetricComparisonView = z.infer<typeof metricComparison>;

export const comparedRun = z.object({
  runId: z.string(),
  name: z.string(),
  graphName: z.string(),
  envName: z.string().nullable(),
  split: z.string().nullable(),
  status: runStatus,
  counts: runCounts,
  metrics: z.array(metricSummary),
  importedFrom: z.string().nullable(),
});

export const comparison = z.object({
  runs: z.array(comparedRun),
  /** Refused: there are reasons and `commonOnly` was not set; `metrics` is then empty. */
  refused: z.boolean(),
  reasons: z.array(comparabilityReason),
  /** In the baseline's order of metrics, for each other run in turn. */
  metrics: z.array(metricComparison),
  /** Metrics that every run defines. */
  sharedMetrics: z.array(metricDefinition),
});
export type Comparison = z.infer<typeof comparison>;

export const flip = z.object({
  outcome: flipOutcome,
  episodeId: z.string().nullable(),
  episodeIndex: z.number().int().nullable(),
  sceneId: z.string().nullable(),
  instruction: z.string().nullable(),
  repeat: z.number().int(),
  baselineOrdinal: z.number().int(),
  otherOrdinal: z.number().int(),
  baselineValue: z.number(),
  otherValue: z.number(),
  difference: z.number(),
  /** True where Replay can open that side. */
  /** Null where the format it came from does not say. */
  baselineSteps: z.number().int().nullable(),
  baselineRecorded: z.boolean(),
  otherRecorded: z.boolean(),
});
export type FlipView = z.infer<typeof flip>;

/** `task`: the same instruction. `length`: words of the instruction. `steps`: of the baseline. */
export const comparisonGroup = z.enum(['scene', 'task', 'length', 'steps', 'repeat']);
export type ComparisonGroup = z.infer<typeof comparisonGroup>;

export const groupDifference = z.object({
  group: z.string(),
  pairs: z.number().int(),
  baselineMean: z.number(),
  otherMean: z.number(),
  difference: z.number(),
  won: z.number().int(),
  lost: z.number().int(),
});

/** Up to 2,000 pairs as points; beyond that counts in a grid of equal cells. */
export const scatter = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('points'),
    total: z.number().int(),
    points: z.array(
      z.object({
        baseline: z.number(),
        other: z.number(),
        outcome: flipOutcome,
        baselineOrdinal: z.number().int(),
        otherOrdinal: z.number().int(),
        episodeId: z.string().nullable(),
      }),
    ),
  }),
  z.object({
    kind: z.literal('bins'),
    total: z.number().int(),
    /** Both axes share this range, so that the diagonal is the diagonal. */
    low: z.number(),
    high: z.number(),
    cellsPerSide: z.number().int(),
    /** Cells that hold something; column counts along the baseline, row along the other. */
    cells: z.array(z.object({ column: z.number().int(), row: z.number().int(), count: z.number().int() })),
  }),
]);
export type Scatter = z.infer<typeof scatter>;

/** Values are JSON text; null = not there. */
export const fieldDifference = z.object({
  field: z.string(),
  baseline: z.string().nullable(),
  other: z.string().nullable(),
});

export const graphDifference = z.object({
  /** True when both run the same: labels and positions do not count. */
  equal: z.boolean(),
  nodes: z.array(
    z.object({
      /** `composite > inner`. */
      path: z.string(),
      change: z.enum(['added', 'removed', 'changed']),
      baselineType: z.string().nullable(),
      otherType: z.string().nullable(),
      fields: z.array(fieldDifference),
    }),
  ),
  edges: z.array(
    z.object({
      change: z.enum(['added', 'removed']),
      /** `node.port`, with the path of the composite it is in. */
      source: z.string(),
      target: z.string(),
    }),
  ),
  /** Containers, grants, hooks, budgets. */
  settings: z.array(fieldDifference),
});
export type GraphDifference = z.infer<typeof graphDifference>;

/** One fact of provenance or configuration; `values` in the order of the asked runs, null = unknown. */
export const provenanceRow = z.object({
  section: z.string(),
  field: z.string(),
  values: z.array(z.string().nullable()),
  differs: z.boolean(),
});

export const recordedDifference = z.object({
  episodeId: z.string().nullable(),
  episodeIndex: z.number().int().nullable(),
  repeat: z.number().int(),
  /** `status`, `steps`, `limit` or a metric's name. */
  field: z.string(),
  baseline: z.union([z.string(), z.number()]).nullable(),
  other: z.union([z.string(), z.number()]).nullable(),
});

export const comparisonFormat = z.enum(['latex', 'tsv', 'csv', 'json', 'html']);

const comparisonInput = {
  /** Baseline first. */
  runIds: z.array(z.string()).min(2).max(20),
  /** Default: all that every run defines. */
  metrics: z.array(z.string()).optional(),
  /** Compare the episodes in common although there are reasons not to. */
  commonOnly: z.boolean().default(false),
};

export const compareRequests = {
  'runs.compare': { input: z.strictObject(comparisonInput), output: comparison },
  /** Largest difference first; pairs that are the same come last. */
  'runs.compareFlips': {
    input: z.strictObject({
      ...pair,
      metric: z.string(),
      outcomes: z.array(flipOutcome).default(['won', 'lost']),
      ...page,
    }),
    output: z.object({
      rows: z.array(flip),
      total: z.number().int(),
      counts: z.object({ won: z.number().int(), lost: z.number().int(), same: z.number().int() }),
    }),
  },
  'runs.compareScatter': { input: z.strictObject({ ...pair, metric: z.string() }), output: scatter },
  /** Largest difference first. A task is what has the same instruction. */
  'runs.compareGroups': {
    input: z.strictObject({ ...pair, metric: z.string(), by: comparisonGroup, ...page }),
    output: z.object({
      rows: z.array(groupDifference),
      total: z.number().int(),
      /** Groupings that tell these pairs apart. */
      groupings: z.array(comparisonGroup).default([]),
    }),
  },
  'runs.compareGraphs': { input: z.strictObject(pair), output: graphDifference },
  /** The graph as it was run. */
  'runs.graph': {
    input: z.strictObject({ runId: z.string() }),
    output: z.object({ definition: graphDefinition }),
  },
  /** Of one run, the provenance panel; of several, side by side with what differs marked. */
  'runs.provenance': {
    input: z.strictObject({ runIds: z.array(z.string()).min(1).max(20) }),
    output: z.object({ rows: z.array(provenanceRow) }),
  },
  /** Episodes needed to see `difference` in a metric: paired with `otherRun`, or this run against another of its size. */
  'runs.episodesNeeded': {
    input: z.strictObject({
      runId: z.string(),
      otherRun: z.string().optional(),
      metric: z.string(),
      difference: z.number().positive(),
      power: z.number().min(0.5).max(0.999).default(0.8),
      alpha: z.number().min(0.0001).max(0.5).default(0.05),
    }),
    output: z.object({
      have: z.number().int(),
      /** Null: no number of episodes would show it, or there are too few values to tell. */
      needed: z.number().int().nullable(),
      more: z.number().int().nullable(),
      /** What was assumed, for people. */
      method: z.string(),
    }),
  },
  /** Starts the same `episodes` of `config` once per worker count, one after the other (the later ones are queued). */
  'runs.parallelCheck': {
    input: z.strictObject({
      config: evalConfig,
      episodes: z.number().int().min(1).max(10_000),
      workerCounts: z.array(z.number().int().min(1).max(256)).min(2).max(6),
    }),
    output: z.object({ runIds: z.array(z.string()) }),
  },
  /** What came of it: everything that should be equal when only the number of workers changed. */
  'runs.parallelDifferences': {
    input: z.strictObject({ ...pair, ...page }),
    output: z.object({
      /** False while one of them is still going on. */
      finished: z.boolean(),
      pairs: z.number().int(),
      rows: z.array(recordedDifference),
      total: z.number().int(),
      episodesPerSecond: z.object({ baseline: z.number().nullable(), other: z.number().nullable() }),
    }),
  },
  /** A table (LaTeX, TSV for the clipboard, CSV), the numbers (JSON), or a report that opens offline (HTML). */
  'runs.exportComparison': {
    input: z.strictObject({ ...comparisonInput, format: comparisonFormat }),
    output: z.object({ fileName: z.string(), mimeType: z.string(), content: z.string() }),
  },
} as const satisfies Record<string, { input: z.ZodType; output: z.ZodType }>;
