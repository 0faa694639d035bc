// Values of a log as the contract shows them. Names of assets are checked here: a log may come out of a bundle that
// somebody else made.
import type { RecordedFiring, RecordedValue } from '../contract/replay.ts';
import { metricValue, type MetricValue } from '../contract/run.ts';
import {
  arrayCell,
  assetName,
  jsonCell,
  logLine,
  textCell,
  type ArrayCell,
  type LogLine,
} from './recording-format.ts';

const longestText = 4000;
const mimeTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  txt: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
  bin: 'application/octet-stream',
};

/** Undefined for a name that is none of an asset. */
export function mimeTypeOfAsset(name: string): string | undefined {
  return assetName.test(name) ? mimeTypes[name.slice(name.lastIndexOf('.') + 1)] : undefined;
}

export type AddressOf = (asset: string) => string;

type Asset = Extract<RecordedValue, { kind: 'image' }>['asset'];

export function assetOf(
  name: string | undefined,
  bytes: number | undefined,
  addressOf: AddressOf,
): Asset | null {
  const mimeType = name === undefined ? undefined : mimeTypeOfAsset(name);
  if (name === undefined || mimeType === undefined) return null;
  return { address: addressOf(name), mimeType, bytes: bytes ?? 0 };
}

/** Any JSON: what is of no known form is shown as JSON. */
export function toRecordedValue(value: unknown, addressOf: AddressOf): RecordedValue {
  switch (typeof value) {
    case 'number':
      return { kind: 'number', value };
    case 'boolean':
      return { kind: 'flag', value };
    case 'string':
      return { kind: 'text', text: value.slice(0, longestText), length: value.length, asset: null };
    case 'object':
      return value === null ? { kind: 'empty' } : structureValue(value, addressOf);
    default:
      return { kind: 'empty' };
  }
}

function structureValue(value: object, addressOf: AddressOf): RecordedValue {
  if ('$number' in value) {
    const parsed = metricValue.safeParse(value.$number);
    return { kind: 'number', value: parsed.success ? parsed.data : null };
  }
  if ('$integer' in value) {
    const text = String(value.$integer);
    return { kind: 'text', text: text.slice(0, longestText), length: text.length, asset: null };
  }
  const array = '$array' in value ? arrayCell.safeParse(value) : undefined;
  if (array?.success) return arrayValue(array.data, addressOf);
  const text = '$text' in value ? textCell.safeParse(value) : undefined;
  if (text?.success) {
    const { start, length, asset, bytes } = text.data.$text;
    return { kind: 'text', text: start, length, asset: assetOf(asset, bytes, addressOf) };
  }
  const json = '$json' in value ? jsonCell.safeParse(value) : undefined;
  if (json?.success) {
    const { start, length, asset, bytes } = json.data.$json;
    return { kind: 'json', text: start, length, asset: assetOf(asset, bytes, addressOf) };
  }
  const whole = JSON.stringify(readable(value), null, 1);
  return { kind: 'json', text: whole.slice(0, longestText), length: whole.length, asset: null };
}

function arrayValue({ $array }: ArrayCell, addressOf: AddressOf): RecordedValue {
  const { dtype, shape, data = [], image, low = null, high = null } = $array;
  const asset = assetOf($array.asset, $array.bytes, addressOf);
  if (image && asset) {
    const [height = 0, width = 0] = shape;
    return { kind: 'image', asset, width, height, isDepth: image === 'depth', low, high };
  }
  return { kind: 'tensor', dtype, shape, preview: data.slice(0, 64).map(previewNumber), asset };
}

function previewNumber(value: unknown): MetricValue {
  const parsed = metricValue.safeParse(
    typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value,
  );
  return parsed.success ? parsed.data : null;
}

/** Arrays inside structures by what they are, not by how the file spells it. */
function readable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(readable);
  if ('$array' in value) {
    const cell = arrayCell.safeParse(value);
    if (cell.success) {
      const { dtype, shape, data } = cell.data.$array;
      return data ?? `${dtype}[${shape.join(' x ')}]`;
    }
  }
  if ('$number' in value) return value.$number;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, readable(member)]));
}

export function parseLogLine(value: unknown): LogLine {
  const parsed = logLine.safeParse(value);
  return parsed.success ? parsed.data : logLine.parse({ error: 'this line cannot be read' });
}

export function toRecordedFiring(line: number, value: unknown, addressOf: AddressOf): RecordedFiring {
  const row = parseLogLine(value);
  const ports = (values: Readonly<Record<string, unknown>> = {}): RecordedFiring['inputs'] =>
    Object.entries(values).map(([port, member]) => ({ port, value: toRecordedValue(member, addressOf) }));
  return {
    line,
    step: row.step,
    phase: row.phase,
    nodeId: row.node,
    nodeType: row.type,
    path: row.path ?? row.node,
    atMs: row.at,
    durationMs: row.ms,
    error: row.error ?? null,
    inputs: ports(row.in),
    outputs: ports(row.out),
    log: (row.log ?? []).map(([key, member]) => ({ key, value: toRecordedValue(member, addressOf) })),
  };
}
