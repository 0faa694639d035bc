// Hot path of recording: a value on a wire as one line of the log carries it. Small things are themselves, arrays and
// long texts are handed to `keep` and become references, cycles and depth are cut.
import { Tensor, dtypes, type DType } from '../base/tensor.ts';
import { pictureOf } from '../store/tensor-image.ts';

/** Keeps bytes and answers where they are; null when they could not be kept. */
export type KeepBytes = (bytes: Uint8Array) => number | null;

/** Characters of a text, or of a structure's JSON, that stand in the line itself. */
const inlineCharacters = 2000;
const clippedCharacters = 400;
const inlineElements = 64;
/** About what a number takes. */
const numberCharacters = 12;
const deepest = 8;
const mostMembers = 400;
const largestArrayBytes = 32 * 2 ** 20;

/** One per episode: an array that flows through several ports is kept once. */
export class ValueSummariser {
  readonly #keep: KeepBytes;
  /** Takes secrets out of a text. */
  readonly #redact: (text: string) => string;
  readonly #arrays = new WeakMap<object, object>();
  /** About the characters of the value that is being summarised, without what became a reference. */
  #size = 0;

  constructor(keep: KeepBytes, redact = (text: string): string => text) {
    this.#keep = keep;
    this.#redact = redact;
  }

  /** Plain JSON. */
  summarise(value: unknown): unknown {
    this.#size = 0;
    const summary = this.#plain(value, 0);
    // Only what looks large is written twice.
    if (this.#size <= inlineCharacters) return summary;
    return typeof value === 'object' ? this.#text(JSON.stringify(summary), '$json') : summary;
  }

  #plain(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case 'string':
        return this.#string(this.#redact(value));
      case 'number':
        this.#size += numberCharacters;
        return Number.isFinite(value) ? value : { $number: numberName(value) };
      case 'boolean':
        return value;
      case 'bigint':
        return { $integer: value.toString() };
      case 'object':
        return value === null ? null : this.#structure(value, depth);
      default:
        return null;
    }
  }

  #string(value: string): unknown {
    if (value.length > inlineCharacters) return this.#text(value, '$text');
    this.#size += value.length + 2;
    return value;
  }

  #structure(value: object, depth: number): unknown {
    const tensor = tensorOf(value);
    if (tensor) return this.#array(tensor);
    if (depth >= deepest) return '…';
    if (value instanceof Uint8Array) return { $bytes: value.length };
    if (value instanceof Set || value instanceof Map) return this.#members([...value], depth);
    if (Array.isArray(value)) return this.#members(value, depth);
    return this.#record(value, depth);
  }

  #record(value: object, depth: number): Record<string, unknown> {
    const kept: Record<string, unknown> = {};
    const names = Object.keys(value);
    for (let place = 0; place < names.length && place < mostMembers; place++) {
      const name = names[place] as string;
      this.#size += name.length + 4;
      // A member of that name would be the prototype.
      if (name !== '__proto__') kept[this.#redact(name)] = this.#plain(Reflect.get(value, name), depth + 1);
    }
    if (names.length > mostMembers) kept['…'] = names.length - mostMembers;
    return kept;
  }

  #members(items: readonly unknown[], depth: number): unknown[] {
    const kept = items.slice(0, mostMembers).map((item) => this.#plain(item, depth + 1));
    return items.length > mostMembers ? [...kept, `… ${items.length - mostMembers} more`] : kept;
  }

  #array(tensor: Tensor): object {
    const known = this.#arrays.get(tensor);
    if (known) return known;
    const cell = arrayCellOf(tensor, this.#keep);
    this.#arrays.set(tensor, cell);
    return cell;
  }

  #text(value: string, name: '$text' | '$json'): object {
    const bytes = Buffer.from(value);
    const at = bytes.length > largestArrayBytes ? null : this.#keep(bytes);
    const place = at === null ? {} : { at, bytes: bytes.length };
    return { [name]: { length: value.length, start: value.slice(0, clippedCharacters), ...place } };
  }
}

function arrayCellOf(tensor: Tensor, keep: KeepBytes): object {
  const { dtype, shape } = tensor;
  if (tensor.size <= inlineElements && pictureOf(tensor) === null)
    return {
      $array: {
        dtype,
        shape,
        data: Array.from(tensor.data as Iterable<number | bigint>, (item) =>
          typeof item === 'bigint' ? item.toString() : Number.isFinite(item) ? item : numberName(item),
        ),
      },
    };
  const at = tensor.bytes.length > largestArrayBytes ? null : keep(tensor.bytes);
  return { $array: { dtype, shape, ...(at === null ? {} : { at, bytes: tensor.bytes.length }) } };
}

function numberName(value: number): string {
  return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
}

const knownDtypes: ReadonlySet<unknown> = new Set(dtypes);

/** By shape, not by class: code of a nodeset may carry a copy of the class. */
export function tensorOf(value: object): Tensor | null {
  if (value instanceof Tensor) return value;
  if (!('dtype' in value && 'shape' in value && 'bytes' in value)) return null;
  const { dtype, shape, bytes } = value;
  if (!(bytes instanceof Uint8Array) || !Array.isArray(shape) || !knownDtypes.has(dtype)) return null;
  return new Tensor(dtype as DType, shape as number[], bytes);
}
