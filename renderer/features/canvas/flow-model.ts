// From a level of the graph to what the drawing library takes. Unchanged nodes keep their object, so that they are not
// drawn again.
import { Position, type Edge, type Node, type NodeHandle } from '@xyflow/react';
import type { GraphContainer, GraphDefinition, GraphEdge, GraphNode } from '#contract/graph.ts';
import type { NodeManifest } from '#contract/nodeset.ts';
import type { Handles } from '../../canvas-model/handles.ts';
import { portOf } from '../../canvas-model/handles.ts';
import { sourceHandleOf, targetHandleOf } from '../../canvas-model/levels.ts';
import { newPortHandle, portListOf } from '../../canvas-model/node-commands.ts';
import type { Selection } from '../../canvas-model/editor.ts';

type GraphGrant = GraphDefinition['access_grants'][number];

export const grantHandle = '__grant';

export type GraphFlowNode = Node<
  {
    readonly node: GraphNode;
    readonly handles: Handles;
    readonly manifest: NodeManifest | undefined;
    readonly takesPorts: boolean;
    readonly takesGrants: boolean;
  },
  'graph'
>;
export type NoteFlowNode = Node<{ readonly node: GraphNode }, 'note'>;
export type ContainerFlowNode = Node<
  { readonly container: GraphContainer; readonly grants: number },
  'container'
>;
export type FlowNode = GraphFlowNode | NoteFlowNode | ContainerFlowNode;

export type FlowEdge = Edge<{ readonly wireType: string; readonly isGrant: boolean }>;

// Lengths of canvas.css: with them places of handles are known before anything is drawn or measured.
export const nodeWidth = 212;
const headHeight = 30;
const rowHeight = 20;
const portsPadding = 4;
/** Head, rows, padding below them and the border. */
const fixedHeight = 41;
const unknownNoteHeight = 28;
const handleSize = 10;

/** Rows of ports of a node. */
export function rowsOf(handles: Handles, takesPorts: boolean): number {
  return Math.max(handles.inputs.length + (takesPorts ? 1 : 0), handles.outputs.length);
}

/** Where the handles are, from the corner of the node. */
function placesOf({ handles, takesPorts, takesGrants }: GraphFlowNode['data']): NodeHandle[] {
  const size = { width: handleSize, height: handleSize };
  const y = (row: number): number =>
    headHeight + portsPadding + row * rowHeight + (rowHeight - handleSize) / 2;
  const input = (id: string, row: number): NodeHandle => ({
    ...size,
    id,
    type: 'target',
    position: Position.Left,
    x: -handleSize / 2,
    y: y(row),
  });
  const grant: NodeHandle = {
    ...size,
    id: grantHandle,
    type: 'target',
    position: Position.Top,
    x: (nodeWidth - handleSize) / 2,
    y: 0,
  };
  return [
    ...handles.inputs.map(({ name }, row) => input(name, row)),
    ...(takesPorts ? [input(newPortHandle, handles.inputs.length)] : []),
    ...handles.outputs.map(({ name }, row): NodeHandle => ({
      ...size,
      id: name,
      type: 'source',
      position: Position.Right,
      x: nodeWidth - handleSize / 2,
      y: y(row),
    })),
    ...(takesGrants ? [grant] : []),
  ];
}

const isSameHandles = (one: Handles, other: Handles): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** Nodes of a level over those drawn before: measured sizes and unchanged data are kept. */
export function flowNodes(
  level: GraphDefinition,
  handles: ReadonlyMap<string, Handles>,
  about: {
    readonly types: ReadonlyMap<string, NodeManifest>;
    readonly selection: Selection;
    readonly before: readonly FlowNode[];
  },
): FlowNode[] {
  const { types, selection } = about;
  const before = new Map(about.before.map((node) => [node.id, node]));
  const takesGrants = level.containers.length > 0;
  const nodes = level.nodes.map((node): FlowNode => {
    const selected = selection.ids.has(node.id);
    const old = before.get(node.id);
    if (node.type === 'note')
      return kept(
        old,
        { ...frame(node, selected), type: 'note', data: { node } },
        (data) => data.node === node,
      );
    const own = handles.get(node.id) ?? { inputs: [], outputs: [] };
    const manifest = types.get(node.type);
    const takesPorts = portListOf(node.type) !== undefined;
    const data = { node, handles: own, manifest, takesPorts, takesGrants };
    return graphNode(frame(node, selected), data, old);
  });
  const containers = level.containers.map((container, index): FlowNode => {
    const grants = level.access_grants.filter((grant) => grant.container_id === container.id).length;
    const position = container.position ?? { x: index * 240, y: -220 };
    const made: ContainerFlowNode = {
      ...frame({ id: container.id, position }, selection.ids.has(container.id)),
      type: 'container',
      data: { container, grants },
    };
    return kept(
      before.get(container.id),
      made,
      (other) => 'container' in other && other.container === container && other.grants === grants,
    );
  });
  return [...nodes, ...containers];
}

function graphNode(
  framed: ReturnType<typeof frame>,
  data: GraphFlowNode['data'],
  old: FlowNode | undefined,
): FlowNode {
  const { node, handles, manifest, takesPorts, takesGrants } = data;
  const isSameAsBefore = (other: FlowNode['data']): boolean =>
    'handles' in other &&
    other.node === node &&
    other.manifest === manifest &&
    other.takesGrants === takesGrants &&
    isSameHandles(other.handles, handles);
  const isUnknown = !manifest && node.subgraph == null;
  const height = fixedHeight + rowsOf(handles, takesPorts) * rowHeight + (isUnknown ? unknownNoteHeight : 0);
  // What a viewer shows decides its height: it is measured. All others are drawn in their place at once.
  if (manifest?.kind === 'viewer')
    return kept(old, { ...framed, type: 'graph', data, initialHeight: height }, isSameAsBefore);
  const made: GraphFlowNode = {
    ...framed,
    type: 'graph',
    data,
    initialHeight: height,
    handles: placesOf(data),
    measured: { width: nodeWidth, height },
  };
  return kept(old, made, isSameAsBefore);
}

function frame(
  { id, position }: { readonly id: string; readonly position: { readonly x: number; readonly y: number } },
  selected: boolean,
): {
  readonly id: string;
  readonly position: { x: number; y: number };
  readonly selected: boolean;
  readonly initialWidth: number;
} {
  return { id, position: { x: position.x, y: position.y }, selected, initialWidth: nodeWidth };
}

/** The old object where nothing changed, else the new one with what was measured. */
function kept<Kind extends FlowNode>(
  old: FlowNode | undefined,
  made: Kind,
  isSameData: (data: FlowNode['data'] & { readonly node?: GraphNode }) => boolean,
): FlowNode {
  if (!old || old.type !== made.type) return made;
  const isSame = isSameData(old.data);
  const isInPlace = old.position.x === made.position.x && old.position.y === made.position.y;
  if (isSame && isInPlace && (old.selected ?? false) === made.selected) return old;
  // What was measured holds until the height that is known beforehand changes.
  const isMeasured = old.measured && old.initialHeight === made.initialHeight;
  return {
    ...made,
    ...(isSame && { data: old.data }),
    ...(isMeasured && { measured: old.measured }),
  } as FlowNode;
}

/** Drawn wires by the wires of the graph, which keep their identity while they do not change. */
const drawnWires = new WeakMap<GraphEdge, FlowEdge>();
const drawnGrants = new WeakMap<GraphGrant, FlowEdge>();

export function flowEdges(
  level: GraphDefinition,
  handles: ReadonlyMap<string, Handles>,
  chosen: ReadonlySet<string>,
): FlowEdge[] {
  const wires = level.edges.map((edge) => flowWire(edge, handles));
  const edges = [...wires, ...level.access_grants.map(flowGrant)];
  return chosen.size === 0
    ? edges
    : edges.map((edge) => (chosen.has(edge.id) ? { ...edge, selected: true } : edge));
}

function flowWire(edge: GraphEdge, handles: ReadonlyMap<string, Handles>): FlowEdge {
  const sourceHandle = sourceHandleOf(edge);
  const wireType = portOf(handles, edge.source, 'outputs', sourceHandle)?.wireType ?? 'ANY';
  const known = drawnWires.get(edge);
  if (known?.data?.wireType === wireType) return known;
  const made: FlowEdge = {
    id: edge.id,
    source: edge.source,
    target: edge.target,
    sourceHandle,
    targetHandle: targetHandleOf(edge),
    className: `wire ${wireClass(wireType)}`,
    data: { wireType, isGrant: false },
  };
  drawnWires.set(edge, made);
  return made;
}

function flowGrant(grant: GraphGrant): FlowEdge {
  const known = drawnGrants.get(grant);
  if (known) return known;
  const made: FlowEdge = {
    id: grant.id,
    source: grant.container_id,
    target: grant.node_id,
    sourceHandle: grantHandle,
    targetHandle: grantHandle,
    className: 'wire grant',
    data: { wireType: '', isGrant: true },
  };
  drawnGrants.set(grant, made);
  return made;
}

/** `LIST[IMAGE]` is drawn in the colour of IMAGE. */
export function wireClass(wireType: string): string {
  const inner = /^LIST\[(.*)\]$/.exec(wireType)?.[1] ?? wireType;
  return `type-${(inner === 'ACTION' ? 'DISCRETE_ACTION' : inner).toLowerCase()}`;
}
