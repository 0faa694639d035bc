// A shared nodeset: lives in the engine. Data beside it is found by import.meta.url.
import { readFileSync } from 'node:fs';
import { defineNode, defineNodeset, Tensor } from 'agentcanvas';

export default defineNodeset({
  name: 'calculator',
  create() {
    let greeting = '';
    return {
      nodes: [
        defineNode({
          name: 'add',
          inputs: [{ name: 'a' }, { name: 'b' }],
          outputs: [{ name: 'sum' }],
          forward: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
        }),
        defineNode({
          name: 'greet',
          outputs: [{ name: 'text', wireType: 'TEXT' }],
          forward: () => ({ text: greeting }),
        }),
        defineNode({
          name: 'double',
          batched: true,
          batchDim: 'x',
          inputs: [{ name: 'x' }],
          outputs: [{ name: 'y' }],
          forward: ({ x }) => ({ y: Number(x) * 2 }),
          forwardBatch: (samples) => samples.map(({ x }) => ({ y: Number(x) * 2, of: samples.length })),
        }),
        defineNode({
          name: 'tensor',
          outputs: [{ name: 'value' }],
          forward: () => ({ value: Tensor.of('float32', [2], new Float32Array([1, 2])) }),
        }),
      ],
      initialize() {
        greeting = readFileSync(new URL('./greeting.txt', import.meta.url), 'utf8').trim();
      },
    };
  },
});
