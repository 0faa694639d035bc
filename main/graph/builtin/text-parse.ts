// Takes a keyword, a regular expression's capture or a JSON field out of text, such as an action out of a reply.
import { StudioError } from '../../base/errors.ts';
import { isRecord } from '../pivots.ts';
import type { NodeHandler, PortValues } from '../ports.ts';
import { field, manifest, outputPort, requiredPort } from './manifest.ts';

export const textParseManifest = manifest({
  nodeType: 'textParse',
  displayName: 'Text parse',
  description: 'A keyword, a capture or a JSON field out of text',
  kind: 'processing',
  inputPorts: [requiredPort('text', 'TEXT')],
  outputPorts: [
    outputPort('value', 'TEXT', 'What was found'),
    outputPort('index', 'DISCRETE_ACTION', 'Position of the keyword, else -1'),
    outputPort('rest', 'TEXT', 'The text without it'),
  ],
  defaultConfig: {
    mode: 'choice',
    choices: 'STOP,FORWARD,LEFT,RIGHT',
    pattern: '',
    json_key: '',
    scan: 'last_line_first',
    default: '',
  },
  configFields: [
    field('select', 'mode', { options: ['choice', 'regex', 'json_field'] }),
    field('text', 'choices', { label: 'Choices, separated by commas' }),
    field('text', 'pattern', { label: 'Regular expression' }),
    field('text', 'json_key', { label: 'JSON field, with dots' }),
    field('select', 'scan', { options: ['last_line_first', 'full_text'] }),
    field('text', 'default', { label: 'Value when nothing is found' }),
  ],
});

interface Found {
  readonly value: string;
  readonly index: number;
  readonly rest: string;
}

export function bindTextParse(config: PortValues): NodeHandler {
  const mode = textOf(config.mode).trim() || 'choice';
  const parse = parserOf(mode, config);
  return {
    forward(inputs, context) {
      const found = parse(textOf(inputs.text));
      context.log('mode', mode);
      context.log('value', found.value);
      context.log('index', found.index);
      return { ...found };
    },
  };
}

function parserOf(mode: string, config: PortValues): (text: string) => Found {
  const fallback = textOf(config.default);
  switch (mode) {
    case 'choice': {
      const choices = textOf(config.choices)
        .split(',')
        .map((choice) => choice.trim())
        .filter((choice) => choice !== '');
      const lastLineFirst = (textOf(config.scan).trim() || 'last_line_first') === 'last_line_first';
      return (text) => findChoice({ text, choices, lastLineFirst, fallback });
    }
    case 'regex': {
      const pattern = compilePattern(textOf(config.pattern));
      return (text) => findPattern(text, pattern, fallback);
    }
    case 'json_field': {
      const path = textOf(config.json_key).split('.');
      return (text) => ({ value: findField(text, path) ?? fallback, index: -1, rest: text });
    }
    default:
      return (text) => ({ value: '', index: -1, rest: text });
  }
}

interface ChoiceSearch {
  readonly text: string;
  readonly choices: readonly string[];
  readonly lastLineFirst: boolean;
  readonly fallback: string;
}

function findChoice({ text, choices, lastLineFirst, fallback }: ChoiceSearch): Found {
  const lastLine = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .findLast((line) => line !== '');
  const regions = lastLineFirst && lastLine !== undefined ? [lastLine, text] : [text];
  let index = -1;
  for (const region of regions) {
    const upper = region.toUpperCase();
    index = choices.findIndex((choice) => upper.includes(choice.toUpperCase()));
    if (index >= 0) break;
  }
  const value = index >= 0 ? (choices[index] ?? '') : fallback;
  if (index < 0 && fallback !== '') index = choices.indexOf(fallback);
  const position = value === '' ? -1 : text.toUpperCase().indexOf(value.toUpperCase());
  const rest = position < 0 ? text : (text.slice(0, position) + text.slice(position + value.length)).trim();
  return { value, index, rest };
}

/** Named groups may be written the Python way, `(?P<name>…)`. */
function compilePattern(pattern: string): RegExp | undefined {
  if (pattern === '') return undefined;
  try {
    return new RegExp(pattern.replaceAll('(?P<', '(?<'), 'is');
  } catch (cause) {
    throw new StudioError(
      'graph_invalid',
      `textParse: '${pattern}' is not a regular expression; correct config.pattern`,
      { cause },
    );
  }
}

function findPattern(text: string, pattern: RegExp | undefined, fallback: string): Found {
  const match = pattern?.exec(text);
  if (!match) return { value: fallback, index: -1, rest: text };
  const rest = text.slice(0, match.index) + text.slice(match.index + match[0].length);
  return { value: match.length > 1 ? (match[1] ?? '') : match[0], index: -1, rest: rest.trim() };
}

function findField(text: string, path: readonly string[]): string | undefined {
  let value = parseObject(text) ?? parseObject(/\{.*\}/s.exec(text)?.[0] ?? '');
  for (const key of path) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  if (value === undefined || value === null) return undefined;
  return textOf(value);
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Text as it is, other values as JSON, nothing as empty text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? '');
}
