// Real model hosts over models of a few hundred bytes, made here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { StudioError } from '../../base/errors.ts';
import { Tensor } from '../../base/tensor.ts';
import type { NodeHandler, PortValues } from '../../graph/ports.ts';
import { BatchedInferenceServer } from '../inference-server.ts';
import { createModelFolder, firing, type ModelFolder } from '../testing/model-folder.ts';
import { encodeOnnx, type OnnxType, type OnnxValue } from '../testing/onnx-model.ts';
import { recurrentPolicy } from '../testing/sample-models.ts';
import { policyNodeType, type PolicyNodes } from './policy-node.ts';

let models: ModelFolder;
const stop = new AbortController().signal;

beforeAll(async () => {
  models = await createModelFolder();
  await models.write('gru.onnx', recurrentPolicy({ observation: 6, hidden: 8, actions: 4 }));
  await models.write('sum.onnx', sumPolicy(['batch', 3, 2, 4], 'float32'));
  await models.write('bytes.onnx', sumPolicy(['batch', 2, 4, 3], 'uint8'));
  await models.write('single.onnx', sumPolicy([1, 3, 2, 4], 'float32'));
  await models.write('eight.onnx', sumPolicy([8, 3], 'float32'));
  await models.write('lstm.onnx', stateAtSecondAxis());
  await models.write('broken.onnx', new Uint8Array([1, 2, 3]));
});

afterAll(async () => {
  await models[Symbol.asyncDispose]();
});

/** `x` -> `same`: its numbers as they arrived, in float. */
function sumPolicy(shape: OnnxValue['shape'], type: OnnxType): Uint8Array {
  return encodeOnnx({
    inputs: [{ name: 'x', type, shape }],
    outputs: [{ name: 'same', type: 'float32', shape }],
    constants: [],
    nodes: [{ op: 'Cast', inputs: ['x'], outputs: ['same'], attributes: { to: 1 } }],
  });
}

/** `h_out` = `h_in` + `x`, with (layers, batch, size) as states of PyTorch have it. */
function stateAtSecondAxis(): Uint8Array {
  return encodeOnnx({
    inputs: [
      { name: 'x', type: 'float32', shape: ['batch', 2] },
      { name: 'h_in', type: 'float32', shape: [3, 'batch', 2] },
    ],
    outputs: [
      { name: 'h_out', type: 'float32', shape: [3, 'batch', 2] },
      { name: 'scores', type: 'float32', shape: ['batch', 2] },
    ],
    constants: [],
    nodes: [
      { op: 'Add', inputs: ['h_in', 'x'], outputs: ['h_out'] },
      { op: 'Identity', inputs: ['x'], outputs: ['scores'] },
    ],
  });
}

const gru = {
  model: 'gru.onnx',
  inputs: { observation: {} },
  hidden: { h_in: 'h_out' },
  action: { output: 'logits' },
};

function bind(config: PortValues, nodes: PolicyNodes = models.nodes): NodeHandler {
  const nodeType = nodes.lookup(policyNodeType);
  if (!nodeType) throw new Error('no policy_onnx');
  return nodeType.bind('policy', config);
}

const fire = async (handler: NodeHandler, inputs: PortValues, context = firing('one')): Promise<PortValues> =>
  (await handler.forward(inputs, context)) as PortValues;
const observation = (value: number): Tensor =>
  Tensor.of(
    'float32',
    [6],
    Float32Array.from({ length: 6 }, (_, index) => Math.sin(value + index)),
  );
const numbers = (value: unknown): number[] => (value instanceof Tensor ? Array.from(value.data, Number) : []);
const failure = async (work: Promise<unknown>): Promise<StudioError> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof StudioError) return error;
  throw new Error('it did not fail');
};

describe('a policy', () => {
  it('starts with a state of zeros and carries it on its ports', async () => {
    const handler = bind(gru);
    const first = await fire(handler, { observation: observation(1) });
    const again = await fire(handler, { observation: observation(1), hidden_in: null });
    const zeros = Tensor.of('float32', [8], new Float32Array(8));
    const explicit = await fire(handler, { observation: observation(1), hidden_in: zeros });
    const second = await fire(handler, { observation: observation(1), hidden_in: first['hidden_out'] });
    expect(first['hidden_out']).toMatchObject({ dtype: 'float32', shape: [8] });
    expect(numbers(again['hidden_out'])).toEqual(numbers(first['hidden_out']));
    expect(numbers(explicit['hidden_out'])).toEqual(numbers(first['hidden_out']));
    expect(numbers(second['hidden_out'])).not.toEqual(numbers(first['hidden_out']));
    expect(first['action']).toBe(numbers(first['scores']).indexOf(Math.max(...numbers(first['scores']))));
  });

  it('takes lists and members of records, one-hot numbers and tokens', async () => {
    const inputs = { x: { port: 'observation', member: 'state.x' } };
    const handler = bind({
      model: 'lstm.onnx',
      inputs,
      hidden: { h_in: 'h_out' },
      action: { output: 'scores' },
    });
    const list = await fire(handler, { observation: { state: { x: [3, 5] } } });
    expect([numbers(list['scores']), list['action']]).toEqual([[3, 5], 1]);
    const choose = { output: 'scores', choose: 'value' };
    const oneHot = bind({
      model: 'lstm.onnx',
      inputs: { x: { port: 'previous_action', oneHot: 2, default: -1 } },
      hidden: { h_in: 'h_out' },
      action: choose,
    });
    expect(numbers((await fire(oneHot, {}))['action'])).toEqual([0, 0]);
    expect(numbers((await fire(oneHot, { previous_action: 1 }))['action'])).toEqual([0, 1]);
    const tokens = bind({
      model: 'lstm.onnx',
      inputs: { x: { port: 'words', tokens: 2, pad: 9 } },
      hidden: { h_in: 'h_out' },
      action: choose,
    });
    expect(numbers((await fire(tokens, { words: [4] }))['action'])).toEqual([4, 9]);
  });

  it('gives images to the model in its layout and scale', async () => {
    const rgb = Tensor.of(
      'uint8',
      [2, 4, 3],
      Uint8Array.from({ length: 24 }, (_, index) => index),
    );
    const channelsFirst = bind({
      model: 'sum.onnx',
      inputs: { x: { port: 'rgb', layout: 'hwc_to_chw', scale: 0.5, mean: [0, 1, 2], std: [1, 1, 2] } },
      action: { output: 'same', choose: 'value' },
    });
    const expected = [0, 1, 2].flatMap((channel) =>
      Array.from(
        { length: 8 },
        (_, pixel) => ((pixel * 3 + channel) * 0.5 - channel) / (channel === 2 ? 2 : 1),
      ),
    );
    expect(numbers((await fire(channelsFirst, { rgb }))['action'])).toEqual(expected);
    const asBytes = bind({
      model: 'bytes.onnx',
      inputs: { x: { port: 'rgb' } },
      action: { output: 'same', choose: 'value' },
    });
    expect(numbers((await fire(asBytes, { rgb }))['action'])).toEqual(
      Array.from({ length: 24 }, (_, index) => index),
    );
  });

  it('draws actions by the seed of the episode and the step', async () => {
    const handler = bind({ ...gru, action: { output: 'logits', choose: 'sample', temperature: 20 } });
    const walk = async (seed: number): Promise<unknown[]> => {
      const context = firing('walk', { seed });
      const actions: unknown[] = [];
      for (; context.step < 30; context.step++)
        actions.push((await fire(handler, { observation: observation(context.step) }, context))['action']);
      return actions;
    };
    const [first, same, other] = [await walk(1), await walk(1), await walk(2)];
    expect(same).toEqual(first);
    expect(other).not.toEqual(first);
    expect(new Set(first).size).toBeGreaterThan(1);
  });
});

describe('a batch', () => {
  it('gives every caller what it would get alone, also where the state has its batch at another axis', async () => {
    for (const config of [
      gru,
      {
        model: 'lstm.onnx',
        inputs: { x: { port: 'observation' } },
        hidden: { h_in: 'h_out' },
        action: { output: 'scores' },
      },
      { model: 'single.onnx', inputs: { x: { port: 'observation' } }, action: { output: 'same' } },
    ]) {
      await using server = new BatchedInferenceServer({
        clock: systemClock,
        batching: { flushPolicy: 'rendezvous', flushTimeoutMs: 300 },
      });
      const nodeType = models.nodes.lookup(policyNodeType);
      const backend = models.nodes.batchBackend(policyNodeType);
      if (!nodeType || !backend) throw new Error('no policy_onnx');
      const batched = server.wrap(nodeType, backend);
      const callers = [1, 2, 3, 4, 5].map((value) => ({
        value,
        handler: batched.bind('policy', config),
        context: firing(`caller${value}`),
      }));
      const alone = bind(config);
      const size = config.model === 'single.onnx' ? 24 : config.model === 'lstm.onnx' ? 2 : 6;
      const input = (value: number): Tensor =>
        Tensor.of(
          'float32',
          size === 24 ? [3, 2, 4] : [size],
          Float32Array.from({ length: size }, (_, index) => Math.sin(value * 3 + index)),
        );
      await server.ready(stop);
      for (const step of [0, 1, 2]) {
        const together = await Promise.all(
          callers.map(({ handler, context, value }) =>
            fire(handler, { observation: input(value), hidden_in: context.state.get('hidden') }, context),
          ),
        );
        for (const [index, caller] of callers.entries()) {
          const own = await fire(alone, {
            observation: input(caller.value),
            hidden_in: caller.context.state.get('hidden'),
          });
          expect([step, numbers(together[index]?.['scores'])]).toEqual([step, numbers(own['scores'])]);
          expect(numbers(together[index]?.['hidden_out'])).toEqual(numbers(own['hidden_out']));
          caller.context.state.set('hidden', own['hidden_out']);
        }
      }
      const [view] = server.views();
      expect(view).toMatchObject({ nodePath: 'policy', callers: 5, samples: 15 });
      expect(view?.sizes[4]).toBeGreaterThanOrEqual(2);
    }
  });

  it('is one process and one session for every node and worker of a file', async () => {
    const nodes = models.again();
    await Promise.all(
      [1, 2, 3, 4].map((value) =>
        fire(bind({ ...gru, note: value }, nodes), { observation: observation(value) }),
      ),
    );
    expect(nodes.pids).toHaveLength(1);
  });

  it('isolates a sample of the wrong form', async () => {
    await using server = new BatchedInferenceServer({
      clock: systemClock,
      batching: { flushPolicy: 'rendezvous', flushTimeoutMs: 500 },
    });
    const [nodeType, backend] = [
      models.nodes.lookup(policyNodeType),
      models.nodes.batchBackend(policyNodeType),
    ];
    if (!nodeType || !backend) throw new Error('no policy_onnx');
    const batched = server.wrap(nodeType, backend);
    const bad = Tensor.of('float32', [5], new Float32Array(5));
    const results = await Promise.allSettled(
      [observation(1), bad, observation(2)].map((value, index) =>
        fire(batched.bind('policy', gru), { observation: value }, firing(`caller${index}`)),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(String(results[1]?.status === 'rejected' && results[1].reason)).toMatch(
      /input "observation" got float32 \(5\) and takes \(6\) per sample/,
    );
  });
});

describe('what does not fit', () => {
  it('is told with the names and shapes of the file, all at once', async () => {
    const error = await failure(
      fire(
        bind({
          model: 'gru.onnx',
          inputs: { rgb: { oneHot: 3 } },
          hidden: { h_in: 'h' },
          action: { output: 'action' },
        }),
        {},
      ),
    );
    expect(error.code).toBe('invalid_input');
    const nodes = models.again();
    const wrong = {
      model: 'gru.onnx',
      inputs: { rgb: { default: 0 } },
      hidden: { h_in: 'h' },
      action: { output: 'action' },
    };
    const told = await failure(fire(bind(wrong, nodes), {}));
    expect(told.code).toBe('model_failed');
    expect(told.details['findings']).toEqual([
      'inputs.rgb: the model has no such input; it has observation float32 (batch, 6), h_in float32 (batch, 8)',
      'hidden.h_in: the model has no output "h"; it has logits float32 (batch, 4), h_out float32 (batch, 8)',
      'the model has no output "action"; it has logits float32 (batch, 4), h_out float32 (batch, 8)',
      'the model\'s input observation float32 (batch, 6) is not mapped; add "observation" to inputs, or to hidden if it is a state',
    ]);
  });

  it('is told for a fixed batch, a wrong length and a missing provider', async () => {
    const ready = async (config: PortValues): Promise<StudioError> =>
      failure(models.nodes.batchBackend(policyNodeType)?.ready?.(config, stop) ?? Promise.resolve());
    const x = { model: 'eight.onnx', inputs: { x: {} }, action: { output: 'same' } };
    expect((await ready(x)).message).toMatch(/fixed to batches of 8/);
    expect((await ready({ ...gru, inputs: { observation: { tokens: 5 } } })).message).toMatch(
      /takes 6 numbers per sample .* not 5/,
    );
    const provider = await ready({ ...gru, provider: 'coreml' });
    expect([provider.code, provider.message]).toEqual([
      'unsupported',
      expect.stringMatching(/"coreml" is not usable here.*Set provider to "cpu"/),
    ]);
    expect((await ready({ ...gru, provider: 'cuda' })).message).toMatch(/"cuda" is not usable here/);
  });

  it('is told for a file that is missing or no model, before the first firing of a run', async () => {
    await using server = new BatchedInferenceServer({
      clock: systemClock,
      batching: { flushPolicy: 'greedy', flushTimeoutMs: 50 },
    });
    const [nodeType, backend] = [
      models.nodes.lookup(policyNodeType),
      models.nodes.batchBackend(policyNodeType),
    ];
    if (!nodeType || !backend) throw new Error('no policy_onnx');
    server.wrap(nodeType, backend).bind('policy', { ...gru, model: 'library:none.onnx' });
    expect((await failure(server.ready(stop))).message).toMatch(/there is no model at .*none\.onnx/);
    expect(
      (await failure(fire(bind({ ...gru, model: 'broken.onnx' }), { observation: observation(1) }))).code,
    ).toBe('model_failed');
    expect(() => bind({ ...gru, model: '' })).toThrow(/node 'policy' \(policy_onnx\): model: name a file/);
    expect(() => bind({ ...gru, inputs: '{"observation": {"scales": 2}}' })).toThrow(
      /inputs\.observation.*scales/,
    );
    expect(
      (await failure(fire(bind({ ...gru, model: 'library:../gru.onnx' }), { observation: observation(1) })))
        .message,
    ).toMatch(/leaves the folder/);
  });
});

describe('a model host that is lost', () => {
  it('is replaced: kill -9 in the middle costs no caller its answer', async () => {
    const nodes = models.again();
    await using server = new BatchedInferenceServer({
      clock: systemClock,
      batching: { flushPolicy: 'greedy', flushTimeoutMs: 50 },
    });
    const [nodeType, backend] = [nodes.lookup(policyNodeType), nodes.batchBackend(policyNodeType)];
    if (!nodeType || !backend) throw new Error('no policy_onnx');
    const batched = server.wrap(nodeType, backend);
    const pids = new Set<number>();
    const walk = async (caller: number): Promise<number> => {
      const handler = batched.bind('policy', gru);
      const context = firing(`caller${caller}`);
      let answered = 0;
      for (; context.step < 60; context.step++) {
        if (caller === 0 && context.step % 20 === 10)
          for (const pid of nodes.pids) {
            pids.add(pid);
            process.kill(pid, 'SIGKILL');
          }
        const { action } = await fire(handler, { observation: observation(context.step) }, context);
        if (typeof action === 'number') answered++;
      }
      handler.end?.(context.executionId);
      return answered;
    };
    expect(await Promise.all([0, 1, 2, 3].map(walk))).toEqual([60, 60, 60, 60]);
    expect(pids.size).toBe(3);
    expect(server.views()[0]?.callers).toBe(0);
  });

  it('that hangs is killed at the deadline while another model goes on', async () => {
    const nodes = models.again();
    const [nodeType, backend] = [nodes.lookup(policyNodeType), nodes.batchBackend(policyNodeType)];
    if (!nodeType || !backend) throw new Error('no policy_onnx');
    const limits = { batchMs: 700, firstBatchMs: 20_000 };
    await using server = new BatchedInferenceServer({
      clock: systemClock,
      batching: { flushPolicy: 'greedy', flushTimeoutMs: 50 },
      limits,
    });
    const batched = server.wrap(nodeType, backend);
    const handler = batched.bind('policy', gru);
    const other = batched.bind('other', {
      model: 'lstm.onnx',
      inputs: { x: { port: 'observation' } },
      hidden: { h_in: 'h_out' },
      action: { output: 'scores' },
    });
    await server.ready(stop);
    await fire(handler, { observation: observation(1) });
    const [stuck] = nodes.pids;
    if (stuck === undefined) throw new Error('no process');
    process.kill(stuck, 'SIGSTOP');
    const startMs = performance.now();
    const slow = fire(handler, { observation: observation(2) });
    let others = 0;
    const otherContext = firing('other');
    while (performance.now() - startMs < 500) {
      await fire(other, { observation: [1, 2] }, otherContext);
      others++;
    }
    expect(typeof (await slow)['action']).toBe('number');
    expect(performance.now() - startMs).toBeGreaterThan(650);
    expect(others).toBeGreaterThan(20);
    expect(nodes.pids).not.toContain(stuck);
  });

  it('is stopped when nothing was asked for a while, and comes back', async () => {
    const nodes = models.again({ idleMs: 150 });
    const handler = bind(gru, nodes);
    await fire(handler, { observation: observation(1) });
    expect(nodes.pids).toHaveLength(1);
    await expect.poll(() => nodes.pids.length, { timeout: 5_000 }).toBe(0);
    expect(typeof (await fire(handler, { observation: observation(1) }))['action']).toBe('number');
  });
});
