import { describe, expect, it } from 'vitest';
import { StudioError } from '../base/errors.ts';
import { evalConfig } from '../contract/eval-config.ts';
import { graphDefinition, type Diagnostic, type GraphDefinition } from '../contract/graph.ts';
import {
  nodesetManifest,
  nodesetSummary,
  type NodesetManifest,
  type NodesetSummary,
} from '../contract/nodeset.ts';
import { chooseEnvNodeset } from './environment.ts';
import { requiredNodesets } from '../graph/graph-tools.ts';
import { replicaBytes, suggestedWorkers } from './introspect.ts';
import { refuseChangedPlan, refuseUnresumable, resumeDifferences } from './resume-check.ts';
import { refuseInvalidGraph } from './start-check.ts';
import { planOf } from './testing/fake-journal.ts';

const graphOf = (types: readonly string[], more: object = {}): GraphDefinition =>
  graphDefinition.parse({
    nodes: types.map((type, index) => ({ id: `n${index}`, type })),
    edges: [],
    ...more,
  });
const summaryOf = (name: string, more: object = {}): NodesetSummary =>
  nodesetSummary.parse({
    name,
    source: '',
    origin: 'workspace',
    language: 'typescript',
    parallelism: 'replicated',
    state: 'found',
    sourceHash: `hash-${name}`,
    ...more,
  });
const manifestOf = (name: string, more: object = {}): NodesetManifest =>
  nodesetManifest.parse({
    name,
    language: 'typescript',
    parallelism: 'replicated',
    hasEnvPanel: true,
    ...more,
  });

function refusal(act: () => unknown): StudioError {
  try {
    act();
  } catch (error) {
    if (error instanceof StudioError) return error;
  }
  throw new Error('was not refused');
}

const check = (
  graph: GraphDefinition,
  known: readonly NodesetSummary[],
  diagnostics: readonly Diagnostic[] = [],
  envNodeset?: string,
): void =>
  refuseInvalidGraph(graph, {
    graphs: { validate: () => diagnostics },
    registry: { list: () => known, manifest: (name) => manifestOf(name) },
    config: evalConfig.parse({ graph: 'g', ...(envNodeset === undefined ? {} : { envNodeset }) }),
  });

describe('refused before a start', () => {
  it('a graph whose nodeset is not there, or failed to load', () => {
    expect(refusal(() => check(graphOf(['lost__step']), [])).code).toBe('nodeset_unknown');
    const failed = summaryOf('broken', { state: 'failed', error: 'SyntaxError in line 3' });
    expect(refusal(() => check(graphOf(['broken__step']), [failed])).message).toContain(
      'SyntaxError in line 3',
    );
  });

  it('a graph with errors, naming the first with its fix', () => {
    const finding: Diagnostic = {
      severity: 'error',
      rule: 'r',
      message: 'no iterOut',
      fix: 'Add one.',
      nodePath: 'a > b',
    };
    const error = refusal(() => check(graphOf([]), [], [finding, finding]));
    expect(error.message).toBe('a > b: no iterOut (and 1 more). Add one.');
    expect(error.details).toEqual({ diagnostics: [finding, finding] });
    check(graphOf([]), [], [{ ...finding, severity: 'warning' }]);
  });

  it('a graph that is not for evaluation, and one with several environments and none named', () => {
    expect(refusal(() => check(graphOf([], { eval_graph: false }), [])).code).toBe('graph_invalid');
    const two = [summaryOf('a'), summaryOf('b')];
    expect(refusal(() => check(graphOf(['a__x', 'b__x']), two)).message).toContain(
      'several environments (a, b)',
    );
    check(graphOf(['a__x', 'b__x']), two, [], 'b');
  });
});

describe('environments and nodesets of a graph', () => {
  it('are found in composites too, each once, in order', () => {
    const inner = graphOf(['policies__random', 'minivln__step']);
    const graph = graphDefinition.parse({
      nodes: [
        { id: 'c', type: 'compositeNode', subgraph: inner },
        { id: 'e', type: 'minivln__evaluate' },
        { id: 'v', type: 'textViewer' },
      ],
    });
    expect(requiredNodesets(graph)).toEqual(['policies', 'minivln']);
  });

  it('one is taken as it is, none is allowed, an unknown one is refused', () => {
    expect(chooseEnvNodeset(undefined, ['minivln'])).toBe('minivln');
    expect(chooseEnvNodeset(undefined, [])).toBeNull();
    expect(refusal(() => chooseEnvNodeset('x', ['minivln'])).message).toContain('It has: minivln');
  });
});

describe('suggested workers', () => {
  const registry = (expectedRamMb: number | null) => ({
    manifest: (name: string) => manifestOf(name, { expectedRamMb }),
  });
  const machine = { cores: 16, memoryBytes: 17.5e9, freeMemoryBytes: () => 10e9 };

  it('leave a core free and fit into memory', () => {
    expect(suggestedWorkers(['env'], registry(100), machine)).toBe(15);
    expect(suggestedWorkers(['env'], registry(4000), machine)).toBe(4);
    expect(suggestedWorkers(['env'], registry(100_000), machine)).toBe(1);
    expect(suggestedWorkers(['env'], registry(null), { ...machine, cores: 2 })).toBe(1);
  });

  it('count what every replicated nodeset needs', () => {
    expect(replicaBytes(['a', 'b'], registry(100))).toBe(200e6);
    expect(replicaBytes(['a'], registry(null))).toBeNull();
  });
});

describe('resuming', () => {
  it('lists nodesets that changed or are gone', () => {
    const provenance = { nodesets: ['a', 'b', 'c'].map((name) => ({ name, sourceHash: `hash-${name}` })) };
    const now = [summaryOf('a'), summaryOf('b', { sourceHash: 'another hash' })];
    expect(resumeDifferences({ provenance }, now)).toEqual([
      { what: 'nodeset b', was: 'hash-b', now: 'another ' },
      { what: 'nodeset c', was: 'hash-c', now: 'not found' },
    ]);
  });

  it('is for runs that have ended before all was run, also those that could not write their end', () => {
    for (const status of ['paused', 'cancelled', 'interrupted', 'failed', 'running'] as const) {
      refuseUnresumable({ runId: 'r', status }, null);
      expect(refusal(() => refuseUnresumable({ runId: 'r', status }, 'r')).code).toBe('conflict');
    }
    for (const status of ['queued', 'completed', 'completed_with_errors'] as const) {
      expect(refusal(() => refuseUnresumable({ runId: 'r', status }, null)).code).toBe('conflict');
    }
  });

  it('is refused when the environment has lost episodes of the plan', () => {
    const space = { envName: 'e', selection: {}, label: 'val', episodeCount: 5, canChoose: true };
    refuseChangedPlan(planOf(5), space);
    refuseChangedPlan(planOf(50), { ...space, episodeCount: null });
    expect(refusal(() => refuseChangedPlan(planOf(6), space)).code).toBe('episode_unknown');
  });
});
