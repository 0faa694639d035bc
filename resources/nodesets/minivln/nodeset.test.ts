import {
  Tensor,
  type EnvPanelSpec,
  type NodeCallContext,
  type NodesetInstance,
  type Values,
} from 'agentcanvas';
import { describe, expect, it } from 'vitest';
import nodeset from './nodeset.ts';

function contextOf(executionId: string): NodeCallContext {
  return {
    executionId,
    nodeId: 'node',
    step: 0,
    seed: 1,
    signal: new AbortController().signal,
    state: new Map(),
    containers: { read: () => undefined, write: () => undefined, evict: () => undefined },
    log: () => undefined,
    emitSignal: () => undefined,
  };
}

interface Harness {
  readonly panel: EnvPanelSpec;
  call(tool: string, inputs?: Values, options?: { execution?: string; config?: Values }): Values;
  choose(split: string, index: number): Promise<void>;
}

function open(): Harness {
  const instance: NodesetInstance = nodeset.create();
  const panel = instance.envPanel!;
  return {
    panel,
    call(tool, inputs = {}, { execution = 'run', config = {} } = {}) {
      const node = instance.nodes.find((candidate) => candidate.name === tool)!;
      const result = node.forward(inputs, contextOf(execution), { ...node.defaultConfig, ...config });
      if (result instanceof Promise || 'fireList' in result)
        throw new Error(`${tool} must return its outputs at once`);
      return result;
    },
    async choose(split, index) {
      await panel.onFieldChange('split', split);
      await panel.onFieldChange('episode_index', index);
      await panel.onAction('play', {});
    },
  };
}

/** Outputs as plain text, tensors by their bytes. */
function imprint(values: Values): string {
  return JSON.stringify(values, (_key, value: unknown) =>
    value instanceof Tensor
      ? `${value.dtype} ${value.shape.join('x')} ${Buffer.from(value.bytes).toString('base64')}`
      : value,
  );
}

function walk(env: Harness, actions: readonly number[], execution = 'run'): string[] {
  const first = imprint(env.call('observe', {}, { execution }));
  return [first, ...actions.map((action) => imprint(env.call('step', { action }, { execution })))];
}

const someActions = [1, 2, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 3, 3, 1, 1, 1, 1];

describe('minivln nodeset', () => {
  it('is replicated, has the five nodes, and declares ports that match what they return', async () => {
    const instance = nodeset.create();
    expect(nodeset.parallelism).toBe('replicated');
    expect(instance.nodes.map((node) => node.name)).toEqual(['observe', 'step', 'expert', 'evaluate', 'map']);
    const env = open();
    await env.choose('val_seen', 3);
    for (const node of instance.nodes) {
      const outputs = env.call(node.name, node.name === 'step' ? { action: 'MOVE_FORWARD' } : {});
      expect(Object.keys(outputs).sort()).toEqual(node.outputs!.map((port) => port.name).sort());
    }
  });

  it('plays an episode to success with its own expert', async () => {
    const env = open();
    await env.choose('val_unseen', 77);
    env.call('observe');
    for (let done = false; !done;) {
      const { action } = env.call('expert');
      done = env.call('step', { action })['done'] === true;
    }
    const { metrics } = env.call('evaluate');
    expect(metrics).toMatchObject({ success: 1, oracle_success: 1 });
    expect((metrics as Record<string, number>)['spl']).toBeGreaterThan(0.9);
  });

  it('gives identical observations in two instances, also when their steps interleave with other episodes', async () => {
    const [a, b, other] = [open(), open(), open()];
    await a.choose('train', 42);
    await b.choose('val_unseen', 1);
    walk(b, someActions);
    await b.choose('train', 42);
    await other.choose('train', 43);
    const expected = walk(a, someActions);
    const interleaved = [imprint(b.call('observe'))];
    other.call('observe');
    for (const action of someActions) {
      other.call('step', { action: 1 });
      interleaved.push(imprint(b.call('step', { action })));
    }
    expect(interleaved).toEqual(expected);
  });

  it('starts the episode again for a new execution and for play', async () => {
    const env = open();
    await env.choose('train', 5);
    const first = walk(env, someActions, 'one');
    expect(walk(env, someActions, 'two')).toEqual(first);
    await env.panel.onAction('play', {});
    expect(walk(env, someActions, 'two')).toEqual(first);
  });

  it('leaves images out when rendering is off and obeys the image size', async () => {
    const env = open();
    await env.choose('train', 5);
    expect(Object.keys(env.call('observe', {}, { config: { render: false } }))).not.toContain('rgb');
    const { rgb, depth } = env.call('step', { action: 2 }, { config: { width: 96, height: 72 } });
    expect((rgb as Tensor).shape).toEqual([72, 96, 3]);
    expect((depth as Tensor).shape).toEqual([72, 96]);
    expect(() => env.call('step', { action: 2 }, { config: { width: 0 } })).toThrow(
      'width must be a whole number from 8 to 1024',
    );
  });

  it('ignores actions after STOP and refuses unknown ones by listing them', async () => {
    const env = open();
    await env.choose('train', 5);
    env.call('observe');
    expect(() => env.call('step', { action: 4 })).toThrow(
      '0 STOP, 1 MOVE_FORWARD, 2 TURN_LEFT, 3 TURN_RIGHT',
    );
    expect(() => env.call('step', { action: undefined })).toThrow('no action "undefined"');
    expect(env.call('step', { action: 'stop' })['done']).toBe(true);
    const { metrics } = env.call('evaluate');
    expect(env.call('step', { action: 1 })['done']).toBe(true);
    expect(env.call('evaluate')['metrics']).toEqual(metrics);
  });

  it('reports a pose as position and quaternion about z', async () => {
    const env = open();
    await env.choose('train', 5);
    const { pose, state } = env.call('observe');
    const { position, orientation } = pose as { position: number[]; orientation: number[] };
    const degrees = (2 * Math.atan2(orientation[2]!, orientation[3]!) * 180) / Math.PI;
    const { heading_degrees: heading, position: plan } = state as {
      heading_degrees: number;
      position: number[];
    };
    expect((degrees + 360) % 360).toBeCloseTo(heading, 9);
    expect(position.slice(0, 2)).toEqual(plan);
  });

  it('draws a map with the path walked', async () => {
    const env = open();
    await env.choose('train', 5);
    walk(env, someActions);
    const { image, map } = env.call('map');
    expect((image as Tensor).shape).toHaveLength(3);
    const { path, reference_path: reference, rooms } = map as Record<string, unknown[]>;
    expect(path).toHaveLength(1 + someActions.filter((action) => action === 1).length);
    expect(reference!.length).toBeGreaterThan(10);
    expect(rooms!.length).toBeGreaterThanOrEqual(5);
    expect(() => JSON.stringify(map)).not.toThrow();
  });
});

describe('minivln env panel', () => {
  it('chooses by split and index or by id, and both agree', async () => {
    const { panel } = open();
    await panel.onFieldChange('split', 'val_seen');
    const byIndex = await panel.onFieldChange('episode_index', 12);
    expect(byIndex.values).toEqual({ split: 'val_seen', episode_index: 12, episode_id: 'vs_000012' });
    expect(byIndex).toMatchObject({
      episodeCount: 1000,
      stepBudget: 200,
      currentEpisode: { episodeId: 'vs_000012' },
    });
    const byId = await panel.onFieldChange('episode_id', 'vu_000100');
    expect(byId.values).toEqual({ split: 'val_unseen', episode_index: 100, episode_id: 'vu_000100' });
    expect(byId.currentEpisode?.instruction).toMatch(/\.$/);
    expect(await panel.onLoad()).toEqual(byId);
    expect((await panel.onAction('next_episode', {})).values).toMatchObject({ episode_index: 101 });
    expect(await panel.getOptions('split')).toEqual(['train', 'val_seen', 'val_unseen']);
  });

  it('answers what does not exist with what does, and keeps the episode it had', async () => {
    const { panel } = open();
    const before = await panel.onLoad();
    const attempt = async (field: string, value: unknown): Promise<string> => {
      try {
        await panel.onFieldChange(field, value);
        return 'accepted';
      } catch (error) {
        return String(error);
      }
    };
    expect(await attempt('split', 'test')).toContain(
      'no split "test"; choose one of train, val_seen, val_unseen',
    );
    expect(await attempt('episode_index', 5000)).toContain(
      'val_unseen has 1839 episodes, 0 to 1838; there is no 5000',
    );
    expect(await attempt('episode_index', -1)).toContain('there is no -1');
    expect(await attempt('episode_id', 'nonsense')).toContain('no episode "nonsense"');
    expect(await attempt('speed', 1)).toContain('its fields are split, episode_index and episode_id');
    expect(() => panel.onAction('fly', {})).toThrow('no action "fly"');
    expect(await panel.onLoad()).toEqual(before);
  });

  it('has metadata with real counts and known worst values', async () => {
    const metadata = await nodeset.create().evalMetadata!();
    expect(metadata.episodeCounts).toEqual({ train: 10_000, val_seen: 1000, val_unseen: 1839 });
    const env = open();
    env.call('observe');
    const measured = Object.keys(env.call('evaluate')['metrics'] as object).sort();
    expect(
      metadata.metrics!.map((metric) => (typeof metric === 'string' ? metric : metric.name)).sort(),
    ).toEqual(measured);
  });
});
