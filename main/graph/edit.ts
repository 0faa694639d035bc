// Saving without loss: the original text is written again with only the changed values replaced, so that an unedited
// graph is saved byte for byte and every untouched number keeps its spelling, also when nodes come, go or move.
import { isDeepStrictEqual } from 'node:util';
import { parseTree, type Node } from 'jsonc-parser';
import type { GraphDefinition } from '../contract/graph.ts';
import { parseAsWritten, parseGraph } from './definition.ts';
import { isRecord } from './pivots.ts';

/** The original text with the edited definition in it. Throws what `parseGraph` throws for the original. */
export function saveGraph(originalText: string, edited: GraphDefinition): string {
  if (isDeepStrictEqual(parseGraph(originalText), edited)) return originalText;
  const mark = originalText.startsWith('\ufeff') ? '\ufeff' : '';
  const text = originalText.slice(mark.length);
  const root = parseTree(text);
  if (!root) return newGraphText(edited);
  const style = { text, unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ', newLine: newLineOf(text) };
  const body = rewritten(style, { node: root, before: parseAsWritten(originalText), after: edited });
  return mark + text.slice(0, root.offset) + body + text.slice(root.offset + root.length);
}

/** The text of a graph that has no file yet. */
export function newGraphText(definition: GraphDefinition): string {
  return `${JSON.stringify(definition, null, 2)}\n`;
}

interface Style {
  readonly text: string;
  /** One level of indentation. */
  readonly unit: string;
  /** Empty when the text is one line. */
  readonly newLine: string;
}

function newLineOf(text: string): string {
  if (text.includes('\r\n')) return '\r\n';
  return text.trim().includes('\n') ? '\n' : '';
}

/** A value of the text, what it meant (defaults filled in), and what it shall mean. */
interface Change {
  readonly node: Node;
  readonly before: unknown;
  readonly after: unknown;
}

/** One member of an object or list, as it is written between two commas. */
interface Item {
  readonly leading: string;
  readonly content: string;
  readonly trailing: string;
}

function rewritten(style: Style, change: Change): string {
  const { node, before, after } = change;
  if (isDeepStrictEqual(before, after)) return style.text.slice(node.offset, node.offset + node.length);
  if (node.type === 'object' && isRecord(before) && isRecord(after)) {
    return assemble(style, node, objectItems(style, node, before, after));
  }
  if (node.type === 'array' && Array.isArray(before) && Array.isArray(after)) {
    return assemble(style, node, listItems(style, node, before, after));
  }
  return fresh(style, after, indentAt(style, node.offset));
}

type ValueMap = Readonly<Record<string, unknown>>;

function objectItems(
  style: Style,
  node: Node,
  before: ValueMap,
  after: ValueMap,
): readonly (Item | string)[] {
  const properties = node.children ?? [];
  const lastOf = new Map(properties.map((property) => [keyOf(property), property]));
  const kept = properties.flatMap((property, index) => {
    const key = keyOf(property);
    const [name, value] = property.children ?? [];
    const next = Object.hasOwn(after, key) ? after[key] : undefined;
    if (next === undefined || !name || !value) return [];
    const isShadowed = lastOf.get(key) !== property;
    const content = isShadowed
      ? style.text.slice(property.offset, property.offset + property.length)
      : style.text.slice(property.offset, value.offset) +
        rewritten(style, { node: value, before: before[key], after: next });
    return [{ ...spacing(style, node, index), content }];
  });
  const added = Object.entries(after)
    .filter(
      ([key, value]) => value !== undefined && !lastOf.has(key) && !isDeepStrictEqual(before[key], value),
    )
    .map(
      ([key, value]) =>
        `${JSON.stringify(key)}:${style.newLine && ' '}${fresh(style, value, memberIndent(style, node))}`,
    );
  return [...kept, ...added];
}

/** Members are matched by id where all have one, else by position. */
function listItems(
  style: Style,
  node: Node,
  before: readonly unknown[],
  after: readonly unknown[],
): readonly (Item | string)[] {
  const oldIds = idsOf(before);
  const newIds = idsOf(after);
  const indexOf = oldIds && newIds ? new Map(oldIds.map((id, index) => [id, index])) : undefined;
  return after.map((value, position) => {
    const index = indexOf ? indexOf.get(newIds?.[position] ?? '') : position;
    const member = index === undefined ? undefined : node.children?.[index];
    if (index === undefined || !member) return fresh(style, value, memberIndent(style, node));
    return {
      ...spacing(style, node, index),
      content: rewritten(style, { node: member, before: before[index], after: value }),
    };
  });
}

/** The ids of a list whose members all have different ones. */
function idsOf(list: readonly unknown[]): readonly string[] | undefined {
  const ids = list.map((member) =>
    isRecord(member) && typeof member.id === 'string' ? member.id : undefined,
  );
  const known = ids.filter((id) => id !== undefined);
  return known.length === list.length && new Set(known).size === known.length ? known : undefined;
}

/** Puts members together again; new ones (plain text) are spaced like their neighbours. */
function assemble(style: Style, node: Node, items: readonly (Item | string)[]): string {
  const open = style.text.charAt(node.offset);
  const close = style.text.charAt(node.offset + node.length - 1);
  if (items.length === 0) return open + close;
  const children = node.children ?? [];
  const first = children[0];
  const last = children.at(-1);
  const leading = first
    ? style.text.slice(node.offset + 1, first.offset)
    : style.newLine && style.newLine + memberIndent(style, node);
  const between = children.length > 1 ? spacing(style, node, 1).leading : leading || (style.newLine && ' ');
  const ending = last
    ? style.text.slice(last.offset + last.length, node.offset + node.length - 1)
    : style.newLine && style.newLine + indentAt(style, node.offset);
  const written = items.map((item, position) => {
    const isFirst = position === 0;
    if (typeof item === 'string') return (isFirst ? leading : between) + item;
    const { content, trailing } = item;
    const own = item.leading === leading && !isFirst ? between : item.leading;
    return (isFirst ? leading : own) + content + (position === items.length - 1 ? '' : trailing);
  });
  return open + written.join(',') + ending + close;
}

/** The white space around a member: from the comma before it, and up to the comma after it. */
function spacing(style: Style, node: Node, index: number): Omit<Item, 'content'> {
  const children = node.children ?? [];
  const child = children[index];
  const previous = children[index - 1];
  const next = children[index + 1];
  if (!child) return { leading: '', trailing: '' };
  const start = previous ? style.text.indexOf(',', previous.offset + previous.length) + 1 : node.offset + 1;
  const end = child.offset + child.length;
  return {
    leading: style.text.slice(start, child.offset),
    trailing: next ? style.text.slice(end, style.text.indexOf(',', end)) : '',
  };
}

function fresh(style: Style, value: unknown, indent: string): string {
  if (style.newLine === '') return JSON.stringify(value);
  return JSON.stringify(value, null, style.unit).replaceAll('\n', style.newLine + indent);
}

/** Indentation of the members of an object or list: that of its first one, where that begins a line. */
function memberIndent(style: Style, node: Node): string {
  const first = node.children?.[0];
  const leading = first ? style.text.slice(node.offset + 1, first.offset) : '';
  const lineStart = leading.lastIndexOf('\n');
  if (lineStart >= 0) return leading.slice(lineStart + 1);
  return indentAt(style, node.offset) + (first ? '' : style.unit);
}

function indentAt(style: Style, offset: number): string {
  const lineStart = style.text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(style.text.slice(lineStart, offset))?.[0] ?? '';
}

function keyOf(property: Node): string {
  const name: unknown = property.children?.[0]?.value;
  return typeof name === 'string' ? name : '';
}
