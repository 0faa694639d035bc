// Auto layout: a level as a graph for the layout engine, and its answer as positions. Loop ends count as feeding their
// loop start back, so that an iteration reads from left to right.
import type { GraphDefinition } from '#contract/graph.ts';
import type { Handles } from './handles.ts';
import { sourceHandleOf, targetHandleOf } from './levels.ts';
import type { Position } from './node-commands.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface LayoutPort {
  readonly id: string;
  readonly layoutOptions: Readonly<Record<string, string>>;
}

export interface LayoutNode extends Size {
  readonly id: string;
  readonly ports: readonly LayoutPort[];
  readonly layoutOptions: Readonly<Record<string, string>>;
}

export interface LayoutInput {
  readonly id: string;
  readonly layoutOptions: Readonly<Record<string, string>>;
  readonly children: readonly LayoutNode[];
  readonly edges: readonly {
    readonly id: string;
    readonly sources: readonly string[];
    readonly targets: readonly string[];
  }[];
}

const options = {
  'elk.algorithm': 'layered',
  'elk.direction': 'RIGHT',
  'elk.spacing.nodeNode': '28',
  'elk.layered.spacing.nodeNodeBetweenLayers': '64',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.separateConnectedComponents': 'true',
  'elk.spacing.componentComponent': '60',
};

const portId = (nodeId: string, side: 'in' | 'out', name: string): string =>
  JSON.stringify([nodeId, side, name]);

export function layoutInput(
  level: GraphDefinition,
  handles: ReadonlyMap<string, Handles>,
  sizes: ReadonlyMap<string, Size>,
): LayoutInput {
  const sized = (id: string): Size => sizes.get(id) ?? { width: 200, height: 80 };
  const ports = (id: string): LayoutPort[] => {
    const { inputs, outputs } = handles.get(id) ?? { inputs: [], outputs: [] };
    const port = (side: 'in' | 'out', name: string, index: number): LayoutPort => ({
      id: portId(id, side, name),
      layoutOptions: { 'elk.port.side': side === 'in' ? 'WEST' : 'EAST', 'elk.port.index': String(index) },
    });
    // Ports on the left are counted from the bottom.
    return [
      ...outputs.map(({ name }, index) => port('out', name, index)),
      ...inputs.map(({ name }, index) => port('in', name, outputs.length + inputs.length - index)),
    ];
  };
  const children = [...level.nodes, ...level.containers].map(({ id }) => ({
    id,
    ...sized(id),
    ports: ports(id),
    layoutOptions: { 'elk.portConstraints': 'FIXED_ORDER' },
  }));
  const isThere = new Set(level.nodes.map(({ id }) => id));
  const edges = level.edges
    .filter(({ source, target }) => isThere.has(source) && isThere.has(target))
    .map((edge, index) => ({
      id: `wire-${index}`,
      sources: [portId(edge.source, 'out', sourceHandleOf(edge))],
      targets: [portId(edge.target, 'in', targetHandleOf(edge))],
    }));
  return { id: 'level', layoutOptions: options, children, edges };
}

/** Positions of a layout, in the corner where the level began before. */
export function laidOut(
  level: GraphDefinition,
  placed: readonly { readonly id: string; readonly x?: number; readonly y?: number }[],
): ReadonlyMap<string, Position> {
  const positions = [...level.nodes, ...level.containers].flatMap(({ position }) =>
    position ? [position] : [],
  );
  const left = positions.length > 0 ? Math.min(...positions.map(({ x }) => x)) : 0;
  const top = positions.length > 0 ? Math.min(...positions.map(({ y }) => y)) : 0;
  const minX = Math.min(...placed.map(({ x = 0 }) => x), 0);
  const minY = Math.min(...placed.map(({ y = 0 }) => y), 0);
  return new Map(
    placed.map(({ id, x = 0, y = 0 }) => [
      id,
      { x: Math.round(left + x - minX), y: Math.round(top + y - minY) },
    ]),
  );
}
