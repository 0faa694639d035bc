// EvalConfig as command-line flags and back. Flags are read off the schema: a field without a flag, or a flag
// without a field, cannot exist. Used by the command line and by the form's "copy command".
import { z } from 'zod';
import { chatRunConfig } from './chat.ts';
import {
  batchingConfig,
  evalConfig,
  retryPolicy,
  type EvalConfig,
  type EvalConfigInput,
} from './eval-config.ts';

/** What the parser of the command line hands over: the last value, every value of a repeated flag, or presence. */
export type FlagValues = Readonly<Record<string, string | readonly string[] | boolean | undefined>>;

export interface EvalFlag {
  /** Without the dashes. */
  readonly name: string;
  /** Absent for a switch. */
  readonly placeholder?: string;
  readonly repeatable: boolean;
  readonly description: string;
  /** As it would be typed; absent where leaving the flag out says nothing more. */
  readonly defaultText?: string;
}

/** Short names where the field's own would read badly; all others are the field's name in kebab-case. */
const shortNames: Readonly<Record<string, string>> = {
  workerCount: 'workers',
  perStepBudgetSec: 'per-step-budget',
  recording: 'record',
  tags: 'tag',
  selectors: 'select',
  'batching.flushPolicy': 'flush',
  'batching.flushTimeoutMs': 'flush-timeout',
  'batching.maxBatch': 'max-batch',
  'chat.profile': 'model',
  'chat.replies': 'replies',
  'chat.repliesFrom': 'replies-from',
};

const placeholders: Readonly<Record<string, string>> = {
  record: 'failures|none|all|sample:N',
  'retry-on': 'died,timeout,error',
  tag: 'TAG',
  model: 'NAME',
  'env-nodeset': 'NAME',
  'replies-from': 'RUN|DIR',
};

const groups: Readonly<Record<string, z.ZodObject>> = {
  retry: retryPolicy,
  batching: batchingConfig,
  chat: chatRunConfig,
};

interface Leaf {
  readonly path: readonly string[];
  readonly name: string;
  readonly schema: z.ZodType;
  readonly description: string;
}

const leaves: readonly Leaf[] = Object.entries(evalConfig.shape)
  .filter(([field]) => field !== 'graph' && field !== 'episodes')
  .flatMap(([field, schema]): Leaf[] => {
    const description = schema.description ?? field;
    const group = groups[field];
    if (!group) return [{ path: [field], name: flagName(field), schema: bare(schema), description }];
    return Object.entries(group.shape).map(([member, inner]) => ({
      path: [field, member],
      name: flagName(`${field}.${member}`),
      schema: bare(inner as z.ZodType),
      description: (inner as z.ZodType).description ?? `${description}: ${member}`,
    }));
  });

/** Ways to choose episodes; at most one of the first four may be given. */
const episodeFlags: readonly EvalFlag[] = [
  {
    name: 'episodes',
    placeholder: 'all|N',
    repeatable: false,
    description: 'All episodes of the split, or the first N',
    defaultText: 'all',
  },
  {
    name: 'range',
    placeholder: 'A-B',
    repeatable: false,
    description: 'Episodes A to B, both included, counted from 0',
  },
  { name: 'ids', placeholder: 'ID,ID…', repeatable: false, description: 'Episodes by id' },
  {
    name: 'sample',
    placeholder: 'N',
    repeatable: false,
    description: 'N episodes drawn without replacement',
  },
  {
    name: 'sample-seed',
    placeholder: 'S',
    repeatable: false,
    description: 'Seed of the draw',
    defaultText: '0',
  },
];

/** `--split S` is `--select split=S`. */
const splitFlag: EvalFlag = {
  name: 'split',
  placeholder: 'S',
  repeatable: false,
  description: 'The split to evaluate on; default: the environment’s own',
};

export const evalFlags: readonly EvalFlag[] = [
  splitFlag,
  ...episodeFlags,
  ...leaves.map((leaf) => ({
    name: leaf.name,
    repeatable: leaf.schema instanceof z.ZodArray || leaf.schema instanceof z.ZodRecord,
    description: leaf.description,
    ...(leaf.schema instanceof z.ZodBoolean
      ? {}
      : { placeholder: placeholders[leaf.name] ?? placeholderOf(leaf.schema) }),
    ...defaultOf(leaf),
  })),
];

function defaultOf(leaf: Leaf): { readonly defaultText?: string } {
  const value = read(evalConfig.parse({ graph: 'any' }), leaf.path);
  const text = Array.isArray(value)
    ? value.join(',')
    : ['string', 'number'].includes(typeof value)
      ? String(value)
      : '';
  return text === '' ? {} : { defaultText: text };
}

/** The configuration the flags describe, not yet validated. Throws an Error whose message names the flag. */
export function configFromFlags(graph: string, flags: FlagValues): EvalConfigInput {
  const config: Record<string, unknown> = { graph };
  for (const leaf of leaves) {
    const given = flags[leaf.name];
    if (given === undefined || (Array.isArray(given) && given.length === 0)) continue;
    assign(config, leaf.path, parseLeaf(leaf, given));
  }
  const split = flags['split'];
  if (typeof split === 'string')
    config['selectors'] = { split, ...(config['selectors'] as object | undefined) };
  const episodes = episodesFromFlags(flags);
  if (episodes !== undefined) config['episodes'] = episodes;
  return config as EvalConfigInput;
}

/** The arguments after `agentcanvas eval` that give this configuration; defaults are left out. */
export function commandLineOf(config: EvalConfig): string[] {
  const { split, ...selectors } = config.selectors;
  const defaults = evalConfig.parse({ graph: config.graph });
  const words = [
    config.graph,
    ...(split === undefined ? [] : ['--split', split]),
    ...episodesToFlags(config.episodes),
  ];
  for (const leaf of leaves) {
    const value = leaf.name === 'select' ? selectors : read(config, leaf.path);
    if (value === undefined || JSON.stringify(value) === JSON.stringify(read(defaults, leaf.path))) continue;
    words.push(...printLeaf(leaf, value));
  }
  return words;
}

/** One line for a POSIX shell: words with anything unusual in them are single-quoted. */
export function shellLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

function episodesFromFlags(flags: FlagValues): EvalConfigInput['episodes'] {
  const given = ['episodes', 'range', 'ids', 'sample'].filter((name) => flags[name] !== undefined);
  if (given.length > 1)
    throw new Error(`Give one of ${given.map((name) => `--${name}`).join(' and ')}, not both.`);
  const text = String(flags[given[0] ?? ''] ?? '');
  switch (given[0]) {
    case 'episodes':
      return text === 'all' ? 'all' : count('episodes', text);
    case 'range':
      return { indices: rangeOf(text) };
    case 'ids':
      return { ids: text.split(',').filter((id) => id !== '') };
    case 'sample':
      return {
        sample: count('sample', text),
        seed: flags['sample-seed'] === undefined ? 0 : count('sample-seed', String(flags['sample-seed'])),
      };
    default:
      if (flags['sample-seed'] !== undefined) throw new Error('--sample-seed goes with --sample.');
      return undefined;
  }
}

function episodesToFlags(episodes: EvalConfig['episodes']): string[] {
  if (episodes === 'all') return [];
  if (typeof episodes === 'number') return ['--episodes', String(episodes)];
  if ('ids' in episodes) return ['--ids', episodes.ids.join(',')];
  if ('sample' in episodes)
    return ['--sample', String(episodes.sample), '--sample-seed', String(episodes.seed)];
  return ['--range', rangeText(episodes.indices)];
}

/** `3`, `0-9`, or several of them joined by commas; every index once, in the order given. */
function rangeOf(text: string): number[] {
  const indices = text.split(',').flatMap((part) => {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    const first = Number(match?.[1]);
    const last = Number(match?.[2] ?? match?.[1]);
    if (!match || last < first)
      throw new Error(`--range takes A-B with A <= B (or a list of them), not "${text}".`);
    if (last - first >= 1_000_000)
      throw new Error('--range covers more than a million episodes; use --episodes.');
    return Array.from({ length: last - first + 1 }, (_unused, offset) => first + offset);
  });
  return [...new Set(indices)];
}

function rangeText(indices: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < indices.length;) {
    let end = at;
    while (indices[end + 1] === (indices[end] as number) + 1) end++;
    parts.push(end === at ? `${indices[at]}` : `${indices[at]}-${indices[end]}`);
    at = end + 1;
  }
  return parts.join(',');
}

function parseLeaf(leaf: Leaf, given: string | readonly string[] | boolean): unknown {
  const { schema, name } = leaf;
  if (schema instanceof z.ZodBoolean) return given === true || given === 'true';
  if (schema instanceof z.ZodArray)
    return (Array.isArray(given) ? given : [given]).flatMap((part: string) => part.split(','));
  if (schema instanceof z.ZodRecord)
    return Object.fromEntries(
      (Array.isArray(given) ? given : [given]).map((pair: string) => pairOf(name, pair)),
    );
  if (schema instanceof z.ZodNumber) return numberOf(name, String(given));
  return String(given);
}

function printLeaf(leaf: Leaf, value: unknown): string[] {
  const flag = `--${leaf.name}`;
  if (value === true) return [flag];
  if (Array.isArray(value)) return value.length === 0 ? [] : [flag, value.join(',')];
  if (value !== null && typeof value === 'object')
    return Object.entries(value).flatMap(([key, member]) => [flag, `${key}=${String(member)}`]);
  return [flag, String(value)];
}

function pairOf(name: string, pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new Error(`--${name} takes name=value, not "${pair}".`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || Number.isNaN(value)) throw new Error(`--${name} takes a number, not "${text}".`);
  return value;
}

function count(name: string, text: string): number {
  if (!/^\d+$/.test(text))
    throw new Error(
      `--${name} takes ${name === 'episodes' ? '"all" or a whole number' : 'a whole number'}, not "${text}".`,
    );
  return Number(text);
}

/** Of a field of the configuration, or of a member as in `chat.profile`. */
export function flagName(field: string): string {
  return (
    shortNames[field] ?? field.replace('.', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  );
}

function placeholderOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodEnum) return schema.options.join('|');
  if (schema instanceof z.ZodNumber) return 'N';
  if (schema instanceof z.ZodRecord) return 'name=value';
  return 'TEXT';
}

function bare(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? bare(schema.unwrap() as z.ZodType)
    : schema;
}

function read(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}

function assign(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first = '', second] = path;
  if (second === undefined) target[first] = value;
  else target[first] = { ...(target[first] as object | undefined), [second]: value };
}
