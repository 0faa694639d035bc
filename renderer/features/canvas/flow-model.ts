// From a level of the graph to what the drawing library takes. Unchanged nodes keep their object, so that they are not
// drawn again.
import type { Edge, Node } from '@xyflow/react';
import type { GraphContainer, GraphDefinition, GraphNode } from '#contract/graph.ts';
import type { NodeManifest } from '#contract/nodeset.ts';
import type { Handles } from '../../canvas-model/handles.ts';
import { portOf } from '../../canvas-model/handles.ts';
import { sourceHandleOf, targetHandleOf } from '../../canvas-model/levels.ts';
import { portListOf } from '../../canvas-model/node-commands.ts';
import type { Selection } from '../../canvas-model/editor.ts';

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

export const nodeWidth = 212;
const headHeight = 30;
const rowHeight = 20;

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
    const rows = Math.max(own.inputs.length + (takesPorts ? 1 : 0), own.outputs.length);
    const made: GraphFlowNode = {
      ...frame(node, selected),
      type: 'graph',
      data,
      initialHeight: headHeight + rows * rowHeight + 12,
    };
    return kept(
      old,
      made,
      (other) =>
        'handles' in other &&
        other.node === node &&
        other.manifest === manifest &&
        other.takesGrants === takesGrants &&
        isSameHandles(other.handles, own),
    );
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
  return {
    ...made,
    ...(isSame && { data: old.data }),
    ...(old.measured && { measured: old.measured }),
  } as FlowNode;
}

export function flowEdges(
  level: GraphDefinition,
  handles: ReadonlyMap<string, Handles>,
  selection: Selection,
): FlowEdge[] {
  const wires = level.edges.map((edge): FlowEdge => {
    const sourceHandle = sourceHandleOf(edge);
    const wireType = portOf(handles, edge.source, 'outputs', sourceHandle)?.wireType ?? 'ANY';
    return {
      id: edge.id,
      source: edge.source,
      target: edge.target,
      sourceHandle,
      targetHandle: targetHandleOf(edge),
      selected: selection.edges.has(edge.id),
      className: `wire ${wireClass(wireType)}`,
      data: { wireType, isGrant: false },
    };
  });
  const grants = level.access_grants.map((grant): FlowEdge => ({
    id: grant.id,
    source: grant.container_id,
    target: grant.node_id,
    sourceHandle: grantHandle,
    targetHandle: grantHandle,
    selected: selection.edges.has(grant.id),
    className: 'wire grant',
    data: { wireType: '', isGrant: true },
  }));
  return [...wires, ...grants];
}

/** `LIST[IMAGE]` is drawn in the colour of IMAGE. */
export function wireClass(wireType: string): string {
  const inner = /^LIST\[(.*)\]$/.exec(wireType)?.[1] ?? wireType;
  return `type-${(inner === 'ACTION' ? 'DISCRETE_ACTION' : inner).toLowerCase()}`;
}
