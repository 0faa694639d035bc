// The environment of the reliability table: observations, length and metrics depend on the episode's identity and on
// every action so far, so that anything lost, doubled or mixed up shows. The split says what is special.
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, defineNode, defineNodeset, deriveSeed, Tensor } from 'agentcanvas';

/** `brisk` has episodes of one step, `steady` the same one in every step, `mortal` ends 10 % of the episodes' first attempts. */
const splits = { brisk: 1_000_000, steady: 1_000_000, mortal: 1_000_000 } as const;
type Split = keyof typeof splits;
const pauseMs = Number(process.env['AC_WANDERER_PAUSE_MS'] ?? 5);

/** True once per episode for a tenth of them; a file remembers, as the process will not. */
function isToDie(index: number): boolean {
  const folder = process.env['AC_WANDERER_FLAGS'];
  if (folder === undefined || deriveSeed('dies', index) % 10 !== 0) return false;
  try {
    closeSync(openSync(path.join(folder, `died-${index}`), 'wx'));
    return true;
  } catch {
    return false;
  }
}

interface World {
  split: Split;
  index: number;
  step: number;
  /** Of all actions so far. */
  history: number;
}

function observationOf({ index, step, history }: World): Tensor {
  const random = createRandom(deriveSeed('wanderer', index, step, history));
  return Tensor.of(
    'float32',
    [6],
    Float32Array.from({ length: 6 }, () => random.next() * 2 - 1),
  );
}

function nodesOf(world: World) {
  return [
    defineNode({
      name: 'observe',
      outputs: [{ name: 'observation' }],
      forward: () => ({ observation: observationOf(world) }),
    }),
    defineNode({
      name: 'step',
      inputs: [{ name: 'action', wireType: 'ANY' }],
      outputs: [{ name: 'observation' }, { name: 'done', wireType: 'BOOL' }],
      async forward({ action }, context) {
        world.step++;
        const acted = typeof action === 'number' ? action : context.seed % 97;
        world.history = deriveSeed(world.history, acted, world.step);
        if (world.split === 'steady') await delay(pauseMs);
        if (world.split === 'mortal' && world.step === 2 && isToDie(world.index)) process.exit(9);
        const length = world.split === 'brisk' ? 1 : 4 + (deriveSeed(world.index, 'length') % 5);
        return { observation: observationOf(world), done: world.step >= length };
      },
    }),
    defineNode({
      name: 'evaluate',
      inputs: [{ name: 'trigger' }],
      outputs: [{ name: 'metrics', wireType: 'METRICS' }],
      forward: () => ({
        metrics: { success: world.history % 2, steps_taken: world.step, history: world.history },
      }),
    }),
  ];
}

// A nodeset's file gives it as its default export.
// oxlint-disable-next-line import/no-default-export
export default defineNodeset({
  name: 'wanderer',
  parallelism: 'replicated',
  create() {
    const world: World = { split: 'brisk', index: 0, step: 0, history: 0 };
    const state = () => ({
      values: { split: world.split, episode_index: world.index },
      episodeCount: splits[world.split],
      stepBudget: 60,
      currentEpisode: {
        episodeId: `${world.split}-${world.index}`,
        sceneId: `scene-${world.index % 7}`,
        instruction: 'wander',
      },
    });
    return {
      nodes: nodesOf(world),
      envPanel: {
        fields: [
          { name: 'split', kind: 'select' },
          { name: 'episode_index', kind: 'number' },
        ],
        actions: [{ name: 'play', sideEffect: 'run_start' }],
        onLoad: state,
        onFieldChange(field, value) {
          if (field === 'split') world.split = value as Split;
          if (field === 'episode_index') world.index = Number(value);
          return state();
        },
        onAction() {
          [world.step, world.history] = [0, deriveSeed('start', world.index)];
          return state();
        },
        getOptions: (field) => (field === 'split' ? Object.keys(splits) : []),
      },
      evalMetadata: () => ({
        envName: 'wanderer',
        splits: Object.keys(splits),
        episodeCounts: splits,
        metrics: ['success', { name: 'steps_taken', unit: 'steps' }, { name: 'history' }],
      }),
    };
  },
});
