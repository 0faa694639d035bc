// From what the drawing library reports to commands of the editor: selecting, moving, wiring, dropping.
import {
  applyNodeChanges,
  useReactFlow,
  type Connection as FlowConnection,
  type EdgeChange,
  type NodeChange,
  type OnConnectEnd,
} from '@xyflow/react';
import { useCallback, useEffect, useRef, useState, type DragEvent } from 'react';
import type { GraphDefinition } from '#contract/graph.ts';
import type { NodeManifest } from '#contract/nodeset.ts';
import { setGrant } from '../../canvas-model/container-commands.ts';
import type { Selection } from '../../canvas-model/editor.ts';
import { refusalOf, type Handles } from '../../canvas-model/handles.ts';
import { connect, moveItems, type Connection } from '../../canvas-model/node-commands.ts';
import { useCanvas } from './canvas-context.tsx';
import { flowNodes, grantHandle, type FlowEdge, type FlowNode } from './flow-model.ts';
import { addOfPalette, paletteDrag } from './palette-entries.ts';

export interface FlowNodesInput {
  readonly level: GraphDefinition;
  readonly handles: ReadonlyMap<string, Handles>;
  readonly types: ReadonlyMap<string, NodeManifest>;
  readonly selection: Selection;
}

export interface FlowNodes {
  readonly nodes: FlowNode[];
  readonly onNodesChange: (changes: NodeChange<FlowNode>[]) => void;
  /** The drawn positions of these nodes become the graph's. */
  readonly commit: (ids: readonly string[]) => void;
}

/** The drawn nodes: they follow the graph, and go ahead of it while something is dragged. */
export function useFlowNodes(input: FlowNodesInput): FlowNodes {
  const { editor } = useCanvas();
  const { level, handles, types, selection } = input;
  const [nodes, setNodes] = useState<FlowNode[]>(() => flowNodes(level, handles, { ...input, before: [] }));
  const [drawn, setDrawn] = useState(input);
  const isOld =
    drawn.level !== level ||
    drawn.handles !== handles ||
    drawn.types !== types ||
    drawn.selection !== selection;
  if (isOld) {
    setDrawn(input);
    setNodes(flowNodes(level, handles, { ...input, before: nodes }));
  }
  const latest = useRef(nodes);
  useEffect(() => {
    latest.current = nodes;
  }, [nodes]);
  const commit = useCallback(
    (ids: readonly string[]) => {
      const wanted = new Set(ids);
      const positions = new Map(
        latest.current.filter(({ id }) => wanted.has(id)).map(({ id, position }) => [id, position]),
      );
      editor.apply('Move', (before) => moveItems(before, positions), `move ${ids.join(' ')}`);
    },
    [editor],
  );
  const onNodesChange = useCallback(
    (changes: NodeChange<FlowNode>[]) => {
      const next = applyNodeChanges(changes, latest.current);
      latest.current = next;
      setNodes(next);
      if (changes.some(({ type }) => type === 'select')) {
        const chosen = next.filter((node) => node.selected).map(({ id }) => id);
        editor.select(chosen, editor.store.getState().selection.edges);
      }
      // Arrow keys move without dragging: such a change is final.
      const moved = changes.flatMap((change) =>
        change.type === 'position' && change.position && !change.dragging ? [change.id] : [],
      );
      if (moved.length > 0) commit(moved);
    },
    [editor, commit],
  );
  return { nodes, onNodesChange, commit };
}

export function useEdgeChanges(): (changes: EdgeChange<FlowEdge>[]) => void {
  const { editor } = useCanvas();
  return useCallback(
    (changes: EdgeChange<FlowEdge>[]) => {
      const chosen = new Set(editor.store.getState().selection.edges);
      for (const change of changes) {
        if (change.type !== 'select') continue;
        if (change.selected) chosen.add(change.id);
        else chosen.delete(change.id);
      }
      editor.select(editor.store.getState().selection.ids, chosen);
    },
    [editor],
  );
}

export interface Connecting {
  /** Why a wire may not be drawn; undefined when it may. */
  readonly reasonAgainst: (drawn: FlowConnection | FlowEdge) => string | undefined;
  readonly onConnect: (drawn: FlowConnection) => void;
  readonly onConnectEnd: OnConnectEnd;
}

export function useConnecting(level: GraphDefinition, handles: ReadonlyMap<string, Handles>): Connecting {
  const { editor, types } = useCanvas();
  const reasonAgainst = useCallback(
    (drawn: FlowConnection | FlowEdge): string | undefined => {
      const wire = wireOf(drawn);
      if (!wire) return 'A wire goes from an output to an input.';
      const isGrant = wire.sourceHandle === grantHandle;
      if (isGrant !== (wire.targetHandle === grantHandle)) return 'A grant joins a container and a node.';
      return isGrant ? undefined : refusalOf(level, handles, wire);
    },
    [level, handles],
  );
  const onConnect = useCallback(
    (drawn: FlowConnection) => {
      const wire = wireOf(drawn);
      if (!wire) return;
      if (wire.sourceHandle === grantHandle)
        return editor.apply('Grant', (before) => setGrant(before, wire.source, wire.target, true));
      const sourceType =
        handles.get(wire.source)?.outputs.find(({ name }) => name === wire.sourceHandle)?.wireType ?? 'ANY';
      editor.apply('Connect', (before) =>
        connect(before, wire, { manifestOf: (type) => types.get(type), sourceType }),
      );
    },
    [editor, handles, types],
  );
  const onConnectEnd: OnConnectEnd = useCallback(
    (_event, state) => {
      if (state.isValid !== false || !state.fromHandle || !state.toHandle) return;
      const isForward = state.fromHandle.type === 'source';
      const [from, to] = isForward ? [state.fromHandle, state.toHandle] : [state.toHandle, state.fromHandle];
      const drawn = {
        source: from.nodeId,
        sourceHandle: from.id ?? null,
        target: to.nodeId,
        targetHandle: to.id ?? null,
      };
      const isBothWays = state.fromHandle.type === state.toHandle.type;
      editor.refuse(isBothWays ? 'A wire goes from an output to an input.' : (reasonAgainst(drawn) ?? null));
    },
    [editor, reasonAgainst],
  );
  return { reasonAgainst, onConnect, onConnectEnd };
}

export function usePaletteDrop(): (event: DragEvent) => void {
  const { editor, types } = useCanvas();
  const { screenToFlowPosition } = useReactFlow();
  return (event) => {
    const entry = event.dataTransfer.getData(paletteDrag);
    if (entry === '') return;
    event.preventDefault();
    event.stopPropagation();
    addOfPalette(editor, types, entry, screenToFlowPosition({ x: event.clientX, y: event.clientY }));
  };
}

function wireOf(drawn: FlowConnection | FlowEdge): Connection | null {
  const { source, target, sourceHandle, targetHandle } = drawn;
  if (!source || !target || !sourceHandle || !targetHandle) return null;
  return { source, target, sourceHandle, targetHandle };
}
