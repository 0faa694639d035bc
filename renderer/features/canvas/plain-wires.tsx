// Hot path: all wires of a large graph as one drawing below the nodes, while it is too small for ports. The library's
// wires each listen to every move of the pointer; these are drawn again only when one of their two nodes moved.
import { getBezierPath, Position, ViewportPortal } from '@xyflow/react';
import { memo, useMemo, type MouseEvent } from 'react';
import { useCanvas } from './canvas-context.tsx';
import { nodeWidth, type FlowEdge, type FlowNode } from './flow-model.ts';
import type { HoveredWire } from './wire-value.tsx';

export interface PlainWiresProps {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly onHover: (hovered: HoveredWire | null) => void;
}

export function PlainWires({ nodes, edges, onHover }: PlainWiresProps) {
  const { editor } = useCanvas();
  const byId = useMemo(() => new Map(nodes.map((node) => [node.id, node])), [nodes]);
  const onClick = (event: MouseEvent): void => {
    const id = edgeIdAt(event);
    if (id === null) return;
    const isMore = event.ctrlKey || event.metaKey || event.shiftKey;
    const { ids, edges: chosen } = editor.store.getState().selection;
    editor.select(isMore ? ids : [], isMore ? [...chosen, id] : [id]);
  };
  const onPointerOver = (event: MouseEvent): void => {
    const edge = edges.find(({ id }) => id === edgeIdAt(event));
    if (!edge) return;
    const { clientX: x, clientY: y } = event;
    onHover({ edgeId: edge.id, x, y, wireType: edge.data?.wireType ?? '' });
  };
  return (
    <ViewportPortal>
      {/* By keyboard, wires are reached in the list of wires of the selected node. */}
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions */}
      <svg
        className="plain-wires"
        aria-hidden="true"
        onClick={onClick}
        onPointerOver={onPointerOver}
        onPointerOut={() => onHover(null)}
      >
        {edges.map((edge) => {
          const from = byId.get(edge.source);
          const to = byId.get(edge.target);
          return from && to ? <PlainWire key={edge.id} edge={edge} from={from} to={to} /> : null;
        })}
      </svg>
    </ViewportPortal>
  );
}

const edgeIdAt = ({ target }: MouseEvent): string | null =>
  target instanceof SVGElement ? (target.dataset['id'] ?? null) : null;

interface PlainWireProps {
  readonly edge: FlowEdge;
  readonly from: FlowNode;
  readonly to: FlowNode;
}

const PlainWire = memo(
  function PlainWire({ edge, from, to }: PlainWireProps) {
    return (
      <path
        className={`${edge.className ?? ''}${edge.selected ? ' selected' : ''}`}
        data-id={edge.id}
        d={pathOf(edge, from, to)}
      />
    );
  },
  (before, after) =>
    before.edge === after.edge && isInPlace(before.from, after.from) && isInPlace(before.to, after.to),
);

const isInPlace = (one: FlowNode, other: FlowNode): boolean =>
  one === other ||
  (one.position.x === other.position.x &&
    one.position.y === other.position.y &&
    one.handles === other.handles &&
    one.measured === other.measured);

function pathOf(edge: FlowEdge, from: FlowNode, to: FlowNode): string {
  const start = endOf(from, 'source', edge.sourceHandle ?? null);
  const end = endOf(to, 'target', edge.targetHandle ?? null);
  const [path] = getBezierPath({
    sourceX: start.x,
    sourceY: start.y,
    sourcePosition: start.position,
    targetX: end.x,
    targetY: end.y,
    targetPosition: end.position,
  });
  return path;
}

interface WireEnd {
  readonly x: number;
  readonly y: number;
  readonly position: Position;
}

/** The outer edge of the handle; the middle of the side where no place is declared. */
function endOf(node: FlowNode, type: 'source' | 'target', handleId: string | null): WireEnd {
  const { x, y } = node.position;
  const handle = node.handles?.find((candidate) => candidate.type === type && candidate.id === handleId);
  const width = node.measured?.width ?? nodeWidth;
  const height = node.measured?.height ?? 0;
  if (!handle && node.type === 'container')
    return { x: x + width / 2, y: y + height, position: Position.Bottom };
  if (!handle)
    return type === 'source'
      ? { x: x + width, y: y + height / 2, position: Position.Right }
      : { x, y: y + height / 2, position: Position.Left };
  const size = handle.width ?? 0;
  switch (handle.position) {
    case Position.Left:
      return { x: x + handle.x, y: y + handle.y + size / 2, position: handle.position };
    case Position.Right:
      return { x: x + handle.x + size, y: y + handle.y + size / 2, position: handle.position };
    case Position.Top:
    case Position.Bottom:
      return { x: x + handle.x + size / 2, y: y + handle.y, position: handle.position };
  }
}
