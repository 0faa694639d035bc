// Search over every level of a graph, and the way from a finding of the engine to the node it is about.
import type { GraphDefinition, GraphNode } from '#contract/graph.ts';
import { levelsOf, nodeName, type LevelPath } from './levels.ts';

export interface Found {
  readonly path: LevelPath;
  readonly id: string;
  readonly name: string;
  /** Why it was found: its type, or the field that holds the text. */
  readonly detail: string;
}

const greatestCount = 200;

/** Nodes and containers whose name, id, type or config holds every word. Names first. */
export function findItems(root: GraphDefinition, text: string): Found[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const ranked: { readonly found: Found; readonly rank: number }[] = [];
  for (const { path, level } of levelsOf(root)) {
    for (const node of level.nodes) {
      const name = nodeName(node);
      const rank = rankOf(words, `${name} ${node.id}`, node.type, configText(node));
      if (rank < 3) ranked.push({ rank, found: { path, id: node.id, name, detail: node.type } });
    }
    for (const container of level.containers) {
      const name = container.label || container.id;
      const rank = rankOf(words, `${name} ${container.id}`, Object.keys(container.states).join(' '), '');
      if (rank < 3) ranked.push({ rank, found: { path, id: container.id, name, detail: 'container' } });
    }
  }
  return ranked
    .sort((one, other) => one.rank - other.rank)
    .slice(0, greatestCount)
    .map(({ found }) => found);
}

function rankOf(words: readonly string[], ...texts: readonly string[]): number {
  for (let rank = 0; rank < texts.length; rank++) {
    const all = texts
      .slice(0, rank + 1)
      .join(' ')
      .toLowerCase();
    if (words.every((word) => all.includes(word))) return rank;
  }
  return texts.length;
}

function configText(node: GraphNode): string {
  return Object.entries(node.config)
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

/** `composite > inner` as the engine writes it: the level and the node; null when the node is gone. */
export function placeOf(
  root: GraphDefinition,
  nodePath: string,
): { readonly path: LevelPath; readonly id: string } | null {
  if (nodePath === '') return null;
  const parts = nodePath.split(' > ');
  const id = parts.at(-1) ?? '';
  const path = parts.slice(0, -1);
  const place = levelsOf(root).find((candidate) => candidate.path.join('\n') === path.join('\n'));
  const isThere =
    place?.level.nodes.some((node) => node.id === id) || place?.level.containers.some((one) => one.id === id);
  return isThere ? { path, id } : null;
}
