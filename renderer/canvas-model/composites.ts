// Nodes into a composite and out again. Wires that cross the border go through graph inputs and outputs, named after
// the ports they join; a group that would cut a loop or a grant is refused with the reason.
import { pairOf } from '#contract/pivots.ts';
import type { GraphDefinition, GraphEdge, GraphNode } from '#contract/graph.ts';
import { portOf, type Handles } from './handles.ts';
import { emptyGraph, freeId, freshId, nodeName, sourceHandleOf, takenIds, targetHandleOf } from './levels.ts';
import type { Added, Position } from './node-commands.ts';

export type Grouped = ({ readonly ok: true } & Added) | { readonly ok: false; readonly reason: string };

/** Why the nodes cannot become a composite, or undefined when they can. */
export function groupRefusal(level: GraphDefinition, ids: ReadonlySet<string>): string | undefined {
  const nodes = level.nodes.filter(({ id }) => ids.has(id));
  if (nodes.length === 0) return 'Select the nodes to group first.';
  for (const node of nodes) {
    const pair = pairOf(node);
    if (pair !== undefined && !ids.has(pair))
      return `${nodeName(node)} is half of a loop. Select its other half too, or neither.`;
    if (node.type === 'graphIn' || node.type === 'graphOut')
      return `${nodeName(node)} belongs to the border of this graph and stays outside.`;
  }
  const shared = level.access_grants.find(
    (grant) => ids.has(grant.node_id) && !ownsContainer(level, ids, grant.container_id),
  );
  if (!shared) return undefined;
  const name = level.containers.find(({ id }) => id === shared.container_id)?.label ?? shared.container_id;
  return `The container ${name} is used outside of the group too; a composite only sees its own.`;
}

/** A container goes inside when everybody who may use it does. */
function ownsContainer(level: GraphDefinition, ids: ReadonlySet<string>, containerId: string): boolean {
  return level.access_grants
    .filter((grant) => grant.container_id === containerId)
    .every((grant) => ids.has(grant.node_id));
}

export function group(
  level: GraphDefinition,
  ids: ReadonlySet<string>,
  handles: ReadonlyMap<string, Handles>,
): Grouped {
  const reason = groupRefusal(level, ids);
  if (reason !== undefined) return { ok: false, reason };
  const inner = level.nodes.filter(({ id }) => ids.has(id));
  const id = freshId(takenIds(level), 'composite');
  const border = new Border(ids, id, handles, boxOf(inner));
  const edges = level.edges.map((edge) => border.outer(edge)).filter((edge) => edge !== null);
  const grants = level.access_grants.filter((grant) => ids.has(grant.node_id));
  const inside = new Set(grants.map((grant) => grant.container_id));
  const composite: GraphNode = {
    id,
    type: 'compositeNode',
    label: 'Composite',
    position: middleOf(inner),
    config: {},
    subgraph: {
      ...emptyGraph('Composite'),
      kind: 'node',
      eval_graph: false,
      nodes: [...border.inputs, ...inner, ...border.outputs],
      edges: border.innerEdges,
      containers: level.containers.filter((container) => inside.has(container.id)),
      access_grants: grants,
    },
  };
  const first = level.nodes.findIndex((node) => ids.has(node.id));
  const nodes = level.nodes.flatMap((node, index) =>
    index === first ? [composite] : ids.has(node.id) ? [] : [node],
  );
  return {
    ok: true,
    ids: [id],
    level: {
      ...level,
      nodes,
      edges: uniqueWires(edges),
      containers: level.containers.filter((container) => !inside.has(container.id)),
      access_grants: level.access_grants.filter((grant) => !ids.has(grant.node_id)),
    },
  };
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

/** The ports of a composite in the making, and the wires through them. */
class Border {
  readonly inputs: GraphNode[] = [];
  readonly outputs: GraphNode[] = [];
  readonly innerEdges: GraphEdge[] = [];
  readonly #ids: ReadonlySet<string>;
  readonly #composite: string;
  readonly #handles: ReadonlyMap<string, Handles>;
  readonly #box: Box;
  readonly #taken: Set<string>;
  readonly #ports = new Map<string, { readonly port: string; readonly node: string }>();

  constructor(ids: ReadonlySet<string>, composite: string, handles: ReadonlyMap<string, Handles>, box: Box) {
    this.#ids = ids;
    this.#composite = composite;
    this.#handles = handles;
    this.#box = box;
    this.#taken = new Set(ids);
  }

  /** The wire as it is outside; null for one that is inside. Makes the ports it needs. */
  outer(edge: GraphEdge): GraphEdge | null {
    const fromInside = this.#ids.has(edge.source);
    const toInside = this.#ids.has(edge.target);
    if (!fromInside && !toInside) return edge;
    if (fromInside && toInside) {
      this.innerEdges.push(edge);
      return null;
    }
    return toInside ? this.#entering(edge) : this.#leaving(edge);
  }

  /** Wires from one output share one graph input. */
  #entering(edge: GraphEdge): GraphEdge {
    const handle = sourceHandleOf(edge);
    const key = `in ${edge.source} ${handle}`;
    const port = this.#ports.get(key) ?? this.#newPort(key, 'graphIn', edge, targetHandleOf(edge));
    this.innerEdges.push({
      ...edge,
      source: port.node,
      sourceHandle: 'value',
      targetHandle: targetHandleOf(edge),
    });
    return { ...edge, target: this.#composite, targetHandle: port.port };
  }

  #leaving(edge: GraphEdge): GraphEdge {
    const handle = sourceHandleOf(edge);
    const key = `out ${edge.source} ${handle}`;
    const known = this.#ports.get(key);
    const port = known ?? this.#newPort(key, 'graphOut', edge, handle);
    if (!known) {
      const id = freshId(
        new Set(this.innerEdges.map((inner) => inner.id)),
        `${edge.source}_${handle}_${port.node}`,
      );
      this.innerEdges.push({
        id,
        source: edge.source,
        sourceHandle: handle,
        target: port.node,
        targetHandle: 'value',
      });
    }
    return { ...edge, source: this.#composite, sourceHandle: port.port, targetHandle: targetHandleOf(edge) };
  }

  #newPort(
    key: string,
    type: 'graphIn' | 'graphOut',
    edge: GraphEdge,
    wanted: string,
  ): { readonly port: string; readonly node: string } {
    const list = type === 'graphIn' ? this.inputs : this.outputs;
    const names = new Set(list.map(({ config }) => String(config.portName)));
    const port = freshId(
      names,
      wanted === 'default' ? 'value' : wanted.replace(/^(init|iterout|final)_/, ''),
    );
    const node = freshId(this.#taken, `${type === 'graphIn' ? 'in' : 'out'}_${port}`);
    this.#taken.add(node);
    const wireType = portOf(this.#handles, edge.source, 'outputs', sourceHandleOf(edge))?.wireType ?? 'ANY';
    const x = type === 'graphIn' ? this.#box.left - 260 : this.#box.right + 320;
    const position = { x: Math.round(x), y: Math.round(this.#box.top + list.length * 90) };
    list.push({ id: node, type, label: port, position, config: { portName: port, wireType } });
    const made = { port, node };
    this.#ports.set(key, made);
    return made;
  }
}

/** Wires that became the same one are one. */
function uniqueWires(edges: readonly GraphEdge[]): GraphEdge[] {
  const seen = new Set<string>();
  return edges.filter((edge) => {
    const key = JSON.stringify([edge.source, sourceHandleOf(edge), edge.target, targetHandleOf(edge)]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function boxOf(nodes: readonly GraphNode[]): Box {
  const xs = nodes.map(({ position }) => position.x);
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: Math.min(...nodes.map(({ position }) => position.y)),
  };
}

function middleOf(nodes: readonly GraphNode[]): { x: number; y: number } {
  const sum = nodes.reduce((total, { position }) => ({ x: total.x + position.x, y: total.y + position.y }), {
    x: 0,
    y: 0,
  });
  return { x: Math.round(sum.x / nodes.length), y: Math.round(sum.y / nodes.length) };
}

/** Opens a composite into the level it stands in: its nodes under free ids, its wires joined. */
export function ungroup(level: GraphDefinition, id: string): Added {
  const composite = level.nodes.find((node) => node.id === id);
  const inner = composite?.subgraph;
  if (!composite || !inner) return { level, ids: [] };
  const names = innerNames(level, id, inner);
  const offset = offsetOf(composite.position, inner.nodes);
  const kept = inner.nodes.filter(({ type }) => type !== 'graphIn' && type !== 'graphOut');
  const nodes = kept.map((node): GraphNode => {
    const pair = pairOf(node);
    const config = pair === undefined ? node.config : { ...node.config, pairedWith: names.get(pair) ?? pair };
    const position = { ...node.position, x: node.position.x + offset.x, y: node.position.y + offset.y };
    return { ...node, id: names.get(node.id) ?? node.id, position, config };
  });
  const named = (name: string): string => names.get(name) ?? name;
  const at = level.nodes.indexOf(composite);
  return {
    ids: nodes.map((node) => node.id),
    level: {
      ...level,
      nodes: [...level.nodes.slice(0, at), ...nodes, ...level.nodes.slice(at + 1)],
      edges: joinedEdges(level, id, inner, named),
      containers: [
        ...level.containers,
        ...inner.containers.map((container) => ({ ...container, id: named(container.id) })),
      ],
      access_grants: [
        ...level.access_grants.filter((grant) => grant.node_id !== id),
        ...inner.access_grants.map((grant) => ({
          ...grant,
          node_id: named(grant.node_id),
          container_id: named(grant.container_id),
        })),
      ],
    },
  };
}

function innerNames(level: GraphDefinition, id: string, inner: GraphDefinition): ReadonlyMap<string, string> {
  const taken = takenIds(level);
  taken.delete(id);
  const names = new Map<string, string>();
  for (const item of [...inner.nodes, ...inner.containers]) {
    const name = freeId(taken, item.id);
    taken.add(name);
    names.set(item.id, name);
  }
  return names;
}

function offsetOf(position: Position, inner: readonly GraphNode[]): Position {
  const kept = inner.filter(({ type }) => type !== 'graphIn' && type !== 'graphOut');
  if (kept.length === 0) return { x: 0, y: 0 };
  const middle = middleOf(kept);
  return { x: position.x - middle.x, y: position.y - middle.y };
}

function joinedEdges(
  level: GraphDefinition,
  id: string,
  inner: GraphDefinition,
  named: (name: string) => string,
): GraphEdge[] {
  const portNode = (type: string, fallback: string): ReadonlyMap<string, string> =>
    new Map(
      inner.nodes
        .filter((node) => node.type === type)
        .map((node) => [node.id, typeof node.config.portName === 'string' ? node.config.portName : fallback]),
    );
  const entries = portNode('graphIn', 'input');
  const exits = portNode('graphOut', 'output');
  const taken = new Set<string>();
  const made = (edge: GraphEdge): GraphEdge => {
    const name = freeId(taken, edge.id);
    taken.add(name);
    return name === edge.id ? edge : { ...edge, id: name };
  };
  const enters = level.edges.filter((edge) => edge.target === id);
  const outer = level.edges.flatMap((edge): GraphEdge[] => {
    if (edge.target === id) return []; // Joined where the inner wires begin.
    if (edge.source !== id) return [edge];
    return inner.edges
      .filter((inside) => exits.get(inside.target) === sourceHandleOf(edge) && !entries.has(inside.source))
      .map((inside) => ({
        ...edge,
        source: named(inside.source),
        sourceHandle: sourceHandleOf(inside),
        targetHandle: targetHandleOf(edge),
      }));
  });
  const insideEdges = inner.edges.flatMap((edge): GraphEdge[] => {
    const port = entries.get(edge.source);
    if (exits.has(edge.target)) {
      const leaving = level.edges.filter(
        (outside) =>
          port !== undefined && outside.source === id && sourceHandleOf(outside) === exits.get(edge.target),
      );
      return enters
        .filter((outside) => targetHandleOf(outside) === port)
        .flatMap((into) =>
          leaving.map((out) => ({ ...out, source: into.source, sourceHandle: sourceHandleOf(into) })),
        );
    }
    if (port === undefined) return [{ ...edge, source: named(edge.source), target: named(edge.target) }];
    return enters
      .filter((outside) => targetHandleOf(outside) === port)
      .map((outside) => ({
        ...outside,
        sourceHandle: sourceHandleOf(outside),
        target: named(edge.target),
        targetHandle: targetHandleOf(edge),
      }));
  });
  return uniqueWires([...outer, ...insideEdges]).map(made);
}
