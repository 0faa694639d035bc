// The bounds of a graph file, checked before anything walks it. Untrusted text: depth is counted on the characters,
// and keys that could reach a prototype are refused.
import { StudioError } from '../base/errors.ts';

export const graphLimits = { bytes: 8 * 1024 * 1024, depth: 64, nodes: 5_000, edges: 20_000 } as const;

const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export type JsonPath = readonly (string | number)[];

/** `nodes[3].config.ports`; the root is `graph`. At most 120 characters, the start left out. */
export function showPath(path: JsonPath): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  const whole = text.startsWith('.') ? text.slice(1) : text || 'graph';
  return whole.length > 120 ? `…${whole.slice(-119)}` : whole;
}

/** Throws `graph_too_large` for size and depth. Never parses. */
export function checkTextLimits(text: string): void {
  const bytes = text.length > graphLimits.bytes ? text.length : Buffer.byteLength(text);
  if (bytes > graphLimits.bytes)
    throw tooLarge('file size', `at most ${graphLimits.bytes} bytes`, `${bytes}`);
  const depth = nestingDepth(text);
  if (depth > graphLimits.depth)
    throw tooLarge('nesting', `at most ${graphLimits.depth} levels`, `${depth} or more`);
}

/** Deepest nesting of brackets outside strings; counting stops one beyond the limit. */
function nestingDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (inString) {
      if (code === 0x5c) position++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) {
      inString = true;
    } else if (code === 0x7b || code === 0x5b) {
      depth++;
      if (depth > deepest) deepest = depth;
      if (deepest > graphLimits.depth) return deepest;
    } else if (code === 0x7d || code === 0x5d) {
      depth--;
    }
  }
  return deepest;
}

/** Throws `invalid_input` for a forbidden key and `graph_too_large` for too many nodes or edges, at all levels together. */
export function checkValueLimits(root: unknown): void {
  const counts = { nodes: 0, edges: 0 };
  const open: { readonly value: unknown; readonly path: JsonPath }[] = [{ value: root, path: [] }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      count(counts, path, value.length);
      for (const [index, member] of value.entries()) {
        if (typeof member === 'object' && member !== null)
          open.push({ value: member, path: [...path, index] });
      }
      continue;
    }
    for (const [key, member] of Object.entries(value)) {
      if (forbiddenKeys.has(key)) {
        throw new StudioError(
          'invalid_input',
          shape([...path, key], 'another key', `'${key}', which is not allowed`),
        );
      }
      if (typeof member === 'object' && member !== null) open.push({ value: member, path: [...path, key] });
    }
  }
}

/** Only lists that are a graph's own count: those at the top and right below a `subgraph`. */
function count(counts: { nodes: number; edges: number }, path: JsonPath, length: number): void {
  const key = path.at(-1);
  if (key !== 'nodes' && key !== 'edges') return;
  if (path.length > 1 && path.at(-2) !== 'subgraph') return;
  counts[key] += length;
  if (counts[key] > graphLimits[key])
    throw tooLarge(key, `at most ${graphLimits[key]}`, `${counts[key]} or more`);
}

function tooLarge(what: string, expected: string, got: string): StudioError {
  return new StudioError(
    'graph_too_large',
    `${what}: expected ${expected}, got ${got}; split the graph into smaller ones`,
  );
}

/** `path: expected …, got …`, under 300 characters. */
export function shape(path: JsonPath, expected: string, got: string): string {
  return `${showPath(path)}: expected ${shorten(expected)}, got ${shorten(got)}`;
}

function shorten(text: string): string {
  return text.length > 70 ? `${text.slice(0, 69)}…` : text;
}
