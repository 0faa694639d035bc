// The trivial policy of the overhead benchmark: two nodes that pass a number on, inside the engine.
import { defineNode, defineNodeset } from 'agentcanvas';

export default defineNodeset({
  name: 'bench_policy',
  parallelism: 'shared',
  create: () => ({
    nodes: [
      defineNode({
        name: 'encode',
        inputs: [{ name: 'observation' }],
        outputs: [{ name: 'feature' }],
        forward: (inputs) => ({ feature: Number(inputs['observation']) % 7 }),
      }),
      defineNode({
        name: 'act',
        inputs: [{ name: 'feature' }],
        outputs: [{ name: 'action', wireType: 'DISCRETE_ACTION' }],
        forward: (inputs) => ({ action: Number(inputs['feature']) % 4 }),
      }),
    ],
  }),
});
