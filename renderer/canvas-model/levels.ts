// A graph as the editor holds it: one immutable definition. A level is the graph itself or the inside of a composite;
// what a command does not touch keeps its identity, so that the canvas redraws only what changed.
import type { GraphDefinition, GraphEdge, GraphNode } from '#contract/graph.ts';

/** Ids of the composites that lead to a level; empty for the graph itself. */
export type LevelPath = readonly string[];

/** The level at a path; undefined when a composite on the way is gone. */
export function levelAt(root: GraphDefinition, path: LevelPath): GraphDefinition | undefined {
  return path.reduce<GraphDefinition | undefined>(
    (level, id) => level?.nodes.find((node) => node.id === id)?.subgraph ?? undefined,
    root,
  );
}

/** The deepest level of a path that still exists. */
export function existingPath(root: GraphDefinition, path: LevelPath): LevelPath {
  for (let length = path.length; length > 0; length--) {
    const shorter = path.slice(0, length);
    if (levelAt(root, shorter)) return shorter;
  }
  return [];
}

/** The same graph with one level changed. The same object when the change changes nothing. */
export function changeLevel(
  root: GraphDefinition,
  path: LevelPath,
  change: (level: GraphDefinition) => GraphDefinition,
): GraphDefinition {
  const [id, ...rest] = path;
  if (id === undefined) return change(root);
  return changeNode(root, id, (node) => {
    if (!node.subgraph) return node;
    const subgraph = changeLevel(node.subgraph, rest, change);
    return subgraph === node.subgraph ? node : { ...node, subgraph };
  });
}

export function changeNode(
  level: GraphDefinition,
  id: string,
  change: (node: GraphNode) => GraphNode,
): GraphDefinition {
  let changed = false;
  const nodes = level.nodes.map((node) => {
    if (node.id !== id) return node;
    const next = change(node);
    changed ||= next !== node;
    return next;
  });
  return changed ? { ...level, nodes } : level;
}

export interface Place {
  readonly path: LevelPath;
  readonly level: GraphDefinition;
}

/** Every level of a graph, outermost first. */
export function levelsOf(root: GraphDefinition, path: LevelPath = []): Place[] {
  return [
    { path, level: root },
    ...root.nodes.flatMap((node) => (node.subgraph ? levelsOf(node.subgraph, [...path, node.id]) : [])),
  ];
}

/** Id of a node in the flat graph the engine runs. */
export function flatId(path: LevelPath, nodeId: string): string {
  return [...path, nodeId].join('__');
}

export function nodeName(node: Pick<GraphNode, 'id' | 'label'>): string {
  return node.label || node.id;
}

/** The handle an edge leaves by: without one it carries the whole output object. */
export function sourceHandleOf(edge: Pick<GraphEdge, 'sourceHandle'>): string {
  return edge.sourceHandle || 'default';
}

/** The handle an edge ends at: without one it is the source handle's name. */
export function targetHandleOf(edge: Pick<GraphEdge, 'sourceHandle' | 'targetHandle'>): string {
  return edge.targetHandle || sourceHandleOf(edge);
}

/** `base`, `base_2`, … whichever is not taken. Two underscores would read as a composite's inside. */
export function freshId(taken: ReadonlySet<string>, base: string): string {
  const plain =
    base
      .replace(/[^\w-]+/g, '_')
      .replace(/_{2,}/g, '_')
      .replace(/^_+|_+$/g, '') || 'node';
  if (!taken.has(plain)) return plain;
  const stem = plain.replace(/_\d+$/, '');
  for (let number = 2; ; number++) if (!taken.has(`${stem}_${number}`)) return `${stem}_${number}`;
}

/** The id itself while it is free, else a fresh one near it. */
export function freeId(taken: ReadonlySet<string>, id: string): string {
  return taken.has(id) ? freshId(taken, id) : id;
}

/** Ids of nodes and containers of a level: they share one space on the canvas. */
export function takenIds(level: GraphDefinition): Set<string> {
  return new Set([...level.nodes, ...level.containers].map(({ id }) => id));
}

export const emptyGraph = (name: string): GraphDefinition => ({
  name,
  description: '',
  nodes: [],
  edges: [],
  containers: [],
  access_grants: [],
  hooks: [],
  eval_graph: true,
  kind: 'graph',
});
