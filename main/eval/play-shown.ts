// Values on wires in a form that can be drawn. Everything is bounded: a look at a value of any size costs little.
import { Tensor } from '../base/tensor.ts';
import type { ShownValue } from '../contract/play.ts';
import { isRecord } from '../graph/pivots.ts';
import { isPicture, pictureOf } from './play-image.ts';

const greatestText = 4000;
const greatestRows = 60;
const greatestDepth = 4;
const greatestMembers = 40;
const defaultPoints = 30_000;

export interface ShowOptions {
  /** Draw arrays of numbers as points, at most so many. */
  readonly points?: number;
}

export async function shownValueOf(value: unknown, options: ShowOptions = {}): Promise<ShownValue> {
  if (value === undefined || value === null) return { kind: 'empty' };
  if (typeof value === 'string') return text(value);
  if (typeof value === 'boolean') return { kind: 'flag', value };
  if (typeof value === 'number') return { kind: 'number', value: metricOf(value) };
  if (typeof value === 'bigint') return text(String(value));
  if (value instanceof Tensor) return await shownTensor(value, options);
  if (options.points !== undefined) {
    const points = pointsOf(value, options.points);
    if (points) return points;
  }
  if (isRecord(value)) return poseOf(value) ?? tableOf(value) ?? json(value);
  if (Array.isArray(value) && value.length === 1) return await shownValueOf(value[0], options);
  return json(value);
}

async function shownTensor(tensor: Tensor, { points }: ShowOptions): Promise<ShownValue> {
  if (points !== undefined) {
    const cloud = pointsOf(tensor, points);
    if (cloud) return cloud;
  }
  if (isPicture(tensor)) return { kind: 'image', mimeType: 'image/png', ...(await pictureOf(tensor)) };
  if (tensor.size === 1) return { kind: 'number', value: metricOf(Number(tensor.data[0])) };
  return text(`${summaryOf(tensor)}\n${Array.from(tensor.data.subarray(0, 64), shortNumber).join(' ')}`);
}

function metricOf(value: number): number | 'nan' | 'inf' | '-inf' {
  if (Number.isNaN(value)) return 'nan';
  if (Number.isFinite(value)) return value;
  return value > 0 ? 'inf' : '-inf';
}

function text(whole: string): ShownValue {
  return { kind: 'text', text: whole.slice(0, greatestText), isCut: whole.length > greatestText };
}

function poseOf(value: Readonly<Record<string, unknown>>): ShownValue | undefined {
  const position = numbersOf(value.position);
  if (!position || position.length < 2) return undefined;
  return { kind: 'pose', position, orientation: numbersOf(value.orientation) ?? [] };
}

/** A short list of finite numbers, from a list or an array. */
function numbersOf(value: unknown): number[] | undefined {
  const list: readonly unknown[] | undefined =
    value instanceof Tensor ? Array.from(value.data, Number) : Array.isArray(value) ? value : undefined;
  if (!list || list.length > 8) return undefined;
  const numbers = list.filter((member) => typeof member === 'number' && Number.isFinite(member)).map(Number);
  return numbers.length === list.length ? numbers : undefined;
}

/** Records of plain values, such as metrics. */
function tableOf(value: Readonly<Record<string, unknown>>): ShownValue | undefined {
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.length > greatestRows) return undefined;
  const isPlain = entries.every(([, member]) => member === null || typeof member !== 'object');
  if (!isPlain) return undefined;
  const worded = (member: unknown): string =>
    typeof member === 'number' ? shortNumber(member) : String(member).slice(0, 200);
  return { kind: 'table', rows: entries.map(([name, member]) => ({ name, value: worded(member) })) };
}

function shortNumber(value: number | bigint): string {
  if (typeof value === 'bigint' || Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(5)));
}

function json(value: unknown): ShownValue {
  return text(JSON.stringify(reduced(value, 0), null, 1) ?? String(value));
}

/** What `JSON.stringify` may walk: arrays by their shape, everything bounded in depth and length. */
function reduced(value: unknown, depth: number): unknown {
  if (value instanceof Tensor) return summaryOf(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return value.length > 1000 ? `${value.slice(0, 1000)}…` : value;
  if (typeof value === 'number') return Number.isFinite(value) ? Number(value.toPrecision(6)) : String(value);
  if (value instanceof Map) return reduced(Object.fromEntries(value), depth);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= greatestDepth) return '…';
  if (Array.isArray(value)) {
    const members: readonly unknown[] = value;
    const shown = members.slice(0, greatestMembers).map((member) => reduced(member, depth + 1));
    return members.length > greatestMembers ? [...shown, `… ${members.length} in all`] : shown;
  }
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, greatestMembers)
    .map(([key, member]) => [key, reduced(member, depth + 1)] as const);
  if (entries.length > greatestMembers) shown.push(['…', `${entries.length} in all`]);
  return Object.fromEntries(shown);
}

function summaryOf({ dtype, shape }: Tensor): string {
  return `${dtype} (${shape.join(', ')})`;
}

/** Rows of at least three numbers, thinned out evenly to the wanted count. */
function pointsOf(value: unknown, wanted: number): ShownValue | undefined {
  const limit = Math.max(1, Math.min(wanted || defaultPoints, 100_000));
  const source = isRecord(value) && !(value instanceof Tensor) ? (value.points ?? value.xyz) : value;
  const read = rowReader(source);
  if (!read) return undefined;
  const stride = Math.max(1, Math.ceil(read.count / limit));
  const shown = Math.ceil(read.count / stride);
  const numbers = new Float32Array(shown * 3);
  for (let index = 0; index < shown; index++)
    for (let axis = 0; axis < 3; axis++) numbers[index * 3 + axis] = read.at(index * stride, axis);
  return {
    kind: 'points',
    base64: Buffer.from(numbers.buffer).toString('base64'),
    count: read.count,
    shown,
  };
}

interface RowReader {
  readonly count: number;
  readonly at: (row: number, axis: number) => number;
}

function rowReader(source: unknown): RowReader | undefined {
  if (source instanceof Tensor) {
    const width = source.shape.at(-1) ?? 0;
    if (source.shape.length < 2 || width < 3 || isPicture(source)) return undefined;
    const { data } = source;
    return { count: Math.floor(source.size / width), at: (row, axis) => Number(data[row * width + axis]) };
  }
  if (!Array.isArray(source) || source.length === 0) return undefined;
  const rows: readonly unknown[] = source;
  if (!rows.every((row) => Array.isArray(row) && row.length >= 3)) return undefined;
  return { count: rows.length, at: (row, axis) => Number((rows[row] as readonly unknown[])[axis]) };
}
