// How a nodeset's facts read. Pure.
import type { NodesetSummary } from '#contract/nodeset.ts';

export type StateGlyph = 'pending' | 'preparing' | 'completed' | 'failed' | 'stopping' | 'interrupted';

/** A glyph and a word; what a person has to do comes before what the engine does. */
export function stateOf(nodeset: NodesetSummary): { readonly glyph: StateGlyph; readonly word: string } {
  const { environment, state, stage } = nodeset;
  if (environment?.state === 'building')
    return { glyph: 'preparing', word: `building: ${environment.stage ?? ''}` };
  if (environment?.state === 'missing') return { glyph: 'interrupted', word: 'environment missing' };
  if (environment?.state === 'failed') return { glyph: 'failed', word: 'environment failed' };
  switch (state) {
    case 'found':
      return { glyph: 'pending', word: 'not loaded' };
    case 'loading':
      return { glyph: 'preparing', word: stage ?? 'loading' };
    case 'loaded':
      return { glyph: 'completed', word: 'loaded' };
    case 'failed':
      return { glyph: 'failed', word: 'failed' };
    case 'unloading':
      return { glyph: 'stopping', word: 'unloading' };
  }
}

export function modeOf({ mode }: Pick<NodesetSummary, 'mode'>): string {
  switch (mode) {
    case 'local':
      return 'in the app';
    case 'attached':
      return 'elsewhere';
    default:
      return 'process';
  }
}

/** The last part of a path is what tells interpreters apart; environments are told apart by their folder. */
export function shortInterpreter(nodeset: NodesetSummary): string {
  const { language, interpreterPath, interpreter, environment } = nodeset;
  if (language === 'typescript') return 'TypeScript';
  if (environment?.folder !== undefined && interpreterPath?.startsWith(environment.folder))
    return 'own environment';
  const path = interpreterPath ?? interpreter;
  if (path === undefined) return '–';
  const parts = path.split(/[/\\]/);
  const bin = parts.findLastIndex((part) => part === 'bin' || part === 'Scripts');
  return bin > 2 ? parts.slice(bin - 1).join('/') : path;
}

export const interpreterSources = {
  settings: 'set here',
  nodeset: 'named by the nodeset',
  script: 'built for the nodeset',
  default: 'the default of Settings',
} as const;

/** Resident memory of all its processes; null when none says. */
export function memoryOf({ processes }: Pick<NodesetSummary, 'processes'>): number | null {
  const known = processes.flatMap(({ rssBytes }) => rssBytes ?? []);
  return known.length === 0 ? null : known.reduce((sum, bytes) => sum + bytes, 0);
}

const keys: Readonly<Record<string, (nodeset: NodesetSummary) => string | number>> = {
  name: ({ name }) => name,
  state: (nodeset) => stateOf(nodeset).word,
  origin: ({ origin }) => origin,
  mode: modeOf,
  interpreter: shortInterpreter,
  processes: ({ processes }) => processes.length,
  memory: (nodeset) => memoryOf(nodeset) ?? -1,
};

export function sorted(
  nodesets: readonly NodesetSummary[],
  sort: readonly { readonly column: string; readonly descending: boolean }[],
): readonly NodesetSummary[] {
  const [first] = sort;
  const key = keys[first?.column ?? 'name'];
  if (!key) return nodesets;
  const direction = first?.descending ? -1 : 1;
  return nodesets.toSorted((a, b) => {
    const [left, right] = [key(a), key(b)];
    return direction * (left < right ? -1 : left > right ? 1 : a.name < b.name ? -1 : 1);
  });
}
