// Parts of a graph as text, so that they travel between graphs, windows and editors. Pasting never trusts the text.
import { z } from 'zod';
import {
  accessGrant,
  graphContainer,
  graphEdge,
  graphNode,
  type AccessGrant,
  type GraphContainer,
  type GraphDefinition,
  type GraphEdge,
  type GraphNode,
} from '#contract/graph.ts';
import { pairOf } from '#contract/pivots.ts';
import { freeId, takenIds } from './levels.ts';
import type { Added, Position } from './node-commands.ts';

const fragment = z.object({
  nodes: z.array(graphNode).default([]),
  edges: z.array(graphEdge).default([]),
  containers: z.array(graphContainer).default([]),
  access_grants: z.array(accessGrant).default([]),
});
export type Fragment = z.infer<typeof fragment>;

const greatestText = 8 * 1024 * 1024;
const greatestNodes = 5000;

export function copyText(level: GraphDefinition, ids: ReadonlySet<string>): string {
  const inside = (id: string): boolean => ids.has(id);
  const copied: Fragment = {
    nodes: level.nodes.filter(({ id }) => inside(id)),
    edges: level.edges.filter(({ source, target }) => inside(source) && inside(target)),
    containers: level.containers.filter(({ id }) => inside(id)),
    access_grants: level.access_grants.filter((grant) => inside(grant.node_id) && inside(grant.container_id)),
  };
  return JSON.stringify(copied, null, 2);
}

/** Null when the text is no part of a graph. A whole graph file is one, too. */
export function parseFragment(text: string): Fragment | null {
  if (text.length > greatestText || !text.trimStart().startsWith('{')) return null;
  try {
    const parsed = fragment.safeParse(JSON.parse(text));
    if (!parsed.success || parsed.data.nodes.length > greatestNodes) return null;
    return parsed.data.nodes.length + parsed.data.containers.length > 0 ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Puts a fragment with its upper left corner at a position, under ids that are free. */
export function paste(level: GraphDefinition, pasted: Fragment, at: Position): Added {
  const taken = takenIds(level);
  const names = new Map<string, string>();
  for (const { id } of [...pasted.nodes, ...pasted.containers]) {
    const name = freeId(taken, id);
    taken.add(name);
    names.set(id, name);
  }
  const corner = cornerOf(pasted);
  const shifted = (position: Position | undefined): { x: number; y: number } => ({
    x: Math.round(at.x + (position?.x ?? corner.x) - corner.x),
    y: Math.round(at.y + (position?.y ?? corner.y) - corner.y),
  });
  const named = (id: string): string => names.get(id) ?? id;
  const nodes = pasted.nodes.map((node) => renamedNode(node, names, shifted(node.position)));
  const containers = pasted.containers.map((container): GraphContainer => ({
    ...container,
    id: named(container.id),
    position: shifted(container.position),
  }));
  const added = {
    nodes: [...level.nodes, ...nodes],
    edges: [...level.edges, ...pastedEdges(level, pasted, names)],
    containers: [...level.containers, ...containers],
    access_grants: [...level.access_grants, ...pastedGrants(level, pasted, names)],
  };
  return { level: { ...level, ...added }, ids: [...nodes, ...containers].map(({ id }) => id) };
}

function cornerOf({ nodes, containers }: Fragment): Position {
  const positions = [...nodes, ...containers].flatMap(({ position }) => (position ? [position] : []));
  if (positions.length === 0) return { x: 0, y: 0 };
  return { x: Math.min(...positions.map(({ x }) => x)), y: Math.min(...positions.map(({ y }) => y)) };
}

function renamedNode(node: GraphNode, names: ReadonlyMap<string, string>, position: Position): GraphNode {
  const pair = pairOf(node);
  const { pairedWith: _pair, ...alone } = node.config;
  const partner = pair === undefined ? undefined : names.get(pair);
  const config = pair === undefined ? node.config : partner ? { ...alone, pairedWith: partner } : alone;
  return { ...node, id: names.get(node.id) ?? node.id, position: { ...node.position, ...position }, config };
}

function pastedEdges(
  level: GraphDefinition,
  pasted: Fragment,
  names: ReadonlyMap<string, string>,
): GraphEdge[] {
  const taken = new Set(level.edges.map(({ id }) => id));
  return pasted.edges.flatMap((edge) => {
    const source = names.get(edge.source);
    const target = names.get(edge.target);
    if (source === undefined || target === undefined) return [];
    const id = freeId(taken, edge.id);
    taken.add(id);
    return [{ ...edge, id, source, target }];
  });
}

function pastedGrants(
  level: GraphDefinition,
  pasted: Fragment,
  names: ReadonlyMap<string, string>,
): AccessGrant[] {
  const taken = new Set(level.access_grants.map(({ id }) => id));
  return pasted.access_grants.flatMap((grant) => {
    const node = names.get(grant.node_id);
    const container = names.get(grant.container_id);
    if (node === undefined || container === undefined) return [];
    const id = freeId(taken, grant.id || 'grant');
    taken.add(id);
    return [{ ...grant, id, node_id: node, container_id: container }];
  });
}
