// An environment whose observations and length depend on every action so far, so that one other action shows in its
// metrics. Steps take different times, so that batches differ from run to run.
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, defineNode, defineNodeset, deriveSeed, Tensor } from 'agentcanvas';

// A nodeset's file gives it as its default export.
// oxlint-disable-next-line import/no-default-export
export default defineNodeset({
  name: 'walker',
  parallelism: 'replicated',
  create() {
    let index = 0;
    let step = 0;
    let history = 0;
    const state = () => ({
      values: { episode_index: index },
      episodeCount: 500,
      stepBudget: 60,
      currentEpisode: { episodeId: `walk-${index}`, sceneId: 'plain', instruction: 'walk' },
    });
    const observation = () => {
      const random = createRandom(deriveSeed('walker', index, step, history));
      return Tensor.of(
        'float32',
        [6],
        Float32Array.from({ length: 6 }, () => random.next() * 2 - 1),
      );
    };
    return {
      nodes: [
        defineNode({
          name: 'observe',
          outputs: [{ name: 'observation' }],
          forward: () => ({ observation: observation() }),
        }),
        defineNode({
          name: 'step',
          inputs: [{ name: 'action', wireType: 'DISCRETE_ACTION' }],
          outputs: [{ name: 'observation' }, { name: 'done', wireType: 'BOOL' }],
          async forward({ action }) {
            step++;
            history = deriveSeed(history, Number(action));
            if (history % 3 === 0) await delay(history % 4);
            return { observation: observation(), done: step >= 12 + (history % 9) || step >= 25 };
          },
        }),
        defineNode({
          name: 'evaluate',
          inputs: [{ name: 'trigger' }],
          outputs: [{ name: 'metrics', wireType: 'METRICS' }],
          forward: () => ({ metrics: { success: history % 2, steps_taken: step, history } }),
        }),
      ],
      envPanel: {
        fields: [{ name: 'episode_index', kind: 'number' }],
        actions: [{ name: 'play', sideEffect: 'run_start' }],
        onLoad: state,
        onFieldChange(field, value) {
          if (field === 'episode_index') index = Number(value);
          return state();
        },
        onAction() {
          step = 0;
          history = 0;
          return state();
        },
        getOptions: () => [],
      },
      evalMetadata: () => ({
        envName: 'walker',
        splits: ['all'],
        episodeCounts: { all: 500 },
        metrics: ['success', { name: 'steps_taken' }, { name: 'history' }],
      }),
    };
  },
});
