// Composites become their contents before anything runs. Inner ids are prefixed with the composite's; pairings,
// containers and grants are renamed with them. A composite without a loop loses its graphIn and graphOut (wires are
// joined by port name); one with a loop keeps them, because there they are the loop's boundary.
import type {
  AccessGrant,
  GraphContainer,
  GraphDefinition,
  GraphEdge,
  GraphHook,
  GraphNode,
} from '../contract/graph.ts';

export interface FlatGraph {
  /** No node of it has a subgraph. */
  readonly graph: GraphDefinition;
  /** Flat id to the ids that lead to it; `composite > inner`. */
  readonly pathOf: (nodeId: string) => string;
}

interface Level {
  nodes: GraphNode[];
  edges: GraphEdge[];
  readonly containers: GraphContainer[];
  readonly grants: AccessGrant[];
}

export function flattenGraph(definition: GraphDefinition): FlatGraph {
  const paths = new Map<string, string>();
  const level: Level = {
    nodes: [...definition.nodes],
    edges: [...definition.edges],
    containers: [...definition.containers],
    grants: [...definition.access_grants],
  };
  while (level.nodes.some(isComposite)) expandLevel(level, paths);
  const graph = {
    ...definition,
    nodes: level.nodes,
    edges: level.edges,
    containers: level.containers,
    access_grants: level.grants,
  };
  return { graph, pathOf: (nodeId) => paths.get(nodeId) ?? nodeId };
}

function isComposite(node: GraphNode): boolean {
  return (node.subgraph?.nodes.length ?? 0) > 0;
}

/** Opens every composite of this level once; what comes out may hold composites again. */
function expandLevel(level: Level, paths: Map<string, string>): void {
  const nodes: GraphNode[] = [];
  let outer = level.edges;
  let joined: GraphEdge[] = [];
  for (const node of level.nodes) {
    if (!node.subgraph || !isComposite(node)) {
      nodes.push(node);
      continue;
    }
    const inner = renamed(node.id, node.subgraph);
    const outerPath = paths.get(node.id) ?? node.id;
    for (const child of node.subgraph.nodes)
      paths.set(`${node.id}__${child.id}`, `${outerPath} > ${child.id}`);
    const boundary = boundaryOf(inner);
    nodes.push(...boundary.remainingNodes);
    const touching = [...outer, ...joined].filter(
      (edge) => edge.source === node.id || edge.target === node.id,
    );
    const untouched = (edge: GraphEdge): boolean => edge.source !== node.id && edge.target !== node.id;
    outer = outer.filter(untouched);
    joined = [...joined.filter(untouched), ...boundary.rejoin(node.id, touching), ...boundary.remainingEdges];
    level.containers.push(...inner.containers);
    level.grants.push(...inner.access_grants);
  }
  level.nodes = nodes;
  level.edges = [...outer, ...joined];
}

function renamed(compositeId: string, subgraph: GraphDefinition): GraphDefinition {
  const inside = new Set(subgraph.nodes.map((node) => node.id));
  const rename = (id: string): string => (inside.has(id) ? `${compositeId}__${id}` : id);
  return {
    ...subgraph,
    nodes: subgraph.nodes.map((node) => {
      const pair = node.config.pairedWith;
      const config = typeof pair === 'string' ? { ...node.config, pairedWith: rename(pair) } : node.config;
      return { ...node, id: rename(node.id), config };
    }),
    edges: subgraph.edges.map((edge) => ({
      ...edge,
      id: `${compositeId}__${edge.id}`,
      source: rename(edge.source),
      target: rename(edge.target),
    })),
    containers: subgraph.containers.map((container) => ({
      ...container,
      id: `${compositeId}__${container.id}`,
    })),
    access_grants: subgraph.access_grants.map((grant) => ({
      ...grant,
      id: `${compositeId}__${grant.id}`,
      node_id: `${compositeId}__${grant.node_id}`,
      container_id: `${compositeId}__${grant.container_id}`,
    })),
  };
}

interface Boundary {
  readonly remainingNodes: readonly GraphNode[];
  readonly remainingEdges: readonly GraphEdge[];
  /** The outer wires that touched the composite, led to what is inside. Wires to unknown ports vanish. */
  rejoin(compositeId: string, touching: readonly GraphEdge[]): GraphEdge[];
}

function boundaryOf(inner: GraphDefinition): Boundary {
  const entries = byPortName(inner, 'graphIn', 'input');
  const exits = byPortName(inner, 'graphOut', 'output');
  if (inner.nodes.some((node) => node.type === 'iterIn')) {
    return {
      remainingNodes: inner.nodes,
      remainingEdges: inner.edges,
      rejoin: (compositeId, touching) =>
        touching.flatMap((edge) => retarget(edge, compositeId, entries, exits)),
    };
  }
  const boundaryIds = new Set([...entries.values(), ...exits.values()]);
  return {
    remainingNodes: inner.nodes.filter((node) => node.type !== 'graphIn' && node.type !== 'graphOut'),
    remainingEdges: inner.edges.filter(
      (edge) => !boundaryIds.has(edge.source) && !boundaryIds.has(edge.target),
    ),
    rejoin: (compositeId, touching) => splice({ compositeId, touching, inner, entries, exits }),
  };
}

function byPortName(graph: GraphDefinition, type: string, defaultName: string): ReadonlyMap<string, string> {
  return new Map(
    graph.nodes
      .filter((node) => node.type === type)
      .map((node) => [
        typeof node.config.portName === 'string' ? node.config.portName : defaultName,
        node.id,
      ]),
  );
}

type PortIds = ReadonlyMap<string, string>;

function retarget(edge: GraphEdge, compositeId: string, entries: PortIds, exits: PortIds): GraphEdge[] {
  let result = edge;
  if (edge.target === compositeId) {
    const entry = entries.get(edge.targetHandle || 'input');
    if (!entry) return [];
    result = { ...result, target: entry, targetHandle: 'value' };
  }
  if (edge.source === compositeId) {
    const exit = exits.get(edge.sourceHandle || 'output');
    if (!exit) return [];
    result = { ...result, source: exit, sourceHandle: 'value' };
  }
  return [result];
}

interface Splice {
  readonly compositeId: string;
  readonly touching: readonly GraphEdge[];
  readonly inner: GraphDefinition;
  readonly entries: PortIds;
  readonly exits: PortIds;
}

function splice({ compositeId, touching, inner, entries, exits }: Splice): GraphEdge[] {
  const entryIds = new Set(entries.values());
  const exitPorts = new Map([...exits].map(([port, id]) => [id, port]));
  const producersOf = (edge: GraphEdge): GraphEdge[] =>
    edge.source === compositeId
      ? inner.edges.filter(
          (candidate) =>
            candidate.target === exits.get(edge.sourceHandle || 'output') && !entryIds.has(candidate.source),
        )
      : [edge];
  const leaving = (port: string): GraphEdge[] =>
    touching.filter((edge) => edge.source === compositeId && (edge.sourceHandle || 'output') === port);
  /** Where a wire that enters by `edge` ends; a passage straight through leads on, at most once per port. */
  const consumersOf = (edge: GraphEdge, passed: ReadonlySet<string>): GraphEdge[] => {
    if (edge.target !== compositeId) return [edge];
    const entry = entries.get(edge.targetHandle || 'input');
    return inner.edges.flatMap((candidate) => {
      if (candidate.source !== entry) return [];
      const through = exitPorts.get(candidate.target);
      if (through === undefined) return [candidate];
      if (passed.has(through)) return [];
      return leaving(through).flatMap((next) => consumersOf(next, new Set([...passed, through])));
    });
  };
  return touching.flatMap((edge) =>
    producersOf(edge).flatMap((producer) =>
      consumersOf(edge, new Set()).map((consumer) => ({
        id: edge.id,
        source: producer.source,
        sourceHandle: producer.sourceHandle,
        target: consumer.target,
        targetHandle: consumer.targetHandle ?? edge.targetHandle,
      })),
    ),
  );
}

/** Hooks written into a node's own config run for that node only; they come after the graph's. */
export function nodeHooks(
  graph: GraphDefinition,
  parse: (value: unknown) => GraphHook | undefined,
): readonly GraphHook[] {
  return graph.nodes.flatMap((node) => {
    const written = node.config.hooks;
    if (!Array.isArray(written)) return [];
    const entries: readonly unknown[] = written;
    return entries.flatMap((entry) => {
      const hook = parse(entry);
      return hook ? [{ ...hook, match_node_type: node.type, match_node_id: node.id }] : [];
    });
  });
}
