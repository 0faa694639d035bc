// Values as the canvas draws them: what Play shows, and recorded ones brought into the same forms. Recorded pictures
// stay files that are fetched by address.
import type { RecordedFiring, RecordedValue } from '#contract/replay.ts';
import type { PlayedNode, ShownValue } from '#contract/play.ts';

export type DrawnValue =
  | ShownValue
  | {
      readonly kind: 'picture';
      readonly address: string;
      readonly width: number;
      readonly height: number;
      readonly note: string;
    };

export interface DrawnPort {
  readonly port: string;
  readonly value: DrawnValue;
}

/** What a node received, gave and wrote when it fired last. */
export interface NodeDetail {
  readonly node: PlayedNode;
  readonly inputs: readonly DrawnPort[];
  readonly outputs: readonly DrawnPort[];
  readonly log: readonly { readonly key: string; readonly value: DrawnValue }[];
}

const greatestRows = 40;

export function drawnValueOf(value: RecordedValue): DrawnValue {
  switch (value.kind) {
    case 'image':
      return {
        kind: 'picture',
        address: value.asset.address,
        width: value.width,
        height: value.height,
        note: `${value.width} × ${value.height}${value.isDepth ? rangeOf(value.low, value.high) : ''}`,
      };
    case 'tensor': {
      const more = value.preview.length < sizeOf(value.shape) ? ' …' : '';
      const numbers = value.preview.map((number) => shortNumber(number)).join(', ');
      const text = `${value.dtype} (${value.shape.join(', ')})${numbers === '' ? '' : `\n${numbers}${more}`}`;
      return { kind: 'text', text, isCut: false };
    }
    case 'text':
      return { kind: 'text', text: value.text, isCut: value.text.length < value.length };
    case 'json':
      return structureOf(value.text, value.text.length < value.length);
    case 'number':
      return { kind: 'number', value: value.value };
    case 'flag':
      return { kind: 'flag', value: value.value };
    case 'empty':
      return { kind: 'empty' };
  }
}

export function drawnPorts(ports: RecordedFiring['inputs']): DrawnPort[] {
  return ports.map(({ port, value }) => ({ port, value: drawnValueOf(value) }));
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, length) => product * length, 1);

function rangeOf(low: number | null, high: number | null): string {
  return low === null || high === null
    ? ' · nothing valid'
    : ` · ${low.toPrecision(3)} to ${high.toPrecision(3)}`;
}

const shortNumber = (value: number | string | null): string =>
  typeof value === 'number' && !Number.isInteger(value)
    ? String(Number(value.toPrecision(5)))
    : String(value);

/** A pose, a table of plain values, or the text as it is. */
function structureOf(text: string, isCut: boolean): DrawnValue {
  const parsed = isCut ? undefined : parsedObject(text);
  if (!parsed) return { kind: 'text', text, isCut };
  const position = numbersOf(parsed['position']);
  if (position) return { kind: 'pose', position, orientation: numbersOf(parsed['orientation']) ?? [] };
  const entries = Object.entries(parsed);
  const isPlain = entries.every(([, member]) => member === null || typeof member !== 'object');
  if (!isPlain || entries.length === 0 || entries.length > greatestRows) return { kind: 'text', text, isCut };
  const rows = entries.map(([name, member]) => ({
    name,
    value: typeof member === 'number' ? shortNumber(member) : String(member).slice(0, 200),
  }));
  return { kind: 'table', rows };
}

function parsedObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function numbersOf(value: unknown): number[] | undefined {
  if (!Array.isArray(value) || value.length < 2 || value.length > 4) return undefined;
  const numbers = value.map(Number);
  return numbers.every(Number.isFinite) ? numbers : undefined;
}
