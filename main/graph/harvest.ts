// What a finished run left in its graphOuts: raw values by port name, and the numbers evaluation takes from them.
import { Tensor } from '../base/tensor.ts';
import { isRecord } from './pivots.ts';
import { isBorder } from './routing.ts';
import type { RunState } from './run-state.ts';

/** Last value of every graphOut of the graph itself, by `portName`; of two with one name the later node wins. */
export function graphOutputs(run: RunState): Readonly<Record<string, unknown>> {
  const outputs: Record<string, unknown> = {};
  for (const node of run.graph.nodes) {
    const received = run.received[node.index];
    if (node.role !== 'graphOut' || node.scope >= 0 || isBorder(node) || !received) continue;
    const value =
      received.value === undefined ? Object.values(received).find((other) => other != null) : received.value;
    if (value !== undefined) outputs[node.portName] = value;
  }
  return outputs;
}

/**
 * The metrics: each numeric field of the port `metrics`, and every other port that holds a number or a truth value
 * (as 1 or 0). Numbers that are not finite stay as they are. A `metrics` text is read as JSON, as AgentCanvas's
 * Matterport nodeset gives it.
 */
export function harvestMetrics(outputs: Readonly<Record<string, unknown>>): Readonly<Record<string, number>> {
  const metrics: Record<string, number> = {};
  for (const [name, value] of Object.entries(outputs)) {
    const fields = name === 'metrics' ? Object.entries(metricsRecord(value)) : [[name, value] as const];
    for (const [field, member] of fields) {
      const number = numberOf(member);
      if (number !== undefined) metrics[field] = number;
    }
  }
  return metrics;
}

function metricsRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, member]) => [String(key), member]));
  if (typeof value !== 'string') return isRecord(value) ? value : {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return Number(value);
  if (value instanceof Tensor && value.size === 1) return Number(value.data[0]);
  return undefined;
}
