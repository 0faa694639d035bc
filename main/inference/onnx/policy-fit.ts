// Holds a node's mapping against the model file: either a plan for the host, or everything that does not fit, in words
// that say what to write instead. Pure.
import { dtypes, type DType } from '../../base/tensor.ts';
import type { BindingPlan, InputPlan, ModelFacts, Normalisation, OutputPlan, TensorFacts } from './plan.ts';
import type { InputMapping, PolicyConfig } from './policy-config.ts';

export type Fit =
  | { readonly fits: true; readonly plan: BindingPlan }
  | { readonly fits: false; readonly findings: readonly string[] };

const usableTypes: ReadonlySet<string> = new Set(dtypes.filter((dtype) => !dtype.startsWith('complex')));

export function fitPolicy(config: PolicyConfig, facts: ModelFacts): Fit {
  const findings = [
    ...nameFindings(config, facts),
    ...facts.inputs.flatMap((input) => [...inputFindings(config, input)]),
    ...hiddenFindings(config, facts),
  ];
  if (findings.length > 0) return { fits: false, findings };
  const inputs = facts.inputs.map((input) => inputPlan(config, input));
  const outputs = wantedOutputs(config).map((name): OutputPlan => ({
    name,
    batchAxis: outputAxis(config, facts.inputs, name),
  }));
  const takesBatches = facts.inputs.every((input) => typeof extentOfBatch(config, input) === 'string');
  return { fits: true, plan: { inputs, outputs, takesBatches } };
}

/** Outputs the node needs, each once. */
export function wantedOutputs({ action, hidden, extra }: PolicyConfig): readonly string[] {
  return [...new Set([action.output, ...Object.values(hidden), ...extra])];
}

/** Axis of the batch: as configured, else the first if it is dynamic, else the only dynamic one, else the first. */
export function batchAxisOf(
  { batchAxis }: Pick<PolicyConfig, 'batchAxis'>,
  { name, shape }: TensorFacts,
): number {
  const stated = batchAxis[name];
  if (stated !== undefined) return stated;
  if (typeof shape[0] === 'string') return 0;
  const dynamic = shape.flatMap((extent, axis) => (typeof extent === 'string' ? [axis] : []));
  return dynamic.length === 1 ? (dynamic[0] ?? 0) : 0;
}

function extentOfBatch(config: PolicyConfig, input: TensorFacts): number | string | undefined {
  return input.shape[batchAxisOf(config, input)];
}

/** "rgb uint8 (batch, 48, 64, 3)" */
export function describeTensor({ name, dtype, shape }: TensorFacts): string {
  return `${name} ${dtype} (${shape.map((extent) => (extent === '' ? '?' : extent)).join(', ')})`;
}

function* nameFindings(config: PolicyConfig, { inputs, outputs }: ModelFacts): Generator<string> {
  const known = (tensors: readonly TensorFacts[]): string => tensors.map(describeTensor).join(', ') || 'none';
  const has = (tensors: readonly TensorFacts[], name: string): boolean =>
    tensors.some((each) => each.name === name);
  for (const name of Object.keys(config.inputs))
    if (!has(inputs, name)) yield `inputs.${name}: the model has no such input; it has ${known(inputs)}`;
  for (const [input, output] of Object.entries(config.hidden)) {
    if (!has(inputs, input)) yield `hidden.${input}: the model has no such input; it has ${known(inputs)}`;
    if (!has(outputs, output))
      yield `hidden.${input}: the model has no output "${output}"; it has ${known(outputs)}`;
    if (input in config.inputs) yield `hidden.${input}: it is mapped under inputs too; remove one of them`;
  }
  for (const name of [config.action.output, ...config.extra])
    if (!has(outputs, name)) yield `the model has no output "${name}"; it has ${known(outputs)}`;
  for (const name of Object.keys(config.batchAxis))
    if (!has(inputs, name) && !has(outputs, name))
      yield `batchAxis.${name}: the model has no such input or output`;
  for (const input of inputs)
    if (!(input.name in config.inputs) && !(input.name in config.hidden))
      yield `the model's input ${describeTensor(input)} is not mapped; add "${input.name}" to inputs, or to hidden if it is a state`;
}

function* inputFindings(config: PolicyConfig, input: TensorFacts): Generator<string> {
  if (!usableTypes.has(input.dtype)) {
    yield `the model's input ${describeTensor(input)} holds ${input.dtype}; only numbers can be given`;
    return;
  }
  const axis = batchAxisOf(config, input);
  if (axis >= input.shape.length) {
    yield `the model's input ${describeTensor(input)} has no axis ${axis} for the batch; export it with a batch axis`;
    return;
  }
  const batch = input.shape[axis];
  if (typeof batch === 'number' && batch !== 1)
    yield `the model's input ${describeTensor(input)} is fixed to batches of ${batch}; export it with a dynamic batch axis`;
  const mapping = config.inputs[input.name];
  if (mapping) yield* mappingFindings(mapping, input, perSample(input, axis));
}

function* mappingFindings(
  { oneHot, tokens, layout, mean, std }: InputMapping,
  input: TensorFacts,
  shape: readonly (number | null)[],
): Generator<string> {
  const where = `inputs.${input.name}`;
  const size = shape.includes(null)
    ? null
    : shape.reduce<number>((product, extent) => product * (extent ?? 1), 1);
  if (oneHot !== undefined && tokens !== undefined) yield `${where}: oneHot and tokens exclude each other`;
  const length = oneHot ?? tokens;
  if (length !== undefined && size !== null && size !== length)
    yield `${where}: the model takes ${size} numbers per sample (${describeTensor(input)}), not ${length}`;
  if (layout !== 'as_is' && shape.length !== 3)
    yield `${where}: layout ${layout} is for images, but ${describeTensor(input)} has ${shape.length} axes beside the batch`;
  const channelCount = Math.max(countOf(mean), countOf(std));
  if (channelCount > 1 && shape[0] !== channelCount && shape.at(-1) !== channelCount)
    yield `${where}: mean or std has ${channelCount} numbers, but no such number of channels is in ${describeTensor(input)}`;
}

function countOf(value: number | readonly number[] | undefined): number {
  return typeof value === 'object' ? value.length : 1;
}

function* hiddenFindings(config: PolicyConfig, { inputs, outputs }: ModelFacts): Generator<string> {
  for (const [from, to] of Object.entries(config.hidden)) {
    const input = inputs.find(({ name }) => name === from);
    const output = outputs.find(({ name }) => name === to);
    if (!input || !output) continue;
    const shape = perSample(input, batchAxisOf(config, input));
    const next = perSample(output, outputAxis(config, inputs, to));
    if (shape.includes(null))
      yield `hidden.${from}: ${describeTensor(input)} has a dynamic extent beside the batch, so its first value is unknown; export it with fixed extents`;
    const isSame =
      shape.length === next.length &&
      shape.every((extent, axis) => next[axis] === null || extent === null || next[axis] === extent);
    if (!isSame || input.dtype !== output.dtype)
      yield `hidden.${from}: ${describeTensor(output)} cannot be its next value; the input is ${describeTensor(input)}`;
  }
}

function inputPlan(config: PolicyConfig, input: TensorFacts): InputPlan {
  const batchAxis = batchAxisOf(config, input);
  const mapping = config.inputs[input.name];
  return {
    name: input.name,
    dtype: input.dtype as DType,
    shape: perSample(input, batchAxis),
    batchAxis,
    layout: mapping?.layout ?? 'as_is',
    normalise: mapping ? normalisation(mapping, perSample(input, batchAxis)) : null,
  };
}

function normalisation(
  { scale = 1, mean = 0, std = 1 }: InputMapping,
  shape: readonly (number | null)[],
): Normalisation | null {
  const list = (value: number | readonly number[]): readonly number[] =>
    typeof value === 'number' ? [value] : value;
  const isIdentity =
    scale === 1 && list(mean).every((each) => each === 0) && list(std).every((each) => each === 1);
  if (isIdentity) return null;
  const channelCount = Math.max(countOf(mean), countOf(std));
  return {
    scale,
    mean: list(mean),
    std: list(std),
    channels: shape.at(-1) === channelCount ? 'last' : 'first',
  };
}

/** As configured; the next value of a state has its batch where the state has it; else the first axis. */
function outputAxis(config: PolicyConfig, inputs: readonly TensorFacts[], name: string): number {
  const stated = config.batchAxis[name];
  if (stated !== undefined) return stated;
  const source = Object.entries(config.hidden).find(([, output]) => output === name)?.[0];
  const state = inputs.find((input) => input.name === source);
  return state ? batchAxisOf(config, state) : 0;
}

function perSample({ shape }: TensorFacts, batchAxis: number): (number | null)[] {
  return shape
    .filter((_, axis) => axis !== batchAxis)
    .map((extent) => (typeof extent === 'number' ? extent : null));
}
