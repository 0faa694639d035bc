// The drawing of one level: nodes and wires by the library, every change through the editor. While something is
// dragged only the drawing moves; the graph changes when it is let go.
import { Background, Controls, MiniMap, ReactFlow, useReactFlow, useStore } from '@xyflow/react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { handlesOf } from '../../canvas-model/handles.ts';
import { paletteDrag } from './palette-entries.ts';
import { useCanvas, useEditorState, useLevel } from './canvas-context.tsx';
import { ContainerView } from './container-view.tsx';
import { flowEdges, type FlowEdge, type FlowNode } from './flow-model.ts';
import { useConnecting, useEdgeChanges, useFlowNodes, usePaletteDrop } from './use-flow-changes.ts';
import { NodeView } from './node-view.tsx';
import { NoteView } from './note-view.tsx';
import { WireValue, type HoveredWire } from './wire-value.tsx';

const nodeTypes = { graph: NodeView, note: NoteView, container: ContainerView };
const manyNodes = 120;
/** Below this names are drawn large instead of ports. */
const farZoom = 0.45;
const fitOptions = { padding: 0.12, maxZoom: 1 };

export function FlowCanvas() {
  const { editor, types } = useCanvas();
  const level = useLevel();
  const path = useEditorState((state) => state.path);
  const selection = useEditorState((state) => state.selection);
  const handles = useMemo(() => handlesOf(level, { manifestOf: (type) => types.get(type) }), [level, types]);
  const edges = useMemo(() => flowEdges(level, handles, selection), [level, handles, selection]);
  const { nodes, onNodesChange, commit } = useFlowNodes({ level, handles, types, selection });
  const isFar = useStore((state) => state.transform[2] < farZoom);
  const [hovered, setHovered] = useState<HoveredWire | null>(null);
  useReveal(path.join('\n'));
  const onEdgesChange = useEdgeChanges();
  const { reasonAgainst, onConnect, onConnectEnd } = useConnecting(level, handles);
  const onDrop = usePaletteDrop();

  return (
    <div
      className={isFar ? 'flow far' : 'flow'}
      onDrop={onDrop}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes(paletteDrag)) event.preventDefault();
      }}
    >
      <ReactFlow<FlowNode, FlowEdge>
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onNodeDragStop={(_event, _node, dragged) => commit(dragged.map(({ id }) => id))}
        onSelectionDragStop={(_event, dragged) => commit(dragged.map(({ id }) => id))}
        onConnect={onConnect}
        onConnectEnd={onConnectEnd}
        isValidConnection={(drawn) => reasonAgainst(drawn) === undefined}
        onNodeDoubleClick={(_event, flowNode) => {
          if ('node' in flowNode.data && flowNode.data.node.subgraph) editor.open([...path, flowNode.id]);
        }}
        onEdgeMouseEnter={(event, edge) =>
          setHovered({
            edgeId: edge.id,
            x: event.clientX,
            y: event.clientY,
            wireType: edge.data?.wireType ?? '',
          })
        }
        onEdgeMouseLeave={() => setHovered(null)}
        onPaneClick={() => editor.refuse(null)}
        onlyRenderVisibleElements={level.nodes.length > manyNodes}
        deleteKeyCode={null}
        panActivationKeyCode={null}
        selectionKeyCode="Shift"
        multiSelectionKeyCode={['Control', 'Meta', 'Shift']}
        connectionRadius={16}
        minZoom={0.05}
        maxZoom={2}
        fitView
        fitViewOptions={fitOptions}
        proOptions={{ hideAttribution: true }}
        nodeDragThreshold={2}
        elevateNodesOnSelect={false}
      >
        <Background gap={20} size={1} />
        <Controls showInteractive={false} fitViewOptions={fitOptions} />
        <MiniMap pannable zoomable ariaLabel="Overview of the graph" nodeStrokeWidth={4} />
      </ReactFlow>
      {level.nodes.length + level.containers.length === 0 ? (
        <p className="flow-hint muted">
          Drag a node here from the list on the left, or choose one there and press Enter. Paste works too.
        </p>
      ) : null}
      {hovered ? <WireValue hovered={hovered} /> : null}
    </div>
  );
}

/** Brings what the editor asks for into view, and the whole level when another one opens. */
function useReveal(place: string): void {
  const { fitView } = useReactFlow();
  const reveal = useEditorState((state) => state.reveal);
  const shown = useRef(place);
  useEffect(() => {
    if (shown.current === place) return undefined;
    shown.current = place;
    const timer = setTimeout(() => void fitView(fitOptions), 60);
    return () => clearTimeout(timer);
  }, [place, fitView]);
  useEffect(() => {
    if (!reveal) return undefined;
    const nodes = reveal.ids.map((id) => ({ id }));
    // A level that just opened measures its nodes first.
    const timer = setTimeout(() => void fitView({ ...fitOptions, ...(nodes.length > 0 && { nodes }) }), 90);
    return () => clearTimeout(timer);
  }, [reveal, fitView]);
}
