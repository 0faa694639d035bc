// Cost of the executor: microseconds per step of a loop of five nodes, against the same work in a bare loop, in one
// process. Run by itself: node main/graph/executor.bench.ts
import { nodeManifest } from '../contract/nodeset.ts';
import { createBuiltinCatalog } from './builtin/catalog.ts';
import { compileGraph } from './compile.ts';
import { parseGraph } from './definition.ts';
import { LoopRunner } from './loop-runner.ts';
import type { NodeCatalog, NodeType, PortValues } from './ports.ts';

const stepsPerEpisode = 1000;
const episodes = 300;

/** iterIn -> policy -> environment -> observer -> iterOut: five nodes per step. */
const graph = parseGraph(
  JSON.stringify({
    name: 'five nodes',
    eval_graph: false,
    step_budget: stepsPerEpisode,
    nodes: [
      { id: 'start', type: 'bench__reset' },
      { id: 'in', type: 'iterIn', config: { pairedWith: 'out', initPorts: [{ name: 'obs' }] } },
      { id: 'policy', type: 'bench__policy' },
      { id: 'env', type: 'bench__step' },
      { id: 'observer', type: 'bench__observe' },
      { id: 'out', type: 'iterOut', config: { pairedWith: 'in', ports: [{ name: 'obs', required: true }] } },
    ],
    edges: [
      { id: 'e0', source: 'start', target: 'in', sourceHandle: 'obs', targetHandle: 'init_obs' },
      { id: 'e1', source: 'in', target: 'policy', sourceHandle: 'init_obs', targetHandle: 'obs' },
      { id: 'e2', source: 'in', target: 'policy', sourceHandle: 'iterout_obs', targetHandle: 'obs' },
      { id: 'e3', source: 'policy', target: 'env', sourceHandle: 'action', targetHandle: 'action' },
      { id: 'e4', source: 'env', target: 'observer', sourceHandle: 'obs', targetHandle: 'obs' },
      { id: 'e5', source: 'env', target: 'out', sourceHandle: 'done', targetHandle: 'stop' },
      { id: 'e6', source: 'observer', target: 'out', sourceHandle: 'obs', targetHandle: 'obs' },
    ],
  }),
);

type Forward = (inputs: PortValues) => PortValues;
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
const step = (state: number, action: number): number =>
  (Math.imul(state, 1664525) + action + 1013904223) >>> 0;

const forwards: Readonly<Record<string, readonly [inputs: string[], outputs: string[], forward: Forward]>> = {
  bench__reset: [[], ['obs'], () => ({ obs: 1 })],
  bench__policy: [['obs'], ['action'], ({ obs }) => ({ action: numberOf(obs) & 3 })],
  bench__step: [
    ['action'],
    ['obs', 'done'],
    ({ action }) => ({ obs: step(7, numberOf(action)), done: false }),
  ],
  bench__observe: [['obs'], ['obs'], ({ obs }) => ({ obs: numberOf(obs) >>> 1 })],
};

function benchCatalog(later: boolean): NodeCatalog {
  const builtins = createBuiltinCatalog();
  const types = new Map<string, NodeType>(
    Object.entries(forwards).map(([nodeType, [inputs, outputs, forward]]) => {
      const ports = (names: string[]): object[] => names.map((name) => ({ name }));
      const manifest = nodeManifest.parse({
        nodeType,
        displayName: nodeType,
        inputPorts: ports(inputs),
        outputPorts: ports(outputs),
      });
      const answersLater = later && nodeType === 'bench__step';
      const handler = { forward: answersLater ? async (values: PortValues) => forward(values) : forward };
      return [nodeType, { manifest, bind: () => handler }];
    }),
  );
  return { lookup: (nodeType) => types.get(nodeType) ?? builtins.lookup(nodeType) };
}

function bareLoop(): number {
  let total = 0;
  for (let episode = 0; episode < episodes; episode++) {
    let obs = 1;
    for (let index = 0; index < stepsPerEpisode; index++) obs = step(7, obs & 3) >>> 1;
    total += obs;
  }
  return total;
}

async function throughGraph(later: boolean): Promise<void> {
  const compiled = compileGraph(graph, benchCatalog(later));
  for (let episode = 0; episode < episodes; episode++) {
    const result = await new LoopRunner(compiled, { executionId: `bench ${episode}` }).run();
    if (result.steps !== stepsPerEpisode) throw new Error(`ran ${result.steps} steps`);
  }
}

/** Wall and processor time per step; on a busy machine only the second says something. */
async function measure(name: string, work: () => unknown): Promise<void> {
  await work();
  const startedMs = performance.now();
  const before = process.cpuUsage();
  await work();
  const used = process.cpuUsage(before);
  const steps = episodes * stepsPerEpisode;
  const wallUs = ((performance.now() - startedMs) * 1000) / steps;
  const cpuUs = (used.user + used.system) / steps;
  console.log(
    `${name.padEnd(32)} ${wallUs.toFixed(3)} us per step, ${cpuUs.toFixed(3)} us of processor time`,
  );
}

await measure('bare loop', bareLoop);
await measure('graph, five nodes', () => throughGraph(false));
await measure('graph, one node gives a promise', () => throughGraph(true));
