// What changed between two definitions, as edits of the first one's text. Lists whose members have ids are compared
// by id, so that moving a node is one small edit and removing one leaves the others alone.
import { isDeepStrictEqual } from 'node:util';
import type { JsonPath } from './limits.ts';
import { isRecord } from './pivots.ts';

/** A value that stands at `path` of the original is replaced. */
export interface ValueEdit {
  readonly path: JsonPath;
  readonly value: unknown;
}

/** Applied one after the other, after the value edits; each path counts in the text as it then is. */
export type StructuralEdit =
  | { readonly kind: 'set' | 'insert'; readonly path: JsonPath; readonly value: unknown }
  | { readonly kind: 'remove'; readonly path: JsonPath };

export interface Differences {
  readonly values: readonly ValueEdit[];
  readonly structure: readonly StructuralEdit[];
}

export function differences(before: unknown, after: unknown): Differences {
  const values: ValueEdit[] = [];
  const structure: StructuralEdit[] = [];
  compare({ before, after, path: [], values, structure });
  return { values, structure };
}

interface Comparison {
  readonly before: unknown;
  readonly after: unknown;
  readonly path: JsonPath;
  readonly values: ValueEdit[];
  readonly structure: StructuralEdit[];
}

function compare(comparison: Comparison): void {
  const { before, after, path, values } = comparison;
  if (isDeepStrictEqual(before, after)) return;
  if (isRecord(before) && isRecord(after)) return compareRecords(comparison, before, after);
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(comparison, before, after);
  values.push({ path, value: after });
}

function compareRecords(
  comparison: Comparison,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): void {
  const { path, structure } = comparison;
  for (const [key, value] of Object.entries(before)) {
    if (value === undefined) continue;
    const next = Object.hasOwn(after, key) ? after[key] : undefined;
    if (next !== undefined) compare({ ...comparison, before: value, after: next, path: [...path, key] });
    else structure.push({ kind: 'remove', path: [...path, key] });
  }
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined || (Object.hasOwn(before, key) && before[key] !== undefined)) continue;
    structure.push({ kind: 'set', path: [...path, key], value });
  }
}

function compareLists(comparison: Comparison, before: readonly unknown[], after: readonly unknown[]): void {
  const oldIds = idsOf(before);
  const newIds = idsOf(after);
  if (!oldIds || !newIds) return compareByPosition(comparison, before, after);
  const newSet = new Set(newIds);
  const oldSet = new Set(oldIds);
  const keptBefore = oldIds.filter((id) => newSet.has(id));
  const keptAfter = newIds.filter((id) => oldSet.has(id));
  if (!isDeepStrictEqual(keptBefore, keptAfter)) {
    comparison.values.push({ path: comparison.path, value: after });
    return;
  }
  const { path, structure } = comparison;
  const newIndex = new Map(newIds.map((id, index) => [id, index]));
  for (const [index, id] of oldIds.entries()) {
    const position = newIndex.get(id);
    if (position !== undefined)
      compare({ ...comparison, before: before[index], after: after[position], path: [...path, index] });
  }
  const kept = new Set(keptBefore);
  for (const [index, id] of [...oldIds.entries()].reverse()) {
    if (!kept.has(id)) structure.push({ kind: 'remove', path: [...path, index] });
  }
  for (const [index, id] of newIds.entries()) {
    if (!kept.has(id)) structure.push({ kind: 'insert', path: [...path, index], value: after[index] });
  }
}

/** The ids of a list whose members all have different ones. */
function idsOf(list: readonly unknown[]): readonly string[] | undefined {
  const ids = list.map((member) =>
    isRecord(member) && typeof member.id === 'string' ? member.id : undefined,
  );
  const known = ids.filter((id) => id !== undefined);
  return known.length === list.length && new Set(known).size === known.length ? known : undefined;
}

function compareByPosition(
  comparison: Comparison,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  const { path, structure } = comparison;
  const shared = Math.min(before.length, after.length);
  for (let index = 0; index < shared; index++) {
    compare({ ...comparison, before: before[index], after: after[index], path: [...path, index] });
  }
  for (let index = before.length - 1; index >= shared; index--)
    structure.push({ kind: 'remove', path: [...path, index] });
  for (let index = shared; index < after.length; index++) {
    structure.push({ kind: 'insert', path: [...path, index], value: after[index] });
  }
}
