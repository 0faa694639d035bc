// The reference traces: graphs and what AgentCanvas's own executor did with them, firing by firing.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { graphDefinition } from '../contract/graph.ts';
import { compileGraph } from './compile.ts';
import { flattenGraph } from './flatten.ts';
import type { FiringEnd } from './listener.ts';
import { LoopRunner } from './loop-runner.ts';
import { toyCatalog } from './testing/toy-nodes.ts';

const values = z.record(z.string(), z.unknown());
const trace = z.object({
  name: z.string(),
  graph: graphDefinition,
  expected: z.object({
    firings: z.array(
      z.object({
        node: z.string(),
        step: z.number(),
        inputs: values,
        outputs: values.optional(),
        error: z.string().optional(),
      }),
    ),
    status: z.enum(['done', 'error']),
    steps: z.number(),
    scopes: z.record(z.string(), z.number()),
    node_errors: z.array(z.looseObject({ node: z.string(), step: z.number() })),
    harvest: values,
    containers: z.record(z.string(), values),
  }),
});
type Trace = z.infer<typeof trace>;

const file = path.resolve(import.meta.dirname, '../../../shared/vectors/executor/traces.json');

/** A failure is its message, whether the node threw or returned it; a node that stopped the run gave nothing. */
function seen({ nodeId, step, inputs, outputs, error }: FiringEnd): object {
  const base = { node: nodeId, step, inputs };
  if (error) return { ...base, failed: told(error.message) };
  return outputs ? { ...base, outputs } : base;
}

function wanted(firing: Trace['expected']['firings'][number], stopsRun: boolean): object {
  const { node, step, inputs, outputs, error } = firing;
  const failed = error ?? outputs?.error;
  if (failed !== undefined && stopsRun) return { node, step, inputs };
  return failed === undefined
    ? { node, step, inputs, outputs }
    : { node, step, inputs, failed: told(typeof failed === 'string' ? failed : JSON.stringify(failed)) };
}

/** Python and JavaScript word a wrong operand differently. */
function told(message: string): string {
  return /unsupported operand|not supported between/.test(message) ? 'wrong operand' : message;
}

describe.skipIf(!existsSync(file))('reference traces (need ../shared/vectors)', () => {
  const traces = existsSync(file) ? z.array(trace).parse(JSON.parse(readFileSync(file, 'utf8'))) : [];

  it.each(traces.map((entry) => [entry.name, entry] as const))(
    '%s is reproduced firing by firing',
    async (name, entry) => {
      const firings: FiringEnd[] = [];
      const runner = new LoopRunner(compileGraph(entry.graph, toyCatalog()), {
        executionId: name,
        listener: {
          onFiring: (firing) => firings.push({ ...firing, inputs: structuredClone(firing.inputs) }),
        },
      });
      const result = await runner.run();
      const { expected } = entry;
      const { nodes } = flattenGraph(entry.graph).graph;
      const halting = new Set(nodes.filter((node) => node.type === 't_halt').map((node) => node.id));

      expect(firings.map(seen)).toEqual(
        expected.firings.map((firing) => wanted(firing, halting.has(firing.node))),
      );
      expect(result.steps).toBe(expected.steps);
      expect(result.scopes).toEqual(expected.scopes);
      expect(result.outputs).toEqual(expected.harvest);
      expect(result.finalContainers).toEqual(expected.containers);

      // AgentCanvas lists failures of the firing loop; ours of settling and of the verdict stage are listed too.
      const inLoop = result.nodeErrors.filter((failure) => failure.phase === 'loop');
      const listed = expected.node_errors.length > inLoop.length ? result.nodeErrors : inLoop;
      expect(listed.map(({ nodeId, step }) => ({ node: nodeId, step }))).toEqual(
        expected.node_errors.map(({ node, step }) => ({ node, step })),
      );
      const laterFailures = result.nodeErrors.length - inLoop.length;
      expect(result.status).toBe(expected.status === 'done' && laterFailures === 0 ? 'completed' : 'error');
    },
  );
});
