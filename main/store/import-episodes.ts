// Results that other programs wrote, as plain episodes: JSON of metrics by episode id, and the run folders of
// AgentCanvas (`summary.json`, `episodes/epNNNN`). Nothing is guessed silently: what is left out is in `warnings`.
import { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import type { EpisodeOutcome, MetricValue } from '../contract/run.ts';

export interface ImportedEpisode {
  readonly episodeId: string | null;
  readonly episodeIndex: number | null;
  readonly repeat: number;
  readonly sceneId: string | null;
  readonly instruction: string | null;
  readonly status: EpisodeOutcome;
  readonly metrics: Readonly<Record<string, MetricValue>>;
  readonly steps: number;
  readonly durationMs: number;
  readonly worker: number;
  readonly errorMessage: string | null;
}

export interface ImportedRun {
  readonly kind: 'agentcanvas_folder' | 'episode_metrics';
  readonly graphName: string | null;
  readonly envNodeset: string | null;
  readonly split: string | null;
  readonly selectors: Readonly<Record<string, string>>;
  readonly stepBudget: number | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly activeMs: number;
  /** Planned episodes of which nothing is known. */
  readonly notRun: number;
  readonly episodes: readonly ImportedEpisode[];
  readonly metrics: readonly { readonly name: string; readonly isBinary: boolean }[];
  readonly warnings: readonly string[];
  /** graph.json beside the results; not checked. */
  readonly graphText: string | null;
}

const mostEpisodes = 1_000_000;
const mostMetrics = 200;
/** Members of an episode that are about it, not measurements. */
const aboutEpisode = new Set(['scene_id', 'scan', 'instruction', 'episode_id', 'status', 'split', 'error']);

/** Python writes NaN and Infinity as bare words, which JSON does not have. */
export function parseLooseJson(text: string): unknown {
  const quoted = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g, (token) => {
    if (token.startsWith('"')) return token;
    return token === 'NaN' ? '"nan"' : token.startsWith('-') ? '"-inf"' : '"inf"';
  });
  try {
    return JSON.parse(quoted);
  } catch (cause) {
    throw new StudioError('invalid_input', 'The file is not JSON.', { cause });
  }
}

/** An object of episode id -> {metric: number}, or the summary.json of an AgentCanvas run. */
export function importedRunOf(json: unknown): ImportedRun {
  if (typeof json === 'object' && json !== null && 'episodes' in json && Array.isArray(json.episodes))
    return fromAgentCanvas(json);
  const parsed = z.record(z.string(), z.record(z.string(), z.unknown())).safeParse(json);
  if (!parsed.success)
    throw new StudioError(
      'invalid_input',
      'The file is neither metrics by episode id ({"17": {"success": 1, …}, …}) nor the summary.json of an AgentCanvas run.',
    );
  return fromMetrics(parsed.data);
}

function fromMetrics(byId: Readonly<Record<string, Readonly<Record<string, unknown>>>>): ImportedRun {
  const ids = Object.keys(byId);
  refuseCount(ids.length);
  const ignored = new Set<string>();
  const episodes = ids.map((episodeId): ImportedEpisode => {
    const members = byId[episodeId] ?? {};
    const metrics = metricsOf(members, ignored);
    return {
      episodeId,
      episodeIndex: null,
      repeat: 0,
      sceneId: textOf(members['scene_id']) ?? textOf(members['scan']),
      instruction: textOf(members['instruction']),
      status: Object.keys(metrics).length > 0 ? 'completed' : 'no_verdict',
      metrics,
      steps: stepsOf(metrics),
      durationMs: 0,
      worker: 0,
      errorMessage: null,
    };
  });
  return {
    kind: 'episode_metrics',
    graphName: null,
    envNodeset: null,
    split: null,
    selectors: {},
    stepBudget: null,
    startedAt: null,
    finishedAt: null,
    activeMs: 0,
    notRun: 0,
    episodes,
    metrics: metricNames(episodes),
    warnings: ignoredWarning(ignored),
    graphText: null,
  };
}

const agentCanvasEpisode = z.looseObject({
  episode_index: z.number().int().nonnegative().nullish(),
  episode_id: z.union([z.string(), z.number()]).nullish(),
  scene_id: z.string().nullish(),
  instruction: z.string().nullish(),
  metrics: z.record(z.string(), z.unknown()).default({}),
  step_count: z.number().nonnegative().default(0),
  elapsed_sec: z.number().nonnegative().default(0),
  status: z.string().default('completed'),
  error: z.string().nullish(),
  selectors: z.record(z.string(), z.unknown()).default({}),
  worker_id: z.number().int().nonnegative().default(0),
});

const agentCanvasRun = z.looseObject({
  config: z
    .looseObject({
      graph_name: z.string().default(''),
      env_nodeset: z.string().default(''),
      selectors: z.record(z.string(), z.unknown()).default({}),
      split: z.string().nullish(),
      step_budget: z.number().int().positive().nullish(),
    })
    .prefault({}),
  status: z.string().default('completed'),
  episodes: z.array(agentCanvasEpisode),
  total_episodes: z.number().int().nonnegative().default(0),
  created_at: z.string().nullish(),
  finished_at: z.string().nullish(),
  elapsed_sec: z.number().nonnegative().default(0),
});

function fromAgentCanvas(json: unknown): ImportedRun {
  const parsed = agentCanvasRun.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new StudioError(
      'invalid_input',
      `The summary cannot be read: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
    );
  }
  const { config, episodes: found, total_episodes: planned, ...rest } = parsed.data;
  refuseCount(Math.max(found.length, planned));
  const ignored = new Set<string>();
  const seen = new Map<string, number>();
  const episodes = found.map((episode): ImportedEpisode => {
    const { episodeId, episodeIndex } = identityOf(episode);
    const identity = episodeId ?? `#${episodeIndex ?? ''}`;
    const repeat = seen.get(identity) ?? 0;
    seen.set(identity, repeat + 1);
    return {
      episodeId,
      episodeIndex,
      repeat,
      sceneId: textOf(episode.scene_id),
      instruction: textOf(episode.instruction),
      status: outcomeOf(episode.status, episode.error ?? null),
      metrics: metricsOf(episode.metrics, ignored),
      steps: Math.floor(episode.step_count),
      durationMs: episode.elapsed_sec * 1000,
      worker: episode.worker_id,
      errorMessage: textOf(episode.error),
    };
  });
  return {
    kind: 'agentcanvas_folder',
    graphName: textOf(config.graph_name),
    envNodeset: textOf(config.env_nodeset),
    split: textOf(config.split) ?? textOf(config.selectors['split']),
    selectors: Object.fromEntries(
      Object.entries(config.selectors).map(([name, value]) => [name, String(value)]),
    ),
    stepBudget: config.step_budget ?? null,
    startedAt: timeOf(rest.created_at),
    finishedAt: timeOf(rest.finished_at),
    activeMs: rest.elapsed_sec * 1000,
    notRun: Math.max(0, planned - found.length),
    episodes,
    metrics: metricNames(episodes),
    warnings: ignoredWarning(ignored),
    graphText: null,
  };
}

/** Episodes of different tasks may share ids: the task then belongs to the identity. */
function identityOf(
  episode: z.infer<typeof agentCanvasEpisode>,
): Pick<ImportedEpisode, 'episodeId' | 'episodeIndex'> {
  const task = textOf(episode.selectors['task_id']);
  const id =
    episode.episode_id === null || episode.episode_id === undefined ? '' : String(episode.episode_id);
  if (id !== '')
    return { episodeId: task ? `${task}/${id}` : id, episodeIndex: episode.episode_index ?? null };
  if (task) return { episodeId: `${task}/${episode.episode_index ?? ''}`, episodeIndex: null };
  return { episodeId: null, episodeIndex: episode.episode_index ?? null };
}

function outcomeOf(status: string, error: string | null): EpisodeOutcome {
  if (status === 'completed') return 'completed';
  if (error?.startsWith('timeout')) return 'timeout';
  return error?.startsWith('no verdict') ? 'no_verdict' : 'error';
}

function metricsOf(
  members: Readonly<Record<string, unknown>>,
  ignored: Set<string>,
): Record<string, MetricValue> {
  const metrics: Record<string, MetricValue> = {};
  for (const [name, value] of Object.entries(members)) {
    if (aboutEpisode.has(name)) continue;
    const measured = metricOfValue(value);
    if (measured === undefined) ignored.add(name);
    else metrics[name] = measured;
  }
  return metrics;
}

/** Undefined for what is no measurement. */
function metricOfValue(value: unknown): MetricValue | undefined {
  if (value === null || value === 'nan' || value === 'inf' || value === '-inf') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function metricNames(episodes: readonly ImportedEpisode[]): ImportedRun['metrics'] {
  const binary = new Map<string, boolean>();
  for (const { metrics } of episodes)
    for (const [name, value] of Object.entries(metrics))
      binary.set(name, (binary.get(name) ?? true) && (value === 0 || value === 1 || value === null));
  if (binary.size > mostMetrics)
    throw new StudioError(
      'invalid_input',
      `The file has ${binary.size} metrics; at most ${mostMetrics} are taken.`,
    );
  return [...binary].map(([name, isBinary]) => ({ name, isBinary }));
}

function ignoredWarning(ignored: ReadonlySet<string>): string[] {
  if (ignored.size === 0) return [];
  return [`Left out because they are no numbers: ${[...ignored].slice(0, 20).join(', ')}`];
}

function refuseCount(count: number): void {
  if (count > mostEpisodes)
    throw new StudioError(
      'invalid_input',
      `The file has ${count} episodes; at most ${mostEpisodes} are taken.`,
    );
  if (count === 0) throw new StudioError('invalid_input', 'The file has no episodes.');
}

function stepsOf(metrics: Readonly<Record<string, MetricValue>>): number {
  const steps = metrics['steps_taken'] ?? metrics['steps'];
  return typeof steps === 'number' && steps >= 0 ? Math.round(steps) : 0;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function timeOf(value: string | null | undefined): string | null {
  const time = Date.parse(value ?? '');
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
