import { describe, expect, it } from 'vitest';
import { defineNode, defineNodeset, type NodeSpec } from './author/agentcanvas.ts';
import { buildManifest, nodesetOf, nodesetSpecFrom } from './manifest.ts';
import { metricOf } from './metric-table.ts';
import {
  evalMetadataFromWire,
  evalMetadataToWire,
  manifestFromWire,
  manifestToWire,
  normaliseEvalMetadata,
  panelStateFromWire,
} from './wire-form.ts';

const forward = (): Record<string, unknown> => ({});

function manifestOf(nodes: readonly NodeSpec[]): ReturnType<typeof buildManifest> {
  const spec = defineNodeset({
    name: 'toys',
    parallelism: 'replicated',
    deadlinesSec: { firstCall: 5 },
    create: () => ({ nodes }),
  });
  return buildManifest(spec, spec.create());
}

describe('the manifest of a TypeScript nodeset', () => {
  it('names node types after nodeset and tool and fills in defaults', () => {
    const manifest = manifestOf([
      defineNode({
        name: 'look',
        inputs: [{ name: 'image', wireType: 'LIST[IMAGE]', optional: true }],
        forward,
      }),
    ]);
    expect(manifest.nodes[0]).toMatchObject({
      nodeType: 'toys__look',
      displayName: 'look',
      batched: false,
      batchDim: null,
    });
    expect(manifest.nodes[0]?.inputPorts).toEqual([
      { name: 'image', wireType: 'LIST[IMAGE]', description: '', optional: true },
    ]);
    expect(manifest).toMatchObject({
      language: 'typescript',
      parallelism: 'replicated',
      defaultPerStepBudgetSec: 30,
      startupTimeoutSec: 1800,
      hasEnvPanel: false,
    });
    expect(nodesetOf('toys__look')).toBe('toys');
    expect(nodesetOf('iterIn')).toBeUndefined();
  });

  it('survives the wire with config keys, deadlines and defaults untouched', () => {
    const manifest = manifestOf([
      defineNode({
        name: 'act',
        defaultConfig: { camelKey: 1, snake_key: { innerKey: 2 } },
        configFields: [{ kind: 'number', name: 'camelKey', min: 0 }],
        forward,
      }),
    ]);
    const wire = manifestToWire(manifest);
    expect(wire).toMatchObject({
      has_env_panel: false,
      startup_timeout_sec: 1800,
      deadlines_sec: { firstCall: 5 },
    });
    expect(JSON.parse(JSON.stringify(wire))).toMatchObject({
      nodes: [{ node_type: 'toys__act', default_config: { camelKey: 1, snake_key: { innerKey: 2 } } }],
    });
    expect(manifestFromWire(JSON.parse(JSON.stringify(wire)), 'toys')).toEqual(manifest);
  });

  it.each([
    [
      'a batchDim that is no input port',
      [
        defineNode({
          name: 'p',
          batched: true,
          batchDim: 'img',
          inputs: [{ name: 'image' }],
          forward,
          forwardBatch: (samples) => samples,
        }),
      ],
      /batchDim is "img"; it must name one of its input ports \(image\)/,
    ],
    [
      'batched without forwardBatch',
      [defineNode({ name: 'p', batched: true, batchDim: 'image', inputs: [{ name: 'image' }], forward })],
      /has no forwardBatch/,
    ],
    [
      'two nodes of one name',
      [defineNode({ name: 'p', forward }), defineNode({ name: 'p', forward })],
      /two nodes are named "p"; rename one/,
    ],
    [
      'two ports of one name',
      [defineNode({ name: 'p', inputs: [{ name: 'a' }, { name: 'a' }], forward })],
      /two input ports named "a"/,
    ],
    [
      'an unknown wire type',
      [defineNode({ name: 'p', outputs: [{ name: 'a', wireType: 'PICTURE' }], forward })],
      /wire type "PICTURE" is unknown; use one of IMAGE, DEPTH/,
    ],
    [
      'a list output',
      [defineNode({ name: 'p', outputs: [{ name: 'a', wireType: 'LIST[IMAGE]' }], forward })],
      /LIST\[\.\.\.\] is for inputs only; give the output the type IMAGE/,
    ],
    ['a node without forward', [{ name: 'p' } as NodeSpec], /has no forward\(inputs, context, config\)/],
    ['a node without a name', [{ forward } as unknown as NodeSpec], /node 0 has no usable name/],
  ])('refuses %s and says what to do', (_what, nodes, message) => {
    expect(() => manifestOf(nodes)).toThrow(message);
  });

  it('lists every problem at once', () => {
    expect(() =>
      manifestOf([defineNode({ name: 'p', batched: true, forward }), defineNode({ name: 'p', forward })]),
    ).toThrow(/forwardBatch[^]*batchDim[^]*rename one/);
  });

  it.each([
    [{}, /has no default export/],
    [{ default: { name: 'toys' } }, /has no create\(\)/],
    [
      { default: { name: 'games', create: forward } },
      /calls itself "games"; the name must equal the file or folder name/,
    ],
  ])('refuses a module %j', (module, message) => {
    expect(() => nodesetSpecFrom(module, 'toys')).toThrow(message);
  });

  it('refuses a name that would break node types', () => {
    expect(() => nodesetSpecFrom({ default: { name: 'a__b', create: forward } }, 'a__b')).toThrow(
      /without "__"/,
    );
  });
});

describe('evaluation metadata', () => {
  it('knows the usual metrics by name and lets what is stated win', () => {
    expect(metricOf('success')).toEqual({
      name: 'success',
      unit: '',
      kind: 'rate',
      higherIsBetter: true,
      worst: 0,
    });
    expect(metricOf('distance_to_goal')).toMatchObject({ unit: 'm', higherIsBetter: false, worst: null });
    expect(metricOf({ name: 'distance_to_goal', worst: 30 })).toMatchObject({ unit: 'm', worst: 30 });
    expect(metricOf('toString')).toEqual({
      name: 'toString',
      unit: '',
      kind: 'mean',
      higherIsBetter: null,
      worst: null,
    });
  });

  it('reads what a Python host says, with plain names and unbounded splits', () => {
    const wire = {
      env_name: 'gym',
      splits: ['seeds'],
      episode_counts: { seeds: null },
      metrics: ['success', { name: 'return', higher_is_better: true }],
      supports_set_episode: true,
      step_budget: 500,
    };
    const metadata = evalMetadataFromWire(wire, 'gym#0');
    expect(metadata).toMatchObject({ envName: 'gym', episodeCounts: { seeds: null }, stepBudget: 500 });
    expect(metadata?.metrics.map(({ name, kind, higherIsBetter }) => [name, kind, higherIsBetter])).toEqual([
      ['success', 'rate', true],
      ['return', 'mean', true],
    ]);
    expect(evalMetadataFromWire(evalMetadataToWire(metadata), 'gym#0')).toEqual(metadata);
    expect(evalMetadataFromWire(null, 'gym#0')).toBeNull();
  });

  it('names the host and the place when metadata is malformed or a metric is listed twice', () => {
    expect(() => normaliseEvalMetadata({ envName: 'x', episodeCounts: { val: 'many' } }, 'x#0')).toThrow(
      /x#0: its evaluation metadata .* at episodeCounts.val/,
    );
    expect(() => normaliseEvalMetadata({ envName: 'x', metrics: ['spl', 'spl'] }, 'x#0')).toThrow(
      /metric "spl" twice/,
    );
  });
});

describe('panel state', () => {
  it('accepts instr_id, scan and numeric ids', () => {
    const state = panelStateFromWire(
      {
        values: { split: 'val' },
        current_episode: { instr_id: 4332, scan: 'X7H', instruction: 'go' },
        episode_count: 3,
      },
      'r2r#0',
    );
    expect(state.currentEpisode).toMatchObject({ episodeId: '4332', sceneId: 'X7H', instruction: 'go' });
    expect(state.episodeCount).toBe(3);
  });
});
