// Hooks: commands a graph asks to run at its events. This file decides which hook applies and what its answers add up
// to; a HookRunner runs them. A hook that fails changes nothing.
import { graphHook, type GraphHook } from '../contract/graph.ts';
import { Tensor } from '../base/tensor.ts';
import { isRecord } from './pivots.ts';
import type { PortValues } from './ports.ts';

export interface HookReply {
  readonly action: 'continue' | 'block' | 'modify';
  readonly modifiedData?: PortValues;
}

/** Runs one hook with the event as JSON. Never rejects: what goes wrong is `continue`. */
export interface HookRunner {
  run(hook: GraphHook, event: PortValues, signal: AbortSignal): Promise<HookReply>;
}

export const noEffect: HookReply = { action: 'continue' };

export type HookEvent = GraphHook['event'];

export function parseHook(value: unknown): GraphHook | undefined {
  const parsed = graphHook.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

/** The enabled hooks for an event; for node events those that match the node. `prefix__*` matches a nodeset. */
export function matchingHooks(
  hooks: readonly GraphHook[],
  event: HookEvent,
  node?: { readonly id: string; readonly type: string },
): readonly GraphHook[] {
  return hooks.filter((hook) => hook.enabled && hook.event === event && matches(hook, node));
}

function matches(hook: GraphHook, node: { readonly id: string; readonly type: string } | undefined): boolean {
  if (hook.match_node_id != null) return node?.id === hook.match_node_id;
  if (hook.match_node_type === '*') return true;
  if (!node) return false;
  if (hook.match_node_type.endsWith('__*')) return node.type.startsWith(hook.match_node_type.slice(0, -1));
  return hook.match_node_type === node.type;
}

export interface HookCall {
  readonly hooks: readonly GraphHook[];
  readonly runner: HookRunner;
  readonly event: PortValues;
  readonly signal: AbortSignal;
}

/** Runs them one after the other: the first `block` wins, later `modify` answers override earlier ones. */
export async function runHooks({ hooks, runner, event, signal }: HookCall): Promise<HookReply> {
  let modified: PortValues | undefined;
  for (const hook of hooks) {
    const reply = await runner.run(hook, event, signal);
    if (reply.action === 'block') return reply;
    if (reply.action === 'modify' && reply.modifiedData) modified = { ...modified, ...reply.modifiedData };
  }
  return modified ? { action: 'modify', modifiedData: modified } : noEffect;
}

/** What a hook answered on its output. */
export function parseHookReply(output: string): HookReply {
  if (output.trim() === '') return noEffect;
  let reply: unknown;
  try {
    reply = JSON.parse(output);
  } catch {
    return noEffect;
  }
  if (!isRecord(reply)) return noEffect;
  if (reply.action === 'block') return { action: 'block' };
  if (reply.action === 'modify' && isRecord(reply.modified_data)) {
    return { action: 'modify', modifiedData: reply.modified_data };
  }
  return noEffect;
}

/** Any value as JSON can carry it: arrays of numbers by shape, bytes by length, depth at most 4. */
export function describeForHook(value: unknown, depth = 4): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string')
    return value;
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Tensor) return { __type: 'ndarray', shape: value.shape, dtype: value.dtype };
  if (value instanceof Uint8Array) return { __type: 'bytes', length: value.byteLength };
  if (depth > 0 && Array.isArray(value))
    return value.map((member: unknown) => describeForHook(member, depth - 1));
  if (depth > 0 && isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, describeForHook(member, depth - 1)]),
    );
  }
  return `(${typeof value})`;
}
