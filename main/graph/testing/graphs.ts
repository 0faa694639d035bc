// Short forms for writing graphs in tests.
import type { GraphDefinition } from '../../contract/graph.ts';
import { compileGraph } from '../compile.ts';
import { parseGraph } from '../definition.ts';
import type { FiringEnd } from '../listener.ts';
import { LoopRunner, type LoopRunnerOptions, type RunResult } from '../loop-runner.ts';
import type { NodeCatalog } from '../ports.ts';
import { toyCatalog } from './toy-nodes.ts';

export interface NodeSketch {
  readonly type: string;
  readonly config?: object;
  readonly subgraph?: unknown;
}

/** Nodes by id, wires as `source.handle > target.handle`. */
export function sketch(
  nodes: Readonly<Record<string, NodeSketch | string>>,
  wires: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {
    name: 'test',
    eval_graph: false,
    nodes: Object.entries(nodes).map(([id, node]) => ({
      id,
      ...(typeof node === 'string' ? { type: node } : node),
    })),
    edges: wires.map((wire, index) => {
      const [from = '', to = ''] = wire.split(' > ');
      const [source, sourceHandle] = from.split('.');
      const [target, targetHandle] = to.split('.');
      return {
        id: `w${index}`,
        source,
        target,
        ...(sourceHandle && { sourceHandle }),
        ...(targetHandle && { targetHandle }),
      };
    }),
    ...more,
  };
}

export function graphOf(...parts: Parameters<typeof sketch>): GraphDefinition {
  return parseGraph(JSON.stringify(sketch(...parts)));
}

/** An iterIn and an iterOut named `in` and `out` (or with a suffix), for the given ports. */
export function pivots(
  init: readonly (string | object)[],
  carried: readonly (string | object)[],
  options: { readonly suffix?: string; readonly budget?: number } = {},
): Readonly<Record<string, NodeSketch>> {
  const { suffix = '', budget } = options;
  const ports = (list: readonly (string | object)[]): object[] =>
    list.map((port) => (typeof port === 'string' ? { name: port } : port));
  return {
    [`in${suffix}`]: {
      type: 'iterIn',
      config: {
        pairedWith: `out${suffix}`,
        initPorts: ports(init),
        ...(budget !== undefined && { step_budget: budget }),
      },
    },
    [`out${suffix}`]: { type: 'iterOut', config: { pairedWith: `in${suffix}`, ports: ports(carried) } },
  };
}

export interface Watched {
  readonly result: RunResult;
  readonly firings: readonly FiringEnd[];
  /** Node ids in the order of their firings. */
  readonly order: readonly string[];
}

export async function watch(
  definition: GraphDefinition,
  options: Partial<LoopRunnerOptions> = {},
  catalog: NodeCatalog = toyCatalog(),
): Promise<Watched> {
  const firings: FiringEnd[] = [];
  const runner = new LoopRunner(compileGraph(definition, catalog), {
    executionId: 'test',
    ...options,
    listener: { ...options.listener, onFiring: (firing) => firings.push(firing) },
  });
  const result = await runner.run();
  return { result, firings, order: firings.map((firing) => firing.nodeId) };
}

/** What a node received, firing by firing. */
export function inputsOf(watched: Watched, nodeId: string): readonly unknown[] {
  return watched.firings.filter((firing) => firing.nodeId === nodeId).map((firing) => firing.inputs);
}
