// The form as text, and as a configuration. Pure: what the form holds is what the person typed; what is wrong with it
// comes from the contract's schema.
import { configFromFlags } from '#contract/command-line.ts';
import { evalConfig, type EvalConfig, type EvalConfigInput } from '#contract/eval-config.ts';
import type { SpawnPlace } from '#contract/spawners.ts';

export type EpisodeMode = 'all' | 'count' | 'range' | 'sample' | 'ids';
export type RecordingMode = 'failures' | 'none' | 'all' | 'sample';

export interface Draft {
  readonly envNodeset: string;
  readonly selectors: Readonly<Record<string, string>>;
  readonly mode: EpisodeMode;
  readonly count: string;
  readonly range: string;
  readonly sample: string;
  readonly sampleSeed: string;
  readonly ids: string;
  readonly repeats: string;
  readonly seed: string;
  /** Empty = the suggestion. */
  readonly workerCount: string;
  readonly envsPerProcess: string;
  readonly stepBudget: string;
  readonly perStepBudgetSec: string;
  readonly recording: RecordingMode;
  readonly recordingCount: string;
  readonly flushPolicy: 'greedy' | 'rendezvous';
  readonly flushTimeoutMs: string;
  readonly maxBatch: string;
  readonly attempts: string;
  readonly retryOn: readonly string[];
  readonly failOn: string;
  readonly strictErrors: boolean;
  readonly affinity: 'none' | 'scene';
  /** Empty: the nodeset, then Settings. */
  readonly spawner: SpawnPlace | '';
  /** Profile, or provider/model; empty = the default. */
  readonly chatProfile: string;
  readonly replies: 'live' | 'record' | 'replay';
  readonly repliesFrom: string;
  readonly tags: string;
  readonly note: string;
}

export type DraftField = keyof Draft;
/** Fields that hold a number as text, or nothing. */
export type NumberFieldName =
  | 'repeats'
  | 'seed'
  | 'workerCount'
  | 'envsPerProcess'
  | 'stepBudget'
  | 'perStepBudgetSec'
  | 'flushTimeoutMs'
  | 'maxBatch'
  | 'attempts'
  | 'failOn';
export type Problems = Readonly<Partial<Record<DraftField | 'graph', string>>>;

export const emptyDraft: Draft = {
  envNodeset: '',
  selectors: {},
  mode: 'all',
  count: '50',
  range: '0-49',
  sample: '50',
  sampleSeed: '0',
  ids: '',
  repeats: '1',
  seed: '0',
  workerCount: '',
  envsPerProcess: '1',
  stepBudget: '',
  perStepBudgetSec: '',
  recording: 'failures',
  recordingCount: '10',
  flushPolicy: 'greedy',
  flushTimeoutMs: '50',
  maxBatch: '',
  attempts: '2',
  retryOn: ['died', 'timeout'],
  failOn: '',
  strictErrors: false,
  affinity: 'none',
  spawner: '',
  chatProfile: '',
  replies: 'live',
  repliesFrom: '',
  tags: '',
  note: '',
};

/** Where the schema's complaints are shown in the form. */
const fieldOfPath: Readonly<Record<string, DraftField>> = {
  'retry.attempts': 'attempts',
  'retry.on': 'retryOn',
  'batching.flushPolicy': 'flushPolicy',
  'batching.flushTimeoutMs': 'flushTimeoutMs',
  'batching.maxBatch': 'maxBatch',
  'chat.profile': 'chatProfile',
  'chat.replies': 'replies',
  'chat.repliesFrom': 'repliesFrom',
};

export interface DraftResult {
  readonly config: EvalConfig | null;
  readonly problems: Problems;
}

/** `suggestedWorkers` stands in for an empty worker count. */
export function configOfDraft(graph: string, draft: Draft, suggestedWorkers: number): DraftResult {
  const problems: Partial<Record<DraftField | 'graph', string>> = {};
  const number = (field: NumberFieldName): number | undefined => {
    const text = draft[field].trim();
    if (text === '') return undefined;
    const value = Number(text);
    if (Number.isNaN(value)) problems[field] = 'This is not a number.';
    return value;
  };
  const episodes = episodesOf(draft, problems);
  const input = withoutUndefined({
    graph,
    envNodeset: draft.envNodeset || undefined,
    selectors: Object.fromEntries(Object.entries(draft.selectors).filter(([, value]) => value !== '')),
    episodes,
    repeats: number('repeats'),
    seed: number('seed'),
    workerCount: number('workerCount') ?? suggestedWorkers,
    envsPerProcess: number('envsPerProcess'),
    stepBudget: number('stepBudget'),
    perStepBudgetSec: number('perStepBudgetSec'),
    retry: withoutUndefined({ attempts: number('attempts'), on: draft.retryOn }),
    failOn: number('failOn'),
    strictErrors: draft.strictErrors,
    affinity: draft.affinity,
    spawner: draft.spawner || undefined,
    recording: draft.recording === 'sample' ? `sample:${draft.recordingCount.trim()}` : draft.recording,
    batching: withoutUndefined({
      flushPolicy: draft.flushPolicy,
      flushTimeoutMs: number('flushTimeoutMs'),
      maxBatch: number('maxBatch'),
    }),
    chat: {
      profile: draft.chatProfile.trim(),
      replies: draft.replies,
      repliesFrom: draft.replies === 'replay' ? draft.repliesFrom.trim() : '',
    },
    tags: listOf(draft.tags),
    note: draft.note,
  });
  if (draft.replies === 'replay' && draft.repliesFrom.trim() === '')
    problems.repliesFrom = 'Give the run that recorded them, or a folder.';
  const parsed = evalConfig.safeParse(input);
  for (const issue of parsed.error?.issues ?? []) {
    const path = issue.path.slice(0, 2).join('.');
    const field = fieldOfPath[path] ?? fieldOfRoot(String(issue.path[0] ?? ''), draft);
    problems[field] ??= issue.message;
  }
  const isClean = Object.keys(problems).length === 0;
  return { config: parsed.success && isClean ? parsed.data : null, problems };
}

function fieldOfRoot(root: string, draft: Draft): DraftField | 'graph' {
  if (root === 'episodes') return draft.mode === 'all' ? 'mode' : draft.mode;
  if (root === 'recording') return 'recordingCount';
  return root === 'graph' || root in emptyDraft ? (root as DraftField | 'graph') : 'mode';
}

function episodesOf(draft: Draft, problems: Partial<Record<DraftField, string>>): unknown {
  switch (draft.mode) {
    case 'all':
      return 'all';
    case 'count':
      return wholeNumber(draft.count, 'count', problems);
    case 'sample':
      return {
        sample: wholeNumber(draft.sample, 'sample', problems),
        seed: wholeNumber(draft.sampleSeed || '0', 'sampleSeed', problems, 0),
      };
    case 'ids': {
      const ids = listOf(draft.ids);
      if (ids.length === 0) problems.ids = 'Give at least one id, divided by commas or spaces.';
      return { ids: ids.length > 0 ? ids : ['-'] };
    }
    case 'range':
      try {
        return configFromFlags('-', { range: draft.range }).episodes;
      } catch {
        problems.range = 'Write A-B with A not above B, or several divided by commas: 0-49, 100-149.';
        return 'all';
      }
  }
}

/** Puts a placeholder where the text is no number, so that the schema has nothing to add. */
function wholeNumber(
  text: string,
  field: DraftField,
  problems: Partial<Record<DraftField, string>>,
  least = 1,
): number {
  const trimmed = text.trim();
  if (/^\d+$/.test(trimmed) && Number(trimmed) >= least) return Number(trimmed);
  problems[field] = least === 0 ? 'A whole number from 0.' : 'A whole number from 1.';
  return least;
}

const listOf = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter((part) => part !== ''))];

/** A configuration from elsewhere (a run to repeat) as a form. */
export function draftOfConfig(config: EvalConfigInput): Draft {
  const full = evalConfig.parse(config);
  const text = (value: number | undefined): string => (value === undefined ? '' : String(value));
  const sample = /^sample:(\d+)$/.exec(full.recording)?.[1];
  return {
    ...emptyDraft,
    ...episodeFieldsOf(full.episodes),
    envNodeset: full.envNodeset ?? '',
    selectors: full.selectors,
    repeats: text(full.repeats),
    seed: text(full.seed),
    workerCount: text(full.workerCount),
    envsPerProcess: text(full.envsPerProcess),
    stepBudget: text(full.stepBudget),
    perStepBudgetSec: text(full.perStepBudgetSec),
    recording: sample === undefined ? (full.recording as RecordingMode) : 'sample',
    recordingCount: sample ?? emptyDraft.recordingCount,
    flushPolicy: full.batching.flushPolicy,
    flushTimeoutMs: text(full.batching.flushTimeoutMs),
    maxBatch: text(full.batching.maxBatch),
    attempts: text(full.retry.attempts),
    retryOn: full.retry.on,
    failOn: text(full.failOn),
    strictErrors: full.strictErrors,
    affinity: full.affinity,
    spawner: full.spawner ?? '',
    chatProfile: full.chat.profile,
    replies: full.chat.replies,
    repliesFrom: full.chat.repliesFrom,
    tags: full.tags.join(', '),
    note: full.note,
  };
}

function episodeFieldsOf(episodes: EvalConfig['episodes']): Partial<Draft> {
  if (episodes === 'all') return { mode: 'all' };
  if (typeof episodes === 'number') return { mode: 'count', count: String(episodes) };
  if ('ids' in episodes) return { mode: 'ids', ids: episodes.ids.join(', ') };
  if ('sample' in episodes)
    return { mode: 'sample', sample: String(episodes.sample), sampleSeed: String(episodes.seed) };
  return { mode: 'range', range: rangesOf(episodes.indices) };
}

/** [0, 1, 2, 7] -> "0-2, 7". */
export function rangesOf(indices: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < indices.length; at += 1) {
    const first = indices[at] ?? 0;
    while (indices[at + 1] === (indices[at] ?? 0) + 1) at += 1;
    const last = indices[at] ?? first;
    parts.push(first === last ? `${first}` : `${first}-${last}`);
  }
  return parts.join(', ');
}

/** What was remembered, as far as it still fits the form; the rest at its default. */
export function draftOfStored(stored: unknown): Draft | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const known = Object.entries(emptyDraft).map(([field, initial]: [string, unknown]) => {
    const value = (stored as Record<string, unknown>)[field];
    const fits =
      typeof value === typeof initial && Array.isArray(value) === Array.isArray(initial) && value !== null;
    return [field, fits ? value : initial];
  });
  return Object.fromEntries(known) as Draft; // Every field is of its default's type.
}

function withoutUndefined(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
