// What differs between two graphs as they were run: nodes by their path, wires, and what belongs to the graph itself.
// Labels, positions and descriptions do not count, because they change nothing that runs.
import { canonicalJson } from './base/stable-hash.ts';
import type { GraphDifference } from './contract/compare.ts';
import type { GraphDefinition } from './contract/graph.ts';
import { graphHash } from './graph/graph-tools.ts';

type FieldDifference = GraphDifference['settings'][number];

export function graphDifference(baseline: GraphDefinition, other: GraphDefinition): GraphDifference {
  return {
    equal: graphHash(baseline) === graphHash(other),
    nodes: nodeDifferences(nodesByPath(baseline), nodesByPath(other)),
    edges: edgeDifferences(edgesOf(baseline), edgesOf(other)),
    settings: fieldDifferences(settingsOf(baseline), settingsOf(other)),
  };
}

type GraphNode = GraphDefinition['nodes'][number];

function nodesByPath(graph: GraphDefinition, prefix = ''): Map<string, GraphNode> {
  const found = new Map<string, GraphNode>();
  for (const node of graph.nodes) {
    const path = prefix + node.id;
    found.set(path, node);
    if (!node.subgraph) continue;
    for (const [inner, member] of nodesByPath(node.subgraph, `${path} > `)) found.set(inner, member);
  }
  return found;
}

function nodeDifferences(
  baseline: ReadonlyMap<string, GraphNode>,
  other: ReadonlyMap<string, GraphNode>,
): GraphDifference['nodes'] {
  const paths = [...new Set([...baseline.keys(), ...other.keys()])];
  return paths.flatMap((path): GraphDifference['nodes'] => {
    const a = baseline.get(path);
    const b = other.get(path);
    const types = { baselineType: a?.type ?? null, otherType: b?.type ?? null };
    const fields = fieldDifferences(a?.config ?? {}, b?.config ?? {});
    if (!a) return [{ path, change: 'added', ...types, fields }];
    if (!b) return [{ path, change: 'removed', ...types, fields }];
    if (a.type === b.type && fields.length === 0) return [];
    return [{ path, change: 'changed', ...types, fields }];
  });
}

/** `source.port -> target.port`, with the path of the composite before both. */
function edgesOf(graph: GraphDefinition, prefix = ''): Map<string, { source: string; target: string }> {
  const found = new Map<string, { source: string; target: string }>();
  for (const { source, sourceHandle, target, targetHandle } of graph.edges) {
    const edge = {
      source: `${prefix}${source}.${sourceHandle ?? ''}`,
      target: `${prefix}${target}.${targetHandle ?? ''}`,
    };
    found.set(`${edge.source} -> ${edge.target}`, edge);
  }
  for (const node of graph.nodes) {
    if (!node.subgraph) continue;
    for (const [key, edge] of edgesOf(node.subgraph, `${prefix}${node.id} > `)) found.set(key, edge);
  }
  return found;
}

function edgeDifferences(
  baseline: ReturnType<typeof edgesOf>,
  other: ReturnType<typeof edgesOf>,
): GraphDifference['edges'] {
  const removed = [...baseline].filter(([key]) => !other.has(key));
  const added = [...other].filter(([key]) => !baseline.has(key));
  return [
    ...removed.map(([, edge]) => ({ change: 'removed' as const, ...edge })),
    ...added.map(([, edge]) => ({ change: 'added' as const, ...edge })),
  ];
}

function settingsOf(graph: GraphDefinition): Record<string, unknown> {
  return {
    containers: Object.fromEntries(graph.containers.map(({ id, states }) => [id, states])),
    access_grants: graph.access_grants
      .map(({ node_id, container_id }) => `${node_id} -> ${container_id}`)
      .sort(),
    hooks: graph.hooks,
    step_budget: graph.step_budget ?? graph.maxIterations ?? null,
    eval_graph: graph.eval_graph,
  };
}

/** Members whose values differ, as JSON text. */
export function fieldDifferences(
  baseline: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): FieldDifference[] {
  const names = [...new Set([...Object.keys(baseline), ...Object.keys(other)])];
  return names.flatMap((field) => {
    const a = textOf(baseline[field]);
    const b = textOf(other[field]);
    return a === b ? [] : [{ field, baseline: a, other: b }];
  });
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : canonicalJson(value);
}
