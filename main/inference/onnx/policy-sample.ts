// Hot path. What a policy's caller brings: values of ports become arrays by the node's mapping. Conversions of whole images are the
// model host's; here only small things are made.
import { StudioError } from '../../base/errors.ts';
import { Tensor } from '../../base/tensor.ts';
import type { PortValues } from '../../graph/ports.ts';
import type { InputMapping, PolicyConfig } from './policy-config.ts';

/** Arrays by model input; a state that has no value yet is left out and becomes zeros. */
export type PolicySample = Readonly<Record<string, Tensor>>;

export function policySample(config: PolicyConfig, inputs: PortValues): PolicySample {
  const sample: Record<string, Tensor> = {};
  for (const name in config.inputs) {
    const mapping = config.inputs[name];
    if (mapping) sample[name] = mappedValue(name, mapping, inputs);
  }
  addHidden(sample, config, inputs['hidden_in']);
  return sample;
}

/** One state travels as its array, several as a record by input. */
function addHidden(sample: Record<string, Tensor>, { hidden }: PolicyConfig, state: unknown): void {
  if (state === undefined || state === null) return;
  const names = Object.keys(hidden);
  const [only] = names;
  if (only === undefined) return;
  for (const name of names) {
    const value = names.length === 1 && isTensor(state) ? state : isRecord(state) ? state[name] : undefined;
    if (!isTensor(value))
      throw new StudioError(
        'invalid_input',
        `hidden_in carries no array for "${name}"; wire it to hidden_out of the same node, through the loop`,
      );
    sample[name] = value;
  }
}

function mappedValue(name: string, mapping: InputMapping, inputs: PortValues): Tensor {
  const port = mapping.port ?? name;
  const value = memberOf(inputs[port], mapping.member) ?? mapping.default;
  if (value === undefined)
    throw new StudioError(
      'invalid_input',
      `nothing arrived for the model's input "${name}" (port ${port}${mapping.member === undefined ? '' : `, member ${mapping.member}`}); wire it, make the port required, or give inputs.${name} a default`,
    );
  if (mapping.oneHot !== undefined) return oneHot(name, value, mapping.oneHot);
  if (mapping.tokens !== undefined) return tokens(name, value, mapping.tokens, mapping.pad);
  return arrayOf(name, value);
}

function memberOf(value: unknown, path: string | undefined): unknown {
  if (path === undefined) return value ?? undefined;
  let member: unknown = value;
  for (const key of path.split('.')) member = isRecord(member) && !isTensor(member) ? member[key] : undefined;
  return member ?? undefined;
}

/** Outside 0 to length - 1 nothing is set: -1 stands for no action yet. */
function oneHot(name: string, value: unknown, length: number): Tensor {
  const index = isTensor(value) && value.size === 1 ? Number(value.data[0]) : value;
  if (typeof index !== 'number' || !Number.isInteger(index))
    throw unusable(name, value, 'oneHot needs a whole number');
  const data = new Float32Array(length);
  if (index >= 0 && index < length) data[index] = 1;
  return Tensor.of('float32', [length], data);
}

function tokens(name: string, value: unknown, length: number, pad: number): Tensor {
  const ids: readonly unknown[] = isTensor(value)
    ? Array.from(value.data, Number)
    : Array.isArray(value)
      ? value
      : [];
  const isList = (isTensor(value) || Array.isArray(value)) && ids.every((id) => typeof id === 'number');
  if (!isList && typeof value !== 'number') throw unusable(name, value, 'tokens needs a list of word ids');
  const data = new Int32Array(length).fill(pad);
  for (let index = 0; index < Math.min(length, ids.length); index++) data[index] = Number(ids[index]);
  return Tensor.of('int32', [length], data);
}

function arrayOf(name: string, value: unknown): Tensor {
  if (isTensor(value)) return value;
  if (typeof value === 'number' || typeof value === 'boolean')
    return Tensor.of('float64', [], new Float64Array([Number(value)]));
  if (Array.isArray(value)) {
    const flat: number[] = [];
    const shape = flatten(value, flat);
    if (shape) return Tensor.of('float64', shape, Float64Array.from(flat));
  }
  throw unusable(name, value, 'arrays and numbers can be used; map text with tokens and records with member');
}

/** Undefined when the lists are ragged or hold something else than numbers. */
function flatten(list: readonly unknown[], into: number[]): readonly number[] | undefined {
  let inner: readonly number[] | undefined;
  for (const [index, item] of list.entries()) {
    let shape: readonly number[] | undefined = [];
    if (Array.isArray(item)) shape = flatten(item, into);
    else if (typeof item === 'number' || typeof item === 'boolean') into.push(Number(item));
    else return undefined;
    if (!shape || (index > 0 && shape.join() !== inner?.join())) return undefined;
    inner = shape;
  }
  return [list.length, ...(inner ?? [])];
}

function unusable(name: string, value: unknown, hint: string): StudioError {
  const what = isTensor(value)
    ? `${value.dtype} (${value.shape.join(', ')})`
    : Array.isArray(value)
      ? 'a list'
      : value === null
        ? 'null'
        : `a value of type ${typeof value}`;
  return new StudioError('invalid_input', `the model's input "${name}" got ${what}: ${hint}`);
}

/** By shape, not by class: nodesets may carry their own copy of the class. */
export function isTensor(value: unknown): value is Tensor {
  return (
    value instanceof Tensor ||
    (isRecord(value) && 'dtype' in value && 'shape' in value && value['bytes'] instanceof Uint8Array)
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
