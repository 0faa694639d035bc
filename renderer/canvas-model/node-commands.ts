// Commands on the nodes and wires of one level. Each returns the changed level, and the same object when nothing
// changes.
import { configPorts, isRecord, pairOf } from '#contract/pivots.ts';
import { resolvedConfig } from '#contract/node-ports.ts';
import type { GraphDefinition, GraphEdge, GraphNode } from '#contract/graph.ts';
import type { NodeManifest } from '#contract/nodeset.ts';
import { changeNode, freeId, freshId, sourceHandleOf, takenIds, targetHandleOf } from './levels.ts';

export interface Position {
  readonly x: number;
  readonly y: number;
}

export interface Connection {
  readonly source: string;
  readonly sourceHandle: string;
  readonly target: string;
  readonly targetHandle: string;
}

/** Dropping a wire here makes a new port for it. */
export const newPortHandle = '+';

export interface Added {
  readonly level: GraphDefinition;
  readonly ids: readonly string[];
}

const grid = (value: number): number => Math.round(value);

export function addNode(level: GraphDefinition, manifest: NodeManifest, position: Position): Added {
  const id = freshId(takenIds(level), baseName(manifest.nodeType));
  const node: GraphNode = {
    id,
    type: manifest.nodeType,
    label: manifest.nodeType === 'note' ? '' : manifest.displayName,
    position: { x: grid(position.x), y: grid(position.y) },
    config: {},
  };
  return { level: { ...level, nodes: [...level.nodes, node] }, ids: [id] };
}

/** A loop: both pivots, naming each other. */
export function addLoop(level: GraphDefinition, position: Position): Added {
  const taken = takenIds(level);
  const start = freshId(taken, 'loop_in');
  const end = freshId(taken, 'loop_out');
  const pivot = (id: string, type: string, label: string, x: number, config: object): GraphNode => ({
    id,
    type,
    label,
    position: { x: grid(x), y: grid(position.y) },
    config: { ...config },
  });
  const nodes = [
    pivot(start, 'iterIn', 'Loop start', position.x, { pairedWith: end, initPorts: [] }),
    pivot(end, 'iterOut', 'Loop end', position.x + 640, { pairedWith: start, ports: [] }),
  ];
  return { level: { ...level, nodes: [...level.nodes, ...nodes] }, ids: [start, end] };
}

function baseName(nodeType: string): string {
  return nodeType
    .slice(nodeType.lastIndexOf('__') + 1)
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/^_+/, '');
}

/** Takes nodes, containers and wires away, and whatever hangs on them. */
export function removeItems(
  level: GraphDefinition,
  ids: ReadonlySet<string>,
  edgeIds: ReadonlySet<string>,
): GraphDefinition {
  const grants = level.access_grants.filter(
    (grant) => !ids.has(grant.node_id) && !ids.has(grant.container_id) && !edgeIds.has(grant.id),
  );
  const edges = level.edges.filter(
    (edge) => !ids.has(edge.source) && !ids.has(edge.target) && !edgeIds.has(edge.id),
  );
  const containers = level.containers.filter(({ id }) => !ids.has(id));
  const remaining = level.nodes.filter(({ id }) => !ids.has(id));
  const nodes = remaining.length === level.nodes.length ? level.nodes : remaining.map(withoutPair(ids));
  const isSame =
    nodes === level.nodes &&
    edges.length === level.edges.length &&
    grants.length === level.access_grants.length &&
    containers.length === level.containers.length;
  return isSame ? level : { ...level, nodes, edges, containers, access_grants: grants };
}

function withoutPair(gone: ReadonlySet<string>): (node: GraphNode) => GraphNode {
  return (node) => {
    const pair = pairOf(node);
    if (pair === undefined || !gone.has(pair)) return node;
    const { pairedWith: _gone, ...config } = node.config;
    return { ...node, config };
  };
}

export function moveItems(level: GraphDefinition, positions: ReadonlyMap<string, Position>): GraphDefinition {
  let changed = false;
  const moved = <Item extends { id: string; position?: GraphNode['position'] | undefined }>(
    item: Item,
  ): Item => {
    const wanted = positions.get(item.id);
    if (!wanted) return item;
    const x = grid(wanted.x);
    const y = grid(wanted.y);
    if (item.position && grid(item.position.x) === x && grid(item.position.y) === y) return item;
    changed = true;
    return { ...item, position: { ...item.position, x, y } };
  };
  const nodes = level.nodes.map(moved);
  const containers = level.containers.map(moved);
  return changed ? { ...level, nodes, containers } : level;
}

export interface ConnectOptions {
  readonly manifestOf: (nodeType: string) => NodeManifest | undefined;
  /** Wire type of the source, for a port made by the wire. */
  readonly sourceType: string;
}

/** Draws a wire; at the new-port handle it makes the port first. A wire that is there already changes nothing. */
export function connect(
  level: GraphDefinition,
  connection: Connection,
  { manifestOf, sourceType }: ConnectOptions,
): GraphDefinition {
  if (connection.targetHandle === newPortHandle) {
    const node = level.nodes.find(({ id }) => id === connection.target);
    const made = node && withNewPort(node, manifestOf(node.type), connection, sourceType);
    if (!made) return level;
    return addEdge(
      changeNode(level, connection.target, () => made.node),
      { ...connection, targetHandle: made.handle },
    );
  }
  return addEdge(level, connection);
}

function addEdge(level: GraphDefinition, connection: Connection): GraphDefinition {
  const { source, sourceHandle, target, targetHandle } = connection;
  if (level.edges.some((edge) => isSameWire(edge, connection))) return level;
  const taken = new Set(level.edges.map(({ id }) => id));
  const id = freeId(taken, `${source}.${sourceHandle}-${target}.${targetHandle}`);
  return { ...level, edges: [...level.edges, { id, source, sourceHandle, target, targetHandle }] };
}

export function isSameWire(edge: GraphEdge, connection: Connection): boolean {
  return (
    edge.source === connection.source &&
    edge.target === connection.target &&
    sourceHandleOf(edge) === connection.sourceHandle &&
    targetHandleOf(edge) === connection.targetHandle
  );
}

/** The config field that lists a node's own ports. */
export function portListOf(nodeType: string): string | undefined {
  if (nodeType === 'iterIn') return 'initPorts';
  return ['iterOut', 'llmCall', 'imageViewer'].includes(nodeType) ? 'ports' : undefined;
}

function withNewPort(
  node: GraphNode,
  manifest: NodeManifest | undefined,
  { sourceHandle }: Connection,
  wireType: string,
): { readonly node: GraphNode; readonly handle: string } | undefined {
  const field = portListOf(node.type);
  if (field === undefined) return undefined;
  const listed = resolvedConfig(node, manifest)[field];
  const entries: readonly unknown[] = Array.isArray(listed) ? listed : [];
  const taken = new Set(configPorts(entries).map(({ name }) => name));
  const wanted = sourceHandle.replace(/^(final|init|iterout)_/, '');
  const name = freshId(taken, wanted === 'default' ? 'value' : wanted);
  const ports = [...entries, { name, wire_type: wireType.replace(/^LIST\[(.*)\]$/, '$1') }];
  const handle = node.type === 'iterIn' ? `init_${name}` : name;
  return { node: { ...node, config: { ...node.config, [field]: ports } }, handle };
}

/** Sets one field; undefined takes it away, so that the default holds again. */
export function setConfig(
  level: GraphDefinition,
  id: string,
  field: string,
  value: unknown,
): GraphDefinition {
  return changeNode(level, id, (node) => {
    if (node.config[field] === value) return node;
    const { [field]: _before, ...rest } = node.config;
    return { ...node, config: value === undefined ? rest : { ...node.config, [field]: value } };
  });
}

/** Replaces a port list; wires at ports that were renamed go with them. */
export function setPortList(
  level: GraphDefinition,
  id: string,
  field: string,
  ports: readonly unknown[],
): GraphDefinition {
  const node = level.nodes.find((candidate) => candidate.id === id);
  if (!node) return level;
  const before = Array.isArray(node.config[field]) ? configPortNames(node.config[field]) : [];
  const after = configPortNames(ports);
  const renamed = new Map<string, string>();
  if (before.length === after.length)
    before.forEach((name, index) => {
      const next = after[index];
      if (next !== undefined && next !== '' && next !== name && !after.includes(name))
        renamed.set(name, next);
    });
  const changed = setConfig(level, id, field, ports);
  if (renamed.size === 0) return changed;
  const edges = changed.edges.map((edge) => renamedEdge(edge, node, renamed));
  return { ...changed, edges };
}

function configPortNames(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  const entries: readonly unknown[] = value;
  return entries.map((entry) => (isRecord(entry) && typeof entry.name === 'string' ? entry.name : ''));
}

function renamedEdge(edge: GraphEdge, node: GraphNode, renamed: ReadonlyMap<string, string>): GraphEdge {
  const follow = (handle: string): string => {
    const prefix = /^(init_|iterout_|final_)/.exec(handle)?.[0] ?? '';
    const next = renamed.get(handle.slice(prefix.length));
    return next === undefined ? handle : prefix + next;
  };
  const target = targetHandleOf(edge);
  const source = sourceHandleOf(edge);
  const isCarried = node.type === 'iterOut' && pairOf(node) !== undefined;
  const touchesSource = edge.source === node.id || (isCarried && edge.source === pairOf(node));
  const next = {
    sourceHandle: touchesSource ? follow(source) : source,
    targetHandle: edge.target === node.id ? follow(target) : target,
  };
  return next.sourceHandle === source && next.targetHandle === target ? edge : { ...edge, ...next };
}

export function setLabel(level: GraphDefinition, id: string, label: string): GraphDefinition {
  return changeNode(level, id, (node) => (node.label === label ? node : { ...node, label }));
}

export type GraphSettings = Partial<
  Pick<GraphDefinition, 'name' | 'description' | 'step_budget' | 'eval_graph'>
>;

export function setGraph(level: GraphDefinition, settings: GraphSettings): GraphDefinition {
  const isSame = Object.entries(settings).every(([key, value]) => level[key] === value);
  return isSame ? level : { ...level, ...settings };
}
