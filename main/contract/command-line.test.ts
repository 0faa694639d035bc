// Flags and configuration are two spellings of one thing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandLineOf, configFromFlags, evalFlags, shellLine } from './command-line.ts';
import { evalConfig, type EvalConfig } from './eval-config.ts';

/** What a parser of the command line does with the words after `eval`. */
function parseWords(words: readonly string[]): EvalConfig {
  const [graph = '', ...rest] = words;
  const flags: Record<string, string | string[] | boolean> = {};
  for (let at = 0; at < rest.length; at++) {
    const name = (rest[at] as string).slice(2);
    const flag = evalFlags.find((candidate) => candidate.name === name);
    if (!flag) throw new Error(`unknown ${name}`);
    if (!flag.placeholder) flags[name] = true;
    else if (flag.repeatable)
      flags[name] = [...((flags[name] as string[] | undefined) ?? []), rest[++at] as string];
    else flags[name] = rest[++at] as string;
  }
  return evalConfig.parse(configFromFlags(graph, flags));
}

const word = fc.stringMatching(/^[a-zA-Z0-9_.-]{1,12}$/);
const config = fc.record(
  {
    graph: word,
    envNodeset: word,
    selectors: fc.dictionary(word, word, { maxKeys: 3 }),
    episodes: fc.oneof(
      fc.constant('all' as const),
      fc.integer({ min: 1, max: 5000 }),
      fc.record({ indices: fc.uniqueArray(fc.nat(500), { minLength: 1, maxLength: 30 }) }),
      fc.record({ sample: fc.integer({ min: 1, max: 99 }), seed: fc.nat(1000) }),
      fc.record({ ids: fc.array(word, { minLength: 1, maxLength: 4 }) }),
    ),
    repeats: fc.integer({ min: 1, max: 9 }),
    seed: fc.nat(0xffff_ffff),
    workerCount: fc.integer({ min: 1, max: 256 }),
    stepBudget: fc.integer({ min: 1, max: 9999 }),
    perStepBudgetSec: fc.constantFrom(0.5, 1, 30),
    strictErrors: fc.boolean(),
    failOn: fc.constantFrom(0.1, 5),
    affinity: fc.constantFrom('none' as const, 'scene' as const),
    recording: fc.constantFrom('failures', 'none', 'all', 'sample:7'),
    retry: fc.record({
      attempts: fc.integer({ min: 1, max: 5 }),
      on: fc.constantFrom(['died' as const], ['died' as const, 'error' as const]),
    }),
    batching: fc.record({
      flushPolicy: fc.constantFrom('greedy' as const, 'rendezvous' as const),
      flushTimeoutMs: fc.constantFrom(10, 50),
    }),
    tags: fc.uniqueArray(word, { maxLength: 3 }),
    note: fc.string({ maxLength: 30 }),
  },
  { requiredKeys: ['graph'] },
);

describe('command line of a configuration', () => {
  it('gives back the same configuration, whatever it is', () => {
    fc.assert(
      fc.property(config, (input) => {
        const parsed = evalConfig.parse(input);
        expect(parseWords(commandLineOf(parsed))).toEqual(parsed);
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  it('has a flag for every field of the schema and no two alike', () => {
    const names = evalFlags.map((flag) => flag.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of [
      'workers',
      'per-step-budget',
      'record',
      'flush',
      'tag',
      'select',
      'strict-errors',
      'retry-attempts',
      'fail-on',
      'affinity',
      'note',
      'seed',
      'repeats',
    ]) {
      expect(names).toContain(name);
    }
  });

  it('leaves defaults out', () => {
    expect(commandLineOf(evalConfig.parse({ graph: 'g', selectors: { split: 'val' } }))).toEqual([
      'g',
      '--split',
      'val',
    ]);
  });

  it('names the flag that is wrong', () => {
    expect(() => configFromFlags('g', { range: '9-3' })).toThrow('--range');
    expect(() => configFromFlags('g', { episodes: 'many' })).toThrow('--episodes');
    expect(() => configFromFlags('g', { episodes: '3', ids: 'a' })).toThrow('--episodes and --ids');
    expect(() => configFromFlags('g', { workers: 'two' })).toThrow('--workers');
    expect(() => configFromFlags('g', { select: ['split'] })).toThrow('--select');
    expect(() => configFromFlags('g', { 'sample-seed': '1' })).toThrow('--sample');
  });

  it('quotes what a shell would split', () => {
    expect(shellLine(['agentcanvas', 'eval', "it's a graph", '--note', 'a b'])).toBe(
      `agentcanvas eval 'it'\\''s a graph' --note 'a b'`,
    );
  });
});
