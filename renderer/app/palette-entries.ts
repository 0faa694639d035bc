// What the palette offers for what was typed: actions that can act now, graphs, runs. Pure.
import type { GraphListItem } from '#contract/requests.ts';
import type { RunListItem } from '#contract/run.ts';
import type { CommandId } from './commands.ts';

export interface PaletteEntry {
  readonly key: string;
  readonly kind: 'action' | 'graph' | 'run';
  readonly title: string;
  readonly detail: string;
  readonly chord: string | null;
  readonly target: { readonly command: CommandId } | { readonly graph: string } | { readonly run: string };
}

export interface PaletteAction {
  readonly id: CommandId;
  readonly title: string;
  readonly chord: string | null;
}

const greatestCount = 50;

export function paletteEntries(
  text: string,
  sources: {
    readonly actions: readonly PaletteAction[];
    readonly graphs: readonly GraphListItem[];
    readonly runs: readonly RunListItem[];
  },
): PaletteEntry[] {
  const all: PaletteEntry[] = [
    ...sources.actions.map((action): PaletteEntry => ({
      key: `action ${action.id}`,
      kind: 'action',
      title: action.title,
      detail: '',
      chord: action.chord,
      target: { command: action.id },
    })),
    ...sources.graphs.map((graph): PaletteEntry => ({
      key: `graph ${graph.ref}`,
      kind: 'graph',
      title: graph.name,
      detail: graph.description,
      chord: null,
      target: { graph: graph.ref },
    })),
    ...sources.runs.map((run): PaletteEntry => ({
      key: `run ${run.runId}`,
      kind: 'run',
      title: run.name,
      detail: [run.graphName, run.split, ...run.tags].filter(Boolean).join(' · '),
      chord: null,
      target: { run: run.runId },
    })),
  ];
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return all
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, greatestCount)
    .map(({ entry }) => entry);
}

/** Every word must occur; beginnings of words and titles count more. 0 = not offered. */
function scoreOf(entry: PaletteEntry, words: readonly string[]): number {
  const title = entry.title.toLowerCase();
  const rest = `${entry.detail} ${entry.key}`.toLowerCase();
  let score = 1;
  for (const word of words) {
    if (title.startsWith(word)) score += 8;
    else if (title.includes(` ${word}`)) score += 5;
    else if (title.includes(word)) score += 3;
    else if (rest.includes(word)) score += 1;
    else return 0;
  }
  return score;
}
