// The drawing of one level: nodes and wires by the library, every change through the editor. While something is
// dragged only the drawing moves; the graph changes when it is let go. A recorded episode is drawn and not changed.
import {
  Background,
  Controls,
  getViewportForBounds,
  ReactFlow,
  useReactFlow,
  useStore,
  type Connection,
  type Viewport,
} from '@xyflow/react';
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type MouseEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { handlesOf } from '../../canvas-model/handles.ts';
import { paletteDrag } from './palette-entries.ts';
import { useCanvas, useEditorState, useLevel } from './canvas-context.tsx';
import { ContainerView } from './container-view.tsx';
import { DetailContext } from './detail-context.ts';
import { flowEdges, nodeWidth, type FlowEdge, type FlowNode } from './flow-model.ts';
import {
  useConnecting,
  useEdgeChanges,
  useFlowNodes,
  usePaletteDrop,
  type Connecting,
  type FlowNodes,
} from './use-flow-changes.ts';
import { NodeView } from './node-view.tsx';
import { NoteView } from './note-view.tsx';
import { OverviewMap } from './overview-map.tsx';
import { PlainWires } from './plain-wires.tsx';
import { WireValue, type HoveredWire } from './wire-value.tsx';

const nodeTypes = { graph: NodeView, note: NoteView, container: ContainerView };
const manyNodes = 120;
/** Below this names are drawn large instead of ports. */
const farZoom = 0.45;
/** Below this not even names can be read. */
const tinyZoom = 0.16;
const zoomRange = { minZoom: 0.05, maxZoom: 2 };
const fitOptions = { padding: 0.12, maxZoom: 1 };
const noEdges: FlowEdge[] = [];

export function FlowCanvas() {
  const { types, isReadOnly } = useCanvas();
  const level = useLevel();
  const path = useEditorState((state) => state.path);
  const selection = useEditorState((state) => state.selection);
  const handles = useMemo(() => handlesOf(level, { manifestOf: (type) => types.get(type) }), [level, types]);
  const { edges: chosen } = selection;
  const edges = useMemo(() => flowEdges(level, handles, chosen), [level, handles, chosen]);
  const flow = useFlowNodes({ level, handles, types, selection });
  const isFar = useStore((state) => state.transform[2] < farZoom);
  const isTiny = useStore((state) => state.transform[2] < tinyZoom);
  const isLarge = level.nodes.length > manyNodes;
  const isPlain = isLarge && isFar;
  const [hovered, setHovered] = useState<HoveredWire | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const start = useFirstView(box, flow.nodes, isLarge);
  const connecting = useConnecting(level, handles);
  const onDrop = usePaletteDrop();
  useReveal(path.join('\n'));
  return (
    <DetailContext value={isPlain ? (isTiny ? 'tiny' : 'plain') : 'full'}>
      <div
        ref={box}
        className={isFar ? 'flow far' : 'flow'}
        onDrop={onDrop}
        onDragOver={(event) => {
          if (event.dataTransfer.types.includes(paletteDrag)) event.preventDefault();
        }}
      >
        {start === null ? null : (
          <Drawing
            flow={flow}
            edges={isPlain ? noEdges : edges}
            connecting={connecting}
            start={start}
            isLarge={isLarge}
            onHover={setHovered}
          >
            {isPlain ? <PlainWires nodes={flow.nodes} edges={edges} onHover={setHovered} /> : null}
          </Drawing>
        )}
        {level.nodes.length + level.containers.length === 0 && !isReadOnly ? (
          <p className="flow-hint muted">
            Drag a node here from the list on the left, or choose one there and press Enter. Paste works too.
          </p>
        ) : null}
        {hovered ? <WireValue hovered={hovered} /> : null}
      </div>
    </DetailContext>
  );
}

interface DrawingProps {
  readonly flow: FlowNodes;
  readonly edges: FlowEdge[];
  readonly connecting: Connecting;
  readonly start: Viewport | 'fit';
  readonly isLarge: boolean;
  readonly onHover: (hovered: HoveredWire | null) => void;
  readonly children: ReactNode;
}

const multiSelectionKeys = ['Control', 'Meta', 'Shift'];
const proOptions = { hideAttribution: true };

/** Every handler keeps its identity while something is dragged: the library tells all nodes of each that changed. */
function Drawing({ flow, edges, connecting, start, isLarge, onHover, children }: DrawingProps) {
  const { editor, isReadOnly } = useCanvas();
  const { nodes, onNodesChange, commit } = flow;
  const { reasonAgainst, onConnect, onConnectEnd } = connecting;
  const onEdgesChange = useEdgeChanges();
  const onNodeDragStop = useCallback(
    (_event: unknown, _node: FlowNode, dragged: FlowNode[]) => commit(dragged.map(({ id }) => id)),
    [commit],
  );
  const onSelectionDragStop = useCallback(
    (_event: unknown, dragged: FlowNode[]) => commit(dragged.map(({ id }) => id)),
    [commit],
  );
  const isValidConnection = useCallback(
    (drawn: FlowEdge | Connection) => reasonAgainst(drawn) === undefined,
    [reasonAgainst],
  );
  const onNodeDoubleClick = useCallback(
    (_event: unknown, { id, data }: FlowNode) => {
      if ('node' in data && data.node.subgraph) editor.open([...editor.store.getState().path, id]);
    },
    [editor],
  );
  const onEdgeMouseEnter = useCallback(
    ({ clientX, clientY }: MouseEvent, { id, data }: FlowEdge) =>
      onHover({ edgeId: id, x: clientX, y: clientY, wireType: data?.wireType ?? '' }),
    [onHover],
  );
  const onEdgeMouseLeave = useCallback(() => onHover(null), [onHover]);
  const onPaneClick = useCallback(() => editor.refuse(null), [editor]);
  return (
    <ReactFlow<FlowNode, FlowEdge>
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      onNodesChange={onNodesChange}
      onEdgesChange={onEdgesChange}
      onNodeDragStop={onNodeDragStop}
      onSelectionDragStop={onSelectionDragStop}
      onConnect={onConnect}
      onConnectEnd={onConnectEnd}
      isValidConnection={isValidConnection}
      onNodeDoubleClick={onNodeDoubleClick}
      onEdgeMouseEnter={onEdgeMouseEnter}
      onEdgeMouseLeave={onEdgeMouseLeave}
      onPaneClick={onPaneClick}
      nodesDraggable={!isReadOnly}
      nodesConnectable={!isReadOnly}
      onlyRenderVisibleElements={isLarge}
      deleteKeyCode={null}
      panActivationKeyCode={null}
      selectionKeyCode="Shift"
      multiSelectionKeyCode={multiSelectionKeys}
      connectionRadius={16}
      {...zoomRange}
      {...(start === 'fit' ? { fitView: true } : { defaultViewport: start })}
      fitViewOptions={fitOptions}
      proOptions={proOptions}
      nodeDragThreshold={2}
      elevateNodesOnSelect={false}
    >
      <Background gap={20} size={1} />
      <Controls showInteractive={false} fitViewOptions={fitOptions} />
      <OverviewMap />
      {children}
    </ReactFlow>
  );
}

/**
 * The view at first: a large graph is placed by lengths known beforehand, so that nothing is drawn twice; the nodes of a
 * small one are measured first. Null until the size of the drawing is known.
 */
function useFirstView(
  box: RefObject<HTMLDivElement | null>,
  nodes: readonly FlowNode[],
  isLarge: boolean,
): Viewport | 'fit' | null {
  const [start, setStart] = useState<Viewport | 'fit' | null>(isLarge ? null : 'fit');
  const first = useRef(nodes);
  useLayoutEffect(() => {
    if (!box.current || start !== null) return;
    const { clientWidth, clientHeight } = box.current;
    const bounds = boundsOf(first.current);
    const { minZoom } = zoomRange;
    const { padding, maxZoom } = fitOptions;
    setStart(getViewportForBounds(bounds, clientWidth, clientHeight, minZoom, maxZoom, padding));
  }, [box, start]);
  return start;
}

function boundsOf(nodes: readonly FlowNode[]): { x: number; y: number; width: number; height: number } {
  const x = Math.min(...nodes.map(({ position }) => position.x));
  const y = Math.min(...nodes.map(({ position }) => position.y));
  const right = Math.max(...nodes.map(({ position }) => position.x + nodeWidth));
  const bottom = Math.max(
    ...nodes.map(
      ({ position, measured, initialHeight }) => position.y + (measured?.height ?? initialHeight ?? 0),
    ),
  );
  return { x, y, width: right - x, height: bottom - y };
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
