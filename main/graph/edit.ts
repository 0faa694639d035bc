// Saving without loss: what was changed is edited into the original text, so that an unedited graph is saved byte for
// byte and every untouched number keeps its spelling.
import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  findNodeAtLocation,
  modify,
  parseTree,
  type FormattingOptions,
  type Node,
} from 'jsonc-parser';
import type { GraphDefinition } from '../contract/graph.ts';
import { parseAsWritten, parseGraph } from './definition.ts';
import { differences, type StructuralEdit, type ValueEdit } from './differences.ts';

/** The original text with the edited definition in it. Throws what `parseGraph` throws for the original. */
export function saveGraph(originalText: string, edited: GraphDefinition): string {
  if (isDeepStrictEqual(parseGraph(originalText), edited)) return originalText;
  const { values, structure } = differences(parseAsWritten(originalText), edited);
  const withValues = applyValues(originalText, values);
  return structure.reduce((text, edit) => applyStructure(text, edit), withValues);
}

/** The text of a graph that has no file yet. */
export function newGraphText(definition: GraphDefinition): string {
  return `${JSON.stringify(definition, null, 2)}\n`;
}

/** Replaces existing values, all found in one reading of the text. */
function applyValues(text: string, edits: readonly ValueEdit[]): string {
  if (edits.length === 0) return text;
  const offset = text.startsWith('\ufeff') ? 1 : 0;
  const body = text.slice(offset);
  const root = parseTree(body);
  const missing: ValueEdit[] = [];
  const replacements = edits.flatMap(({ path, value }) => {
    const node: Node | undefined = root && findNodeAtLocation(root, [...path]);
    if (!node) missing.push({ path, value });
    return node
      ? [{ offset: node.offset, length: node.length, content: written(body, node.offset, value) }]
      : [];
  });
  const replaced = text.slice(0, offset) + applyEdits(body, replacements);
  return missing.reduce(
    (result, { path, value }) => applyStructure(result, { kind: 'set', path, value }),
    replaced,
  );
}

function applyStructure(text: string, edit: StructuralEdit): string {
  const offset = text.startsWith('\ufeff') ? 1 : 0;
  const body = text.slice(offset);
  const value = edit.kind === 'remove' ? undefined : edit.value;
  const edits = modify(body, [...edit.path], value, {
    formattingOptions: formattingOf(body),
    isArrayInsertion: edit.kind === 'insert',
  });
  return text.slice(0, offset) + applyEdits(body, edits);
}

/** A value as it is written at this place, indented like the line it begins on. */
function written(text: string, offset: number, value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const { insertSpaces, tabSize, eol } = formattingOf(text);
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? '';
  return JSON.stringify(value, null, insertSpaces === false ? '\t' : (tabSize ?? 2)).replaceAll(
    '\n',
    (eol ?? '\n') + indent,
  );
}

function formattingOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const insertSpaces = !indent.startsWith('\t');
  return {
    insertSpaces,
    tabSize: insertSpaces ? indent.length : 1,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}
