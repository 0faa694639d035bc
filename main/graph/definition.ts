// Graph text to a typed definition. Known fields are typed, unknown ones kept, older spellings translated. Opening a
// graph never runs anything, and whatever is wrong with it is one typed error of a single line.
import type { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import { graphDefinition, type GraphDefinition } from '../contract/graph.ts';
import { checkTextLimits, checkValueLimits, shape, type JsonPath } from './limits.ts';
import { upgradeGraph } from './upgrade.ts';

/** Throws `graph_too_large` or `invalid_input` with path, expected and got. */
export function parseGraph(text: string): GraphDefinition {
  return upgradeGraph(parseAsWritten(text));
}

/** As `parseGraph`, without translating older spellings. */
export function parseAsWritten(text: string): GraphDefinition {
  checkTextLimits(text);
  const value = parseJson(text);
  checkValueLimits(value);
  const parsed = graphDefinition.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new StudioError('invalid_input', describeIssue(parsed.error, value));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message.slice(0, 120) : 'unreadable text';
    throw new StudioError('invalid_input', shape([], 'JSON', detail), { cause });
  }
}

function describeIssue(error: z.ZodError, root: unknown): string {
  const issue = error.issues[0];
  if (!issue) return shape([], 'a graph', 'something else');
  const path = issue.path.filter((part) => typeof part === 'string' || typeof part === 'number');
  return shape(path, expectation(issue), describeValue(valueAt(root, path)));
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    default:
      return issue.message;
  }
}

function valueAt(root: unknown, path: JsonPath): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, part)?.value;
  }
  return value;
}

function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  return `${typeof value} ${JSON.stringify(value).slice(0, 50)}`;
}
