// Damaged graph files through everything that reads one, and damaged requests through every transport: each answer is a
// value or a typed error with a short message, soon, and no handler is reached by a payload that does not fit.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createRandom, type Random } from '../../main/base/random.ts';
import { errorCodes } from '../../main/base/error-codes.ts';
import { StudioError, toStudioError } from '../../main/base/errors.ts';
import { errorInfo } from '../../main/contract/error.ts';
import { nodeManifest } from '../../main/contract/nodeset.ts';
import { requests } from '../../main/contract/requests.ts';
import { builtinManifestSource, createBuiltinCatalog } from '../../main/graph/builtin/catalog.ts';
import { compileGraph } from '../../main/graph/compile.ts';
import { parseAsWritten, parseGraph } from '../../main/graph/definition.ts';
import { newGraphText, saveGraph } from '../../main/graph/edit.ts';
import { flattenGraph } from '../../main/graph/flatten.ts';
import { executableFields, requiredNodesets } from '../../main/graph/graph-tools.ts';
import type { NodeCatalog } from '../../main/graph/ports.ts';
import { validateGraph } from '../../main/graph/validate/validate.ts';
import { mutateText, mutateValue, nastyValue } from './mutate.ts';
import { openTransports, type Transports } from './transports.ts';
import { atScale, Faults, largest, type RowOptions, type RowResult } from './row.ts';

const resources = path.resolve(import.meta.dirname, '../../resources/graphs');
const soonMs = 2000;

export async function run({ seed, scale, signal, log }: RowOptions): Promise<RowResult> {
  const count = atScale(scale, 10_000, 600);
  const faults = new Faults();
  const graphs = fuzzGraphs(createRandom(seed), { count, faults });
  log(`${count} graph files`);
  await using transports = await openTransports();
  const counts = await fuzzRequests(transports, { random: createRandom(seed + 1), count, faults, signal });
  faults.check(
    transports.reached.invalid === 0,
    () => `${transports.reached.invalid} payloads reached a handler`,
  );
  return {
    name: 'fuzz',
    figures: {
      'graph files': count,
      'of them refused': graphs.refused,
      'of them compiled': graphs.compiled,
      'slowest graph file ms': Math.round(largest(graphs.ms)),
      'requests over each of 4 transports': count,
      'of them refused with a typed error': counts.refused,
      'reached a handler, all valid': transports.reached.total,
      'invalid payloads at a handler': transports.reached.invalid,
      'crashes, untyped or late answers': faults.count,
    },
    ok: faults.count === 0,
    details: faults.stories,
  };
}

function fuzzGraphs(
  random: Random,
  { count, faults }: { count: number; faults: Faults },
): { refused: number; compiled: number; ms: number[] } {
  const corpus = readdirSync(resources)
    .filter((name) => name.endsWith('.json'))
    .map((name) => readFileSync(path.join(resources, name), 'utf8'));
  const found = { refused: 0, compiled: 0, ms: [] as number[] };
  for (let index = 0; index < count; index++) {
    const original = corpus[random.integer(corpus.length)] ?? '{}';
    const text =
      random.integer(4) === 0
        ? mutateText(original, random)
        : JSON.stringify(mutateValue(JSON.parse(original), random, 1 + random.integer(2)));
    const startMs = performance.now();
    const errors = readGraph(text, original);
    const tookMs = performance.now() - startMs;
    found.ms.push(tookMs);
    if (errors.length === 0) found.compiled++;
    if (errors.some(({ stage }) => stage === 'parse')) found.refused++;
    for (const { stage, error } of errors)
      faults.check(
        isTyped(error),
        () =>
          `graph ${index}, ${stage}: ${String(error instanceof Error ? error.stack : error).slice(0, 500)}`,
      );
    faults.check(tookMs < soonMs, () => `graph ${index} took ${Math.round(tookMs)} ms`);
  }
  return found;
}

const builtins = createBuiltinCatalog();
/** Every type that no built-in has is a node with any ports, so that whatever parses is compiled too. */
const catalog: NodeCatalog = {
  lookup: (nodeType) =>
    builtins.lookup(nodeType) ?? {
      manifest: nodeManifest.parse({ nodeType, displayName: nodeType }),
      bind: () => ({ forward: () => ({}) }),
    },
};

/** Everything that reads a graph before it runs. */
function readGraph(text: string, original: string): { readonly stage: string; readonly error: unknown }[] {
  const errors: { stage: string; error: unknown }[] = [];
  const attempt = <Value>(stage: string, work: () => Value): Value | undefined => {
    try {
      return work();
    } catch (error) {
      errors.push({ stage, error });
      return undefined;
    }
  };
  const definition = attempt('parse', () => parseGraph(text));
  if (!definition) return errors;
  attempt('tools', () => [requiredNodesets(definition), executableFields(definition)]);
  const diagnostics = attempt('validate', () => validateGraph(definition, builtinManifestSource));
  for (const diagnostic of diagnostics ?? [])
    if (diagnostic.message.length >= 300) errors.push({ stage: 'validate', error: 'a long diagnostic' });
  attempt('flatten', () => flattenGraph(definition));
  attempt('compile', () => compileGraph(definition, catalog));
  attempt('save', () => parseAsWritten(saveGraph(original, definition)));
  attempt('new', () => parseAsWritten(newGraphText(definition)));
  return errors;
}

function isTyped(error: unknown): boolean {
  return (
    error instanceof StudioError &&
    error.code !== 'internal' &&
    error.message.length < 300 &&
    error.message !== ''
  );
}

interface FuzzContext {
  readonly random: Random;
  readonly count: number;
  readonly faults: Faults;
  readonly signal: AbortSignal;
}

async function fuzzRequests(
  { asks }: Transports,
  { random, count, faults, signal }: FuzzContext,
): Promise<{ refused: number }> {
  const names = [...Object.keys(requests), 'no.such', '__proto__', 'constructor', '', 'runs.start\u0000'];
  let refused = 0;
  for (let index = 0; index < count; index++) {
    signal.throwIfAborted();
    const name = names[random.integer(names.length)] ?? '';
    const input = mutateValue(exampleOf(random), random, random.integer(4));
    for (const [transport, ask] of asks) {
      const reply = await answer(ask, { name, input });
      const problem = problemOf(reply);
      if (problem !== null)
        faults.add(`${transport} ${name} ${JSON.stringify(input)?.slice(0, 200)}: ${problem}`);
      else refused++;
    }
  }
  return { refused };
}

const examples: readonly unknown[] = [
  {},
  { runId: '20260101T000000.000Z-aaaaaa' },
  {
    runId: '20260101T000000.000Z-aaaaaa',
    offset: 0,
    limit: 10,
    sort: [{ column: 'steps' }],
    filter: 'a == 1',
  },
  { config: { graph: 'g', selectors: { split: 'a' }, episodes: { sample: 3, seed: 1 }, workerCount: 2 } },
  { ref: 'library:minivln_expert', text: '{"name":"a","nodes":[],"edges":[]}' },
  { name: 'n', interpreter: '/usr/bin/python3' },
  { runIds: ['a', 'b'], metric: 'success', format: 'csv' },
  { baselineRun: 'a', otherRun: 'b', metric: 'success', by: 'scene' },
  { nodeset: 'n', name: 'f', value: 1 },
  { settings: { deadlines: { stepSec: 1 }, attachments: [{ name: 'a', url: 'http://127.0.0.1:9' }] } },
  { definition: { name: 'a', nodes: [{ id: 'a', type: 'b' }], edges: [] }, graph: { name: 'a', ref: null } },
  { folder: '/tmp' },
];

function exampleOf(random: Random): unknown {
  return random.integer(8) === 0 ? nastyValue(random) : examples[random.integer(examples.length)];
}

async function answer(
  ask: (name: string, input: unknown) => Promise<unknown>,
  { name, input }: { name: string; input: unknown },
): Promise<unknown> {
  const late = Promise.withResolvers<unknown>();
  const timer = setTimeout(() => late.resolve('no answer'), soonMs);
  try {
    return await Promise.race([ask(name, input), late.promise]);
  } catch (error) {
    return toStudioError(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Null for a typed refusal. No handler succeeds here, so nothing else is right. */
function problemOf(reply: unknown): string | null {
  if (reply === 'no answer') return reply;
  if (
    typeof reply !== 'object' ||
    reply === null ||
    !('ok' in reply) ||
    reply.ok !== false ||
    !('error' in reply)
  )
    return `not a reply: ${String(reply)}`;
  const parsed = errorInfo.safeParse(reply.error);
  if (!parsed.success) return 'not a typed error';
  const { code, message } = parsed.data;
  if (!Object.hasOwn(errorCodes, code) || code === 'internal') return `${code}: ${message}`;
  return message.length < 300 ? null : 'a long message';
}
