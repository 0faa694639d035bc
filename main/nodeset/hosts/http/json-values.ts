// Values in the contract's JSON form, for servers without MessagePack: arrays as base64 members with type and shape.
import { StudioError } from '../../../base/errors.ts';
import { isTensor, tensorFrom } from './msgpack.ts';

/** Non-finite numbers have no form in JSON: they are refused rather than turned into null. */
export function toJsonForm(value: unknown): unknown {
  switch (typeof value) {
    case 'undefined':
      return null;
    case 'bigint':
      return Number(value);
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new StudioError('invalid_input', `${value} cannot be sent to a server that takes JSON only`);
    case 'object':
      return value === null ? null : objectForm(value);
    default:
      return value;
  }
}

function objectForm(value: object): unknown {
  if (Array.isArray(value) || value instanceof Set) return [...value].map(toJsonForm);
  if (isTensor(value))
    return {
      __ndarray__: Buffer.from(value.bytes).toString('base64'),
      dtype: value.dtype,
      shape: [...value.shape],
    };
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(entries.map(([key, member]) => [String(key), toJsonForm(member)]));
}

export function fromJsonForm(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(fromJsonForm);
  if ('__ndarray__' in value) {
    const { dtype, shape } = value as { dtype?: unknown; shape?: unknown };
    const bytes = Buffer.from(String(value.__ndarray__), 'base64');
    return tensorFrom(dtype, shape, new Uint8Array(bytes));
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fromJsonForm(member)]));
}
