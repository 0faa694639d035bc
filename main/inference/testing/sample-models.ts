// Models with random weights, made on the spot: a small recurrent policy and a convolutional network of ResNet-18's size.
import { createRandom, type Random } from '../../base/random.ts';
import { encodeOnnx, type OnnxConstant, type OnnxNode } from './onnx-model.ts';

export interface RecurrentSizes {
  readonly observation: number;
  readonly hidden: number;
  readonly actions: number;
}

/** `observation`, `h_in` -> `logits`, `h_out`; the batch is the first axis of all four. */
export function recurrentPolicy({ observation, hidden, actions }: RecurrentSizes, seed = 1): Uint8Array {
  const random = createRandom(seed);
  return encodeOnnx({
    inputs: [
      { name: 'observation', type: 'float32', shape: ['batch', observation] },
      { name: 'h_in', type: 'float32', shape: ['batch', hidden] },
    ],
    outputs: [
      { name: 'logits', type: 'float32', shape: ['batch', actions] },
      { name: 'h_out', type: 'float32', shape: ['batch', hidden] },
    ],
    constants: [
      axes('first', 0),
      weights(random, 'w', [1, 3 * hidden, observation]),
      weights(random, 'r', [1, 3 * hidden, hidden]),
      weights(random, 'head', [hidden, actions]),
    ],
    nodes: [
      { op: 'Unsqueeze', inputs: ['observation', 'first'], outputs: ['x'] },
      { op: 'Unsqueeze', inputs: ['h_in', 'first'], outputs: ['h0'] },
      {
        op: 'GRU',
        inputs: ['x', 'w', 'r', '', '', 'h0'],
        outputs: ['', 'h1'],
        attributes: { hidden_size: hidden },
      },
      { op: 'Squeeze', inputs: ['h1', 'first'], outputs: ['h_out'] },
      { op: 'MatMul', inputs: ['h_out', 'head'], outputs: ['logits'] },
    ],
  });
}

/** `rgb` uint8 (batch, size, size, 3) -> `logits`; the topology of ResNet-18 without its normalisations. */
export function convolutionalPolicy(size: number, actions: number, seed = 1): Uint8Array {
  const random = createRandom(seed);
  const constants: OnnxConstant[] = [];
  const nodes: OnnxNode[] = [
    { op: 'Cast', inputs: ['rgb'], outputs: ['float'], attributes: { to: 1 } },
    { op: 'Transpose', inputs: ['float'], outputs: ['image'], attributes: { perm: [0, 3, 1, 2] } },
  ];
  let last = 'image';
  const convolve = (
    from: string,
    channels: readonly [number, number],
    kernel: number,
    stride: number,
  ): string => {
    const name = `conv${nodes.length}`;
    constants.push(weights(random, `${name}_w`, [channels[1], channels[0], kernel, kernel]));
    const pad = (kernel - 1) / 2;
    nodes.push({
      op: 'Conv',
      inputs: [from, `${name}_w`],
      outputs: [name],
      attributes: { kernel_shape: [kernel, kernel], strides: [stride, stride], pads: [pad, pad, pad, pad] },
    });
    return name;
  };
  const apply = (op: string, inputs: readonly string[], attributes?: OnnxNode['attributes']): string => {
    const name = `value${nodes.length}`;
    nodes.push({ op, inputs, outputs: [name], ...(attributes && { attributes }) });
    return name;
  };
  last = apply('Relu', [convolve(last, [3, 64], 7, 2)]);
  last = apply('MaxPool', [last], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
  let channels = 64;
  for (const width of [64, 128, 256, 512]) {
    for (const block of [0, 1]) {
      const stride = block === 0 && width > 64 ? 2 : 1;
      const inner = apply('Relu', [convolve(last, [channels, width], 3, stride)]);
      const outer = convolve(inner, [width, width], 3, 1);
      const skip = channels === width ? last : convolve(last, [channels, width], 1, stride);
      last = apply('Relu', [apply('Add', [outer, skip])]);
      channels = width;
    }
  }
  constants.push(weights(random, 'head', [512, actions]));
  const pooled = apply('Flatten', [apply('GlobalAveragePool', [last])]);
  nodes.push({ op: 'MatMul', inputs: [pooled, 'head'], outputs: ['logits'] });
  return encodeOnnx({
    inputs: [{ name: 'rgb', type: 'uint8', shape: ['batch', size, size, 3] }],
    outputs: [{ name: 'logits', type: 'float32', shape: ['batch', actions] }],
    constants,
    nodes,
  });
}

function axes(name: string, ...values: readonly number[]): OnnxConstant {
  return { name, shape: [values.length], data: BigInt64Array.from(values.map(BigInt)) };
}

/** Uniform, scaled by the number of inputs so that activations neither vanish nor explode. */
function weights(random: Random, name: string, shape: readonly number[]): OnnxConstant {
  const size = shape.reduce((product, extent) => product * extent, 1);
  const fanIn =
    shape.length === 2 ? (shape[0] ?? 1) : size / (shape.length === 3 ? (shape[1] ?? 1) : (shape[0] ?? 1));
  const scale = Math.sqrt(6 / fanIn);
  return { name, shape, data: Float32Array.from({ length: size }, () => (random.next() * 2 - 1) * scale) };
}
