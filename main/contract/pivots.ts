// Handles of the loop pivots. An iterIn authors only its initPorts; its other handles follow from the iterOut it is
// paired with and from edges that target it directly. An iterOut's final handles follow from its ports.
import type { GraphDefinition, GraphNode } from './graph.ts';

/** A port as pivots (and a few other built-ins) declare it in their config. */
export interface ConfigPort {
  readonly name: string;
  readonly wireType: string;
  readonly persist: boolean | undefined;
  readonly required: boolean;
}

/** One slot of an iterIn. The handle is at once its input and its output. */
export interface IterInSlot {
  readonly handle: string;
  readonly wireType: string;
  /** False: the slot is emptied after the firing that emitted it. */
  readonly persist: boolean;
  readonly required: boolean;
  readonly origin: 'init' | 'iterOut' | 'direct';
}

export const stopHandle = 'stop';
export const stepHandle = 'step';
export const finalPrefix = 'final_';
export const initPrefix = 'init_';
export const carryPrefix = 'iterout_';

/** The well-formed entries of a port list; anything else in it is left out. */
export function configPorts(value: unknown): readonly ConfigPort[] {
  if (!Array.isArray(value)) return [];
  const entries: readonly unknown[] = value;
  return entries.flatMap((entry) => {
    if (!isRecord(entry) || typeof entry.name !== 'string' || entry.name === '') return [];
    return [
      {
        name: entry.name,
        wireType: typeof entry.wire_type === 'string' && entry.wire_type !== '' ? entry.wire_type : 'ANY',
        persist: typeof entry.persist === 'boolean' ? entry.persist : undefined,
        required: entry.required === true,
      },
    ];
  });
}

/** `config.pairedWith`, or undefined when it is missing or empty. */
export function pairOf(node: GraphNode): string | undefined {
  const pair = node.config.pairedWith;
  return typeof pair === 'string' && pair !== '' ? pair : undefined;
}

/** The slots of every iterIn of one graph level, by node id. */
export function iterInSlots(graph: GraphDefinition): ReadonlyMap<string, readonly IterInSlot[]> {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const directHandles = new Map<string, string[]>();
  for (const edge of graph.edges) {
    const handle = edge.targetHandle || edge.sourceHandle;
    if (byId.get(edge.target)?.type !== 'iterIn' || !handle) continue;
    const handles = directHandles.get(edge.target) ?? [];
    handles.push(handle);
    directHandles.set(edge.target, handles);
  }
  const result = new Map<string, readonly IterInSlot[]>();
  for (const node of graph.nodes) {
    if (node.type === 'iterIn') result.set(node.id, slotsOf(node, byId, directHandles.get(node.id) ?? []));
  }
  return result;
}

function slotsOf(
  node: GraphNode,
  byId: ReadonlyMap<string, GraphNode>,
  direct: readonly string[],
): readonly IterInSlot[] {
  const slots = new Map<string, IterInSlot>();
  const add = (slot: IterInSlot): void => {
    if (!slots.has(slot.handle)) slots.set(slot.handle, slot);
  };
  for (const port of configPorts(node.config.initPorts)) {
    const { wireType, required } = port;
    add({
      handle: initPrefix + port.name,
      wireType,
      persist: port.persist ?? false,
      required,
      origin: 'init',
    });
  }
  const partner = byId.get(pairOf(node) ?? '');
  if (partner?.type === 'iterOut') {
    for (const port of configPorts(partner.config.ports)) {
      const { wireType } = port;
      add({
        handle: carryPrefix + port.name,
        wireType,
        persist: port.persist ?? true,
        required: false,
        origin: 'iterOut',
      });
    }
  }
  for (const handle of direct)
    add({ handle, wireType: 'ANY', persist: false, required: false, origin: 'direct' });
  return [...slots.values()];
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
