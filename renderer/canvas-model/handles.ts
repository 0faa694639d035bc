// The handles a node shows and which wires they take. The engine's own rules for ports and wire types, plus what only a
// drawing needs: ports of composites, and handles that exist only because a wire names them.
import type { GraphDefinition, GraphNode } from '#contract/graph.ts';
import type { NodeManifest } from '#contract/nodeset.ts';
import { resolvePorts, type ResolvedPort } from '#contract/node-ports.ts';
import { wireMismatch } from '#contract/wire-types.ts';
import { nodeName, sourceHandleOf, targetHandleOf } from './levels.ts';
import { isSameWire, newPortHandle, portListOf, type Connection } from './node-commands.ts';

export interface Handle extends ResolvedPort {
  /** True when no port of that name exists and only a wire names it. */
  readonly isUnknown: boolean;
}

export interface Handles {
  readonly inputs: readonly Handle[];
  readonly outputs: readonly Handle[];
}

export interface Manifests {
  manifestOf(nodeType: string): NodeManifest | undefined;
}

const none: Handles = { inputs: [], outputs: [] };

/** Handles of every node of a level, by node id. */
export function handlesOf(level: GraphDefinition, manifests: Manifests): ReadonlyMap<string, Handles> {
  const resolved = resolvePorts(level, manifests);
  const result = new Map<string, Handles>();
  for (const node of level.nodes) {
    const ports = node.subgraph ? compositePorts(node.subgraph) : resolved.get(node.id);
    result.set(
      node.id,
      ports
        ? { inputs: ports.inputs.map(known), outputs: boundaryTyped(node, ports.outputs.map(known)) }
        : none,
    );
  }
  for (const edge of level.edges) {
    addMissing(result, edge.source, 'outputs', sourceHandleOf(edge));
    addMissing(result, edge.target, 'inputs', targetHandleOf(edge));
  }
  return result;
}

const known = (port: ResolvedPort): Handle => ({ ...port, isUnknown: false });

/** A graph input gives what its config says it gives. */
function boundaryTyped(node: GraphNode, outputs: readonly Handle[]): readonly Handle[] {
  const { wireType } = node.config;
  if (node.type !== 'graphIn' || typeof wireType !== 'string' || wireType === '') return outputs;
  return outputs.map((port) => ({ ...port, wireType }));
}

function compositePorts(inner: GraphDefinition): {
  readonly inputs: readonly ResolvedPort[];
  readonly outputs: readonly ResolvedPort[];
} {
  const of = (type: string, fallback: string): ResolvedPort[] => {
    const ports = inner.nodes
      .filter((node) => node.type === type)
      .map(({ config }) => ({
        name: typeof config.portName === 'string' ? config.portName : fallback,
        wireType: typeof config.wireType === 'string' && config.wireType !== '' ? config.wireType : 'ANY',
        required: false,
      }));
    return [...new Map(ports.map((port) => [port.name, port])).values()];
  };
  return { inputs: of('graphIn', 'input'), outputs: of('graphOut', 'output') };
}

function addMissing(
  result: Map<string, Handles>,
  nodeId: string,
  side: 'inputs' | 'outputs',
  name: string,
): void {
  const handles = result.get(nodeId);
  if (!handles || handles[side].some((handle) => handle.name === name)) return;
  const isWhole = side === 'outputs' && name === 'default';
  const handle = { name, wireType: 'ANY', required: false, isUnknown: !isWhole };
  result.set(nodeId, { ...handles, [side]: [...handles[side], handle] });
}

/** Why a wire cannot be drawn, for people; undefined when it can. */
export function refusalOf(
  level: GraphDefinition,
  handles: ReadonlyMap<string, Handles>,
  connection: Connection,
): string | undefined {
  const source = level.nodes.find(({ id }) => id === connection.source);
  const target = level.nodes.find(({ id }) => id === connection.target);
  if (!source || !target) return 'A wire joins two nodes of the same level.';
  if (source.id === target.id) return 'A node cannot feed itself. Loops go through Loop start and Loop end.';
  const from = portOf(handles, source.id, 'outputs', connection.sourceHandle);
  if (!from) return `${nodeName(source)} has no output “${connection.sourceHandle}”.`;
  if (source.type === 'iterOut' && !connection.sourceHandle.startsWith('final_'))
    return 'Out of a loop end go only its final values.';
  if (connection.targetHandle === newPortHandle) {
    return portListOf(target.type) === undefined ? `${nodeName(target)} takes no further ports.` : undefined;
  }
  const to = portOf(handles, target.id, 'inputs', connection.targetHandle);
  if (!to) return `${nodeName(target)} has no input “${connection.targetHandle}”.`;
  if (level.edges.some((edge) => isSameWire(edge, connection))) return 'This wire is there already.';
  const mismatch = wireMismatch(from.wireType, to.wireType);
  return mismatch === undefined ? undefined : `${mismatch.charAt(0).toUpperCase()}${mismatch.slice(1)}.`;
}

export function portOf(
  handles: ReadonlyMap<string, Handles>,
  nodeId: string,
  side: 'inputs' | 'outputs',
  name: string,
): Handle | undefined {
  return handles.get(nodeId)?.[side].find((handle) => handle.name === name);
}
