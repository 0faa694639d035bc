// What the address says: page, run, filter, sort, selected episode. Pure: text to Address and back. The address is a
// fragment, so that neither host has to know the pages.
import { episodeStatus, type EpisodeStatus } from '#contract/run.ts';
import type { SortKey } from './row-index.ts';

export const pages = ['evaluate', 'history', 'compare', 'replay', 'canvas', 'nodesets', 'settings'] as const;
export type Page = (typeof pages)[number];
export const runViews = ['overview', 'episodes', 'configuration'] as const;
export type RunViewName = (typeof runViews)[number];

export interface Address {
  readonly page: Page;
  /** The run that is open on Evaluate or History. */
  readonly run: string | null;
  readonly view: RunViewName;
  /** Selected graph on Evaluate. */
  readonly graph: string | null;
  /** Expression of the episode table. */
  readonly filter: string;
  readonly statuses: readonly EpisodeStatus[];
  readonly sort: readonly SortKey[];
  /** Ordinal of the selected episode. */
  readonly episode: number | null;
  readonly group: boolean;
  /** Search text of History; status filter and sort of History. */
  readonly search: string;
  readonly runStatuses: readonly string[];
  readonly runSort: SortKey | null;
  /** Runs to compare, baseline first. */
  readonly runs: readonly string[];
  /** Compare: the metric and the run looked at, what is shown of them, and that only common episodes count. */
  readonly metric: string | null;
  readonly tab: string | null;
  readonly common: boolean;
  /** Compare: how pairs are grouped, and that only what differs is shown. */
  readonly by: string | null;
  readonly differing: boolean;
  /** The run beside the one that is open: on Compare against the baseline, on Replay in step with it. */
  readonly other: string | null;
  readonly otherEpisode: number | null;
  /** Replay: an earlier attempt of the episode and of the one beside it; null for the last one that was kept. */
  readonly attempt: number | null;
  readonly otherAttempt: number | null;
  /** Step of the episode that is replayed on Replay or the canvas. */
  readonly step: number | null;
  /** Composites that are open on the canvas, outermost first. */
  readonly level: readonly string[];
}

export const home: Address = {
  page: 'evaluate',
  run: null,
  view: 'overview',
  graph: null,
  filter: '',
  statuses: [],
  sort: [],
  episode: null,
  group: false,
  search: '',
  runStatuses: [],
  runSort: null,
  runs: [],
  metric: null,
  tab: null,
  common: false,
  by: null,
  differing: false,
  other: null,
  otherEpisode: null,
  attempt: null,
  otherAttempt: null,
  step: null,
  level: [],
};

const pagesOfRuns: ReadonlySet<Page> = new Set(['evaluate', 'history', 'replay', 'canvas']);

/** Anything that cannot be read is left at its default; an address never fails. */
export function parseAddress(fragment: string): Address {
  const [path = '', query = ''] = fragment.replace(/^#/, '').split('?', 2);
  const [, pageName = '', run = ''] = path.split('/').map(decode);
  const page = pages.find((name) => name === pageName) ?? 'evaluate';
  const read = new URLSearchParams(query);
  const hasRun = run !== '' && pagesOfRuns.has(page);
  return {
    page,
    run: hasRun ? run : null,
    view: runViews.find((name) => name === read.get('view')) ?? 'overview',
    graph: read.get('graph'),
    filter: read.get('filter') ?? '',
    statuses: listOf(read.get('status')).filter(
      (name): name is EpisodeStatus => episodeStatus.safeParse(name).success,
    ),
    sort: listOf(read.get('sort')).map(parseSort),
    episode: parseOrdinal(read.get('episode')),
    group: read.get('group') === 'error',
    search: read.get('search') ?? '',
    runStatuses: listOf(read.get('runStatus')),
    runSort: listOf(read.get('runSort')).map(parseSort)[0] ?? null,
    runs: listOf(read.get('runs')),
    metric: read.get('metric'),
    tab: read.get('tab'),
    common: read.get('common') === '1',
    by: read.get('by'),
    differing: read.get('differing') === '1',
    other: read.get('other'),
    otherEpisode: parseOrdinal(read.get('otherEpisode')),
    attempt: parseOrdinal(read.get('attempt')),
    otherAttempt: parseOrdinal(read.get('otherAttempt')),
    step: parseOrdinal(read.get('step')),
    level: (read.get('level') ?? '')
      .split('/')
      .filter((id) => id !== '')
      .map(decode),
  };
}

/** The fragment with only what differs from the defaults, always in the same order. */
export function formatAddress(address: Address): string {
  const write = new URLSearchParams();
  const put = (name: string, value: string): void => {
    if (value !== '') write.set(name, value);
  };
  put('view', address.view === 'overview' ? '' : address.view);
  put('graph', address.graph ?? '');
  put('filter', address.filter);
  put('status', address.statuses.join(','));
  put('sort', address.sort.map(formatSort).join(','));
  put('episode', address.episode === null ? '' : String(address.episode));
  put('group', address.group ? 'error' : '');
  put('search', address.search);
  put('runStatus', address.runStatuses.join(','));
  put('runSort', address.runSort === null ? '' : formatSort(address.runSort));
  put('runs', address.runs.join(','));
  put('metric', address.metric ?? '');
  put('tab', address.tab ?? '');
  put('common', address.common ? '1' : '');
  put('by', address.by ?? '');
  put('differing', address.differing ? '1' : '');
  put('other', address.other ?? '');
  put('otherEpisode', address.otherEpisode === null ? '' : String(address.otherEpisode));
  put('attempt', address.attempt === null ? '' : String(address.attempt));
  put('otherAttempt', address.otherAttempt === null ? '' : String(address.otherAttempt));
  put('step', address.step === null ? '' : String(address.step));
  put('level', address.level.map((id) => encodeURIComponent(id.toWellFormed())).join('/'));
  const query = write.toString();
  const path =
    address.run === null ? `/${address.page}` : `/${address.page}/${encodeURIComponent(address.run)}`;
  return query === '' ? `#${path}` : `#${path}?${query}`;
}

/** Takes the access token out of a fragment: `#token=…`, also behind a page. */
export function takeToken(fragment: string): { readonly token: string | null; readonly rest: string } {
  const match = /(^#?|[?&])token=([^&]*)(&|$)/.exec(fragment);
  if (!match) return { token: null, rest: fragment };
  const lead = match[1] ?? '';
  const before = fragment.slice(0, match.index);
  const after = fragment.slice(match.index + match[0].length);
  const rest = after === '' ? before : `${before}${lead === '' ? '#' : lead}${after}`;
  return { token: decode(match[2] ?? ''), rest: rest === '#' ? '' : rest };
}

const listOf = (text: string | null): string[] => (text ?? '').split(',').filter((part) => part !== '');

function parseSort(text: string): SortKey {
  return text.startsWith('-')
    ? { column: text.slice(1), descending: true }
    : { column: text, descending: false };
}

const formatSort = (key: SortKey): string => (key.descending ? `-${key.column}` : key.column);

function parseOrdinal(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
