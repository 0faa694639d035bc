// Invented graphs, nodesets and finished runs for the preview, always the same.
import { evalConfig, type EvalConfig } from '#contract/eval-config.ts';
import type { MetricDefinition } from '#contract/nodeset.ts';
import type { Introspection } from '#contract/requests.ts';
import type {
  EpisodeRow,
  Estimate,
  MetricSummary,
  RunCounts,
  RunListItem,
  RunStatus,
  RunSummary,
} from '#contract/run.ts';

export const metrics: readonly MetricDefinition[] = [
  { name: 'success', unit: '', kind: 'rate', higherIsBetter: true, worst: 0 },
  { name: 'oracle_success', unit: '', kind: 'rate', higherIsBetter: true, worst: 0 },
  { name: 'spl', unit: '', kind: 'mean', higherIsBetter: true, worst: 0 },
  { name: 'ndtw', unit: '', kind: 'mean', higherIsBetter: true, worst: 0 },
  { name: 'sdtw', unit: '', kind: 'mean', higherIsBetter: true, worst: 0 },
  { name: 'distance_to_goal', unit: 'm', kind: 'mean', higherIsBetter: false, worst: null },
  { name: 'path_length', unit: 'm', kind: 'mean', higherIsBetter: null, worst: null },
  { name: 'steps_taken', unit: '', kind: 'count', higherIsBetter: null, worst: null },
  { name: 'collisions', unit: '', kind: 'count', higherIsBetter: false, worst: null },
];

/** A small seeded generator (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export const graphs = [
  'minivln-policy',
  'minivln-expert',
  'minivln-random',
  'cartpole-dqn',
  'llm-navigator',
].map((name, at) => ({
  name,
  ref: at < 3 ? `library:${name}` : `/home/ada/AgentCanvas/graphs/${name}.json`,
  origin: at < 3 ? ('library' as const) : ('workspace' as const),
  description: [
    'Cross-modal recurrent policy on procedural apartments',
    'The shortest path, for the upper bound',
    'Uniform actions, for the lower bound',
    'A small control task',
    'A language model that is told what it sees',
  ][at] as string,
  nodesets: at < 3 ? ['minivln', 'vln_policy'] : ['cartpole', 'torch_policies'],
  evalGraph: true,
  modifiedAt: '2026-11-28T10:00:00Z',
}));

export function introspectionOf(ref: string, isLoaded: boolean): Introspection {
  const graph = graphs.find((candidate) => candidate.ref === ref) ?? graphs[0];
  if (!graph) throw new Error('There is no graph.');
  return {
    graph,
    diagnostics:
      graph.name === 'llm-navigator'
        ? [
            {
              severity: 'error',
              rule: 'unconnected-input',
              message: 'The input “image” has no wire.',
              fix: 'Connect an IMAGE output to it.',
              nodePath: 'planner > look',
            },
          ]
        : [],
    environments: [
      {
        nodeset: graph.nodesets[0] ?? '',
        metadata: isLoaded
          ? {
              envName: 'minivln',
              splits: ['train', 'val_seen', 'val_unseen'],
              episodeCounts: { train: 10_819, val_seen: 778, val_unseen: 1839 },
              metrics: [...metrics],
              supportsSetEpisode: true,
              stepBudget: 500,
              actionSpace: { type: 'discrete', actions: ['STOP', 'MOVE_FORWARD', 'TURN_LEFT', 'TURN_RIGHT'] },
            }
          : null,
        panel: isLoaded
          ? {
              fields: [
                {
                  name: 'split',
                  kind: 'select',
                  label: 'Split',
                  options: ['train', 'val_seen', 'val_unseen'],
                },
                { name: 'episode_index', kind: 'number', label: 'Episode' },
              ],
              actions: [],
            }
          : null,
        panelState: isLoaded
          ? { available: true, values: { split: 'val_unseen', episode_index: 0 }, episodeCount: 1839 }
          : null,
        perStepBudgetSec: 30,
        error: null,
      },
    ],
    nodesets: graph.nodesets.map((name, at) => ({
      name,
      description: '',
      source: `/opt/agentcanvas/nodesets/${name}.ts`,
      origin: 'library',
      language: graph.name.includes('cartpole') ? 'python' : 'typescript',
      parallelism: at === 0 ? 'replicated' : 'shared',
      state: isLoaded ? 'loaded' : 'found',
      nodeTypes: [],
      sourceHash: '3f1c',
      processes: [],
    })),
    missing: [],
    unloaded: isLoaded ? [] : [...graph.nodesets],
    batchedNodes: graph.name === 'minivln-policy' ? ['policy'] : [],
    stepBudget: 500,
    suggestedWorkers: 8,
  };
}

export const configOf = (graph: string): EvalConfig =>
  evalConfig.parse({ graph, selectors: { split: 'val_unseen' }, workerCount: 8, tags: ['paper'] });

export function pendingRow(ordinal: number): EpisodeRow {
  return {
    ordinal,
    key: `${String(ordinal).padStart(6, '0')}-9f3a1c22`,
    episodeIndex: ordinal,
    episodeId: `apt${String(ordinal % 211).padStart(3, '0')}_${ordinal}`,
    sceneId: `apt${String(ordinal % 211).padStart(3, '0')}`,
    instruction: null,
    repeat: 0,
    status: 'pending',
    attempts: 0,
    metrics: {},
    steps: null,
    durationMs: null,
    worker: null,
    limit: null,
    errorCode: null,
    errorMessage: null,
    retried: false,
  };
}

export function finishedRow(ordinal: number, worker: number, startedAt: number): EpisodeRow {
  const random = randomOf(ordinal * 7919 + 13);
  const fate = random();
  const base = {
    ...pendingRow(ordinal),
    attempts: fate > 0.985 ? 2 : 1,
    retried: fate > 0.985,
    worker,
    startedAt: new Date(startedAt).toISOString(),
  };
  const instruction =
    'Walk out of the kitchen, past the round table, turn left and stop in front of the second door.';
  if (fate < 0.012)
    return {
      ...base,
      instruction,
      status: 'died',
      steps: Math.floor(random() * 200),
      durationMs: 4000 + random() * 9000,
      errorCode: 'process_died',
      errorMessage: `SIGSEGV in step ${Math.floor(random() * 200)}`,
      attempts: 2,
      retried: false,
    };
  if (fate < 0.022)
    return {
      ...base,
      instruction,
      status: 'timeout',
      steps: 500,
      durationMs: 61_000,
      errorCode: 'timeout',
      errorMessage: `The step did not end within 60 s (step ${Math.floor(random() * 300)}).`,
    };
  if (fate < 0.03)
    return {
      ...base,
      instruction,
      status: 'error',
      steps: 3,
      durationMs: 900,
      errorCode: 'node_failed',
      errorMessage: 'policy: expected 3 channels, got 4',
    };
  if (fate < 0.033)
    return {
      ...base,
      instruction,
      status: 'no_verdict',
      steps: 500,
      durationMs: 30_000,
      errorCode: 'no_verdict',
      errorMessage: 'The graph ended without a metric.',
    };
  const success = random() < 0.46 ? 1 : 0;
  const steps = success ? 40 + Math.floor(random() * 160) : 80 + Math.floor(random() * 420);
  const spl = success ? 0.55 + random() * 0.45 : 0;
  const ndtw = Math.min(1, 0.25 + random() * 0.4 + success * 0.3);
  return {
    ...base,
    instruction,
    status: 'completed',
    steps,
    durationMs: steps * (22 + random() * 10),
    limit: steps >= 495 ? 'step_budget' : null,
    metrics: {
      success,
      oracle_success: success || random() < 0.2 ? 1 : 0,
      spl: Math.round(spl * 1000) / 1000,
      ndtw: random() < 0.01 ? null : Math.round(ndtw * 1000) / 1000,
      sdtw: success ? Math.round(ndtw * 1000) / 1000 : 0,
      distance_to_goal:
        random() < 0.002 ? 'inf' : Math.round((success ? random() * 2.9 : 3 + random() * 9) * 100) / 100,
      path_length: Math.round((6 + random() * 9) * 100) / 100,
      steps_taken: steps,
      collisions: Math.floor(random() * 9),
    },
  };
}

function estimateOf(values: readonly number[], isRate: boolean): Estimate {
  const n = values.length;
  if (n === 0)
    return { n, mean: null, low: null, high: null, method: 'none', median: null, sd: null, nonFinite: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, n - 1));
  const half = (1.96 * sd) / Math.sqrt(n);
  return {
    n,
    mean,
    low: mean - half,
    high: mean + half,
    method: isRate ? 'wilson' : 'bootstrap',
    median: mean,
    sd,
    nonFinite: 0,
  };
}

export function countsOf(rows: readonly EpisodeRow[]): RunCounts {
  const count = (status: EpisodeRow['status']): number => rows.filter((row) => row.status === status).length;
  const running = count('running');
  return {
    planned: rows.length,
    completed: count('completed'),
    error: count('error'),
    timeout: count('timeout'),
    died: count('died'),
    noVerdict: count('no_verdict'),
    notRun: count('pending') + running,
    running,
    retried: rows.filter((row) => row.retried).length,
  };
}

export function summaryOf(rows: readonly EpisodeRow[]): RunSummary {
  const counts = countsOf(rows);
  const started = counts.planned - counts.notRun;
  const summaries = metrics.map((definition): MetricSummary => {
    const values = rows
      .map((row) => row.metrics[definition.name])
      .filter((value): value is number => typeof value === 'number');
    const isRate = definition.kind === 'rate';
    const worst =
      definition.worst === null
        ? null
        : [...values, ...Array.from({ length: started - values.length }, () => definition.worst ?? 0)];
    return {
      definition,
      completed: estimateOf(values, isRate),
      started: worst === null ? null : estimateOf(worst, isRate),
      headline: worst === null ? 'completed_only' : 'started',
      measured: values.length,
      of: started,
      partial: counts.notRun > 0,
    };
  });
  const flags =
    counts.retried > started / 100
      ? [
          {
            kind: 'retried',
            metric: null,
            message: `${counts.retried} of ${started} episodes needed a second attempt.`,
          },
        ]
      : [];
  return { counts, metrics: summaries, flags, meanSteps: null, meanDurationMs: null };
}

const listStatuses: readonly RunStatus[] = [
  'completed',
  'completed_with_errors',
  'completed',
  'completed_with_errors',
  'interrupted',
  'cancelled',
  'completed',
  'paused',
  'failed',
];

export function listItem(at: number): RunListItem {
  const random = randomOf(at + 1);
  const status = listStatuses[at % listStatuses.length] ?? 'completed';
  const planned = [1839, 778, 100, 50][at % 4] ?? 100;
  const isWhole = status === 'completed' || status === 'completed_with_errors';
  const notRun = isWhole ? 0 : Math.floor(planned * 0.4);
  const failed = status === 'completed_with_errors' ? 7 : 0;
  const mean = 0.2 + random() * 0.6;
  const definition = metrics[0] as MetricDefinition;
  const estimate: Estimate = {
    n: planned - notRun,
    mean,
    low: mean - 0.024,
    high: mean + 0.024,
    method: 'wilson',
    median: null,
    sd: null,
    nonFinite: 0,
  };
  const graph = graphs[at % 4];
  const created = Date.UTC(2026, 10, 29, 20) - at * 4_700_000;
  return {
    runId: `20261129T${String(200000 - at).padStart(6, '0')}-${(at * 48271).toString(16).padStart(6, '0').slice(0, 6)}`,
    name: `${graph?.name ?? 'graph'} ${['baseline', 'no instruction', 'wide', 'seed 2'][at % 4]}`,
    graphName: graph?.name ?? '',
    envName: 'minivln',
    split: ['val_unseen', 'val_seen', 'train'][at % 3] ?? null,
    status,
    counts: {
      planned,
      completed: planned - notRun - failed,
      error: failed,
      timeout: 0,
      died: 0,
      noVerdict: 0,
      notRun,
      running: 0,
      retried: 0,
    },
    headline:
      status === 'failed'
        ? null
        : {
            definition,
            completed: estimate,
            started: estimate,
            headline: 'started',
            measured: planned - notRun,
            of: planned - notRun,
            partial: notRun > 0,
          },
    workerCount: 8,
    createdAt: new Date(created).toISOString(),
    finishedAt: new Date(created + 900_000).toISOString(),
    activeMs: 60_000 + random() * 6_000_000,
    tags: at % 5 === 0 ? ['paper', 'rerun'] : at % 7 === 0 ? ['ablation'] : [],
    note: at % 6 === 0 ? 'With the wider hallway setting.' : '',
    parentRun: null,
  };
}
