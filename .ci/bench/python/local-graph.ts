// What the executor itself costs: five nodes a step in this process as a graph, and the same nodes called in a loop.
import { graphDefinition } from '../../../main/contract/graph.ts';
import { compileGraph } from '../../../main/graph/compile.ts';
import { LoopRunner } from '../../../main/graph/loop-runner.ts';
import type { FiringContext, PortValues } from '../../../main/graph/ports.ts';
import type { NodesetRegistry } from '../../../main/nodeset/ports.ts';
import type { Contender } from '../harness.ts';
import { loopEdges } from './loop-edges.ts';

const chunk = 5000;

export async function localGraphs(
  registry: NodesetRegistry,
): Promise<AsyncDisposable & { readonly contenders: readonly Contender[] }> {
  const session = await registry.ensureNodesetsForGraph(['bench_local', 'bench_policy'], { replicaCount: 1 });
  const catalog = session.initial[0]?.catalog;
  if (!catalog) throw new Error('the bench nodesets did not load');
  const ports = [{ name: 'observation', wire_type: 'ANY' }];
  const definition = graphDefinition.parse({
    name: 'bench',
    nodes: [
      { id: 'observe', type: 'bench_local__observe' },
      { id: 'in', type: 'iterIn', config: { pairedWith: 'out', initPorts: ports } },
      { id: 'encode', type: 'bench_policy__encode' },
      { id: 'act', type: 'bench_policy__act' },
      { id: 'step', type: 'bench_local__step' },
      { id: 'out', type: 'iterOut', config: { pairedWith: 'in', ports } },
      { id: 'value', type: 'graphOut', config: { portName: 'last' } },
    ],
    edges: loopEdges(),
  });
  const graph = compileGraph(definition, catalog);
  const call = (type: string): ((inputs: PortValues) => PortValues) => {
    const handler = catalog.lookup(type)?.bind(type, {});
    if (!handler) throw new Error(`no ${type}`);
    return (inputs) => handler.forward(inputs, bareContext) as PortValues;
  };
  const [encode, act, step] = [
    call('bench_policy__encode'),
    call('bench_policy__act'),
    call('bench_local__step'),
  ];
  let execution = 0;
  const repeat = async (windowMs: number, work: () => Promise<number>): Promise<number> => {
    const untilMs = performance.now() + windowMs;
    let steps = 0;
    while (performance.now() < untilMs) steps += await work();
    return steps;
  };
  const inLoop = (): Promise<number> => {
    let observation: unknown = 0;
    for (let count = 0; count < chunk; count++)
      observation = step({ action: act({ feature: encode({ observation })['feature'] })['action'] })[
        'observation'
      ];
    return Promise.resolve(chunk);
  };
  const asGraph = async (): Promise<number> => {
    const options = { executionId: `local-${execution++}`, stepBudget: chunk, checkpointLimit: 0 };
    return (await new LoopRunner(graph, options).run()).steps;
  };
  return {
    contenders: [
      { name: 'nodes called in a loop', work: (windowMs) => repeat(windowMs, inLoop) },
      { name: 'graph of five nodes', work: (windowMs) => repeat(windowMs, asGraph) },
    ],
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

const bareContext: FiringContext = {
  executionId: 'bare',
  nodeId: 'n',
  step: 0,
  seed: 0,
  signal: new AbortController().signal,
  state: new Map(),
  log: () => {},
  emitSignal: () => {},
  containers: { granted: [], read: () => null, write: () => {}, evict: () => {} },
};
