// The one translation between TypeScript's camelCase and the snake_case of files and Python. It walks a schema:
// keys of objects are translated, keys of records (metrics, selectors, configs) are data and stay.
import { z } from 'zod';

export const toSnake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const toCamel = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase());

type Rename = (name: string) => string;

/** A value of `schema` with object keys in snake_case, for files and Python. */
export function toFileCase(schema: z.ZodType, value: unknown): unknown {
  return walk(schema, value, toSnake);
}

/** The reverse; unknown keys of loose objects are translated too. Parse the result with the schema. */
export function fromFileCase(schema: z.ZodType, value: unknown): unknown {
  return walk(schema, value, toCamel);
}

function walk(schema: z.ZodType, value: unknown, rename: Rename): unknown {
  if (value === null || typeof value !== 'object') return value;
  const bare = unwrap(schema);
  if (bare instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => walk(bare.element as z.ZodType, item, rename));
  }
  if (bare instanceof z.ZodObject && !Array.isArray(value)) return walkObject(bare, value, rename);
  if (bare instanceof z.ZodRecord) {
    const inner = bare.valueType as z.ZodType;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, walk(inner, member, rename)]),
    );
  }
  if (bare instanceof z.ZodUnion) {
    const option = bare.options.find((candidate) => accepts(candidate as z.ZodType, value, rename));
    return option ? walk(option as z.ZodType, value, rename) : value;
  }
  return value;
}

function walkObject(schema: z.ZodObject, value: object, rename: Rename): unknown {
  const shape = schema.shape as Record<string, z.ZodType>;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const field = shape[key] ?? shape[rename(key)];
      return [rename(key), field ? walk(field, member, rename) : member];
    }),
  );
}

function accepts(schema: z.ZodType, value: object, rename: Rename): boolean {
  const bare = unwrap(schema);
  if (Array.isArray(value)) return bare instanceof z.ZodArray;
  if (!(bare instanceof z.ZodObject)) return bare instanceof z.ZodRecord;
  const keys = Object.keys(bare.shape);
  return Object.keys(value).every((key) => keys.includes(key) || keys.includes(rename(key)));
}

function unwrap(schema: z.ZodType): z.ZodType {
  let bare = schema;
  while (
    bare instanceof z.ZodOptional ||
    bare instanceof z.ZodNullable ||
    bare instanceof z.ZodDefault ||
    bare instanceof z.ZodPrefault ||
    bare instanceof z.ZodReadonly
  ) {
    bare = bare.unwrap() as z.ZodType;
  }
  return bare;
}
