// The ports one node really has. Most come from its manifest; pivots, chat nodes, image viewers and typed sources
// declare theirs in their config.
import type { GraphDefinition, GraphNode } from './graph.ts';
import type { NodeManifest } from './nodeset.ts';
import { configPorts, finalPrefix, iterInSlots, stepHandle, stopHandle, type IterInSlot } from './pivots.ts';

type PortValues = Readonly<Record<string, unknown>>;

/** Where the manifest of a node type is looked up. */
export interface PortManifests {
  manifestOf(nodeType: string): NodeManifest | undefined;
}

export interface ResolvedPort {
  readonly name: string;
  readonly wireType: string;
  readonly required: boolean;
}

export interface ResolvedPorts {
  readonly inputs: readonly ResolvedPort[];
  readonly outputs: readonly ResolvedPort[];
}

/** The node's own config over its type's defaults. */
export function resolvedConfig(node: GraphNode, manifest: NodeManifest | undefined): PortValues {
  return manifest ? { ...manifest.defaultConfig, ...node.config } : node.config;
}

/** Ports of every node of a flat graph; nodes of an unknown type are left out. */
export function resolvePorts(
  graph: GraphDefinition,
  manifests: PortManifests,
): ReadonlyMap<string, ResolvedPorts> {
  const slots = iterInSlots(graph);
  const result = new Map<string, ResolvedPorts>();
  for (const node of graph.nodes) {
    const manifest = manifests.manifestOf(node.type);
    if (manifest) result.set(node.id, portsOf(node, manifest, slots.get(node.id) ?? []));
  }
  return result;
}

function portsOf(node: GraphNode, manifest: NodeManifest, slots: readonly IterInSlot[]): ResolvedPorts {
  const config = resolvedConfig(node, manifest);
  const declared = manifestPorts(manifest);
  switch (node.type) {
    case 'iterIn':
      return iterInPorts(slots);
    case 'iterOut':
      return iterOutPorts(config);
    case 'nullSource': {
      const wireType =
        typeof config.wire_type === 'string' && config.wire_type !== '' ? config.wire_type : 'ANY';
      return { inputs: [], outputs: [{ name: 'value', wireType, required: false }] };
    }
    case 'llmCall':
    case 'imageViewer':
    case 'policy_onnx': {
      const inputs = configPorts(config.ports).map(({ name, wireType, required }) => ({
        name,
        wireType,
        required,
      }));
      return inputs.length > 0 ? { inputs, outputs: declared.outputs } : declared;
    }
    default:
      return declared;
  }
}

function manifestPorts(manifest: NodeManifest): ResolvedPorts {
  const resolve = (ports: NodeManifest['inputPorts']): readonly ResolvedPort[] =>
    ports.map(({ name, wireType, optional }) => ({ name, wireType, required: !optional }));
  return { inputs: resolve(manifest.inputPorts), outputs: resolve(manifest.outputPorts) };
}

function iterInPorts(slots: readonly IterInSlot[]): ResolvedPorts {
  const step = { name: stepHandle, wireType: 'ANY', required: false };
  const handles = slots.map(({ handle, wireType, required }) => ({ name: handle, wireType, required }));
  return { inputs: handles, outputs: [step, ...handles.map((port) => ({ ...port, required: false }))] };
}

function iterOutPorts(config: PortValues): ResolvedPorts {
  const ports = configPorts(config.ports);
  return {
    inputs: [
      { name: stopHandle, wireType: 'BOOL', required: false },
      ...ports.map(({ name, wireType, required }) => ({ name, wireType, required })),
    ],
    outputs: [
      ...ports.map(({ name, wireType }) => ({ name: finalPrefix + name, wireType, required: false })),
      { name: finalPrefix + stopHandle, wireType: 'BOOL', required: false },
    ],
  };
}
