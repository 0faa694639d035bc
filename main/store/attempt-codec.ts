// Rows of the journal to and from their file form. Hot path of opening a run and of rebuilding the index: key names
// are translated through a table made once from the schema; nested parts go the general way only where they exist.
import { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import { fromFileCase, toFileCase, toSnake } from '../contract/casing.ts';
import { episodeAttempt, type EpisodeAttempt } from '../contract/run.ts';

const shape: Readonly<Record<string, z.ZodType>> = episodeAttempt.shape;
/** Members with keys of their own that are not data. */
const nested = ['error', 'nodeErrors', 'usage'];
const snakeOf = new Map(Object.keys(shape).map((camel) => [camel, toSnake(camel)]));
const camelOf = new Map([...snakeOf].map(([camel, snake]) => [snake, camel]));

/** Checked before it is written: what does not parse now would not be read back either. */
export function encodeAttempt(attempt: EpisodeAttempt): Record<string, unknown> {
  const parsed = episodeAttempt.safeParse(attempt);
  if (!parsed.success) {
    throw new StudioError('invalid_input', `this row cannot be stored: ${firstIssue(parsed.error)}`);
  }
  return translate(parsed.data, snakeOf, toFileCase);
}

export type DecodedAttempt =
  | { readonly ok: true; readonly attempt: EpisodeAttempt }
  | { readonly ok: false; readonly reason: string };

export function decodeAttempt(value: unknown): DecodedAttempt {
  if (typeof value !== 'object' || value === null) return { ok: false, reason: 'not an object' };
  const parsed = episodeAttempt.safeParse(translate(value, camelOf, fromFileCase));
  return parsed.success
    ? { ok: true, attempt: parsed.data }
    : { ok: false, reason: firstIssue(parsed.error) };
}

function translate(
  value: object,
  names: ReadonlyMap<string, string>,
  deep: (schema: z.ZodType, value: unknown) => unknown,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) result[names.get(key) ?? key] = member;
  for (const camel of nested) {
    const key = names === camelOf ? camel : (snakeOf.get(camel) ?? camel);
    const member = result[key];
    const schema = shape[camel];
    if (schema && typeof member === 'object' && member !== null) result[key] = deep(schema, member);
  }
  return result;
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue ? `${issue.path.join('.')}: ${issue.message}` : 'unknown form';
}
