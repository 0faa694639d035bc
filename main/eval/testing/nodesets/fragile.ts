// An environment for tests of the pool over real processes. The split says what goes wrong, and in which episode; an
// episode takes `5 + index % 4` steps and succeeds when its index is even.
import { setTimeout as delay } from 'node:timers/promises';
import { defineNode, defineNodeset } from 'agentcanvas';

const splits = {
  calm: 1000,
  slow: 1000,
  busy_loop: 20,
  never_answers: 20,
  exits: 20,
  throws: 20,
  silent: 20,
  unbounded: null,
} as const;
type Split = keyof typeof splits;
const faultyIndex = 3;

// A nodeset's file gives it as its default export.
// oxlint-disable-next-line import/no-default-export
export default defineNodeset({
  name: 'fragile',
  parallelism: 'replicated',
  defaultPerStepBudgetSec: 0.1,
  deadlinesSec: { reset: 5, step: 2 },
  create() {
    let split: Split = 'calm';
    let index = 0;
    let step = 0;
    const state = () => ({
      values: { split, episode_index: index },
      episodeCount: splits[split],
      stepBudget: 20,
      currentEpisode: {
        episodeId: `${split}-${index}`,
        sceneId: `scene-${Math.floor(index / 10)}`,
        instruction: 'count',
      },
    });
    const misbehave = async (): Promise<void> => {
      if (split === 'slow') await delay(20);
      if (index !== faultyIndex || step !== 2) return;
      if (split === 'busy_loop') for (;;);
      if (split === 'never_answers') await new Promise(() => undefined);
      if (split === 'exits') process.exit(7);
      if (split === 'throws') throw new RangeError('the wheel came off');
    };
    return {
      nodes: [
        defineNode({ name: 'observe', outputs: [{ name: 'position' }], forward: () => ({ position: step }) }),
        defineNode({
          name: 'step',
          inputs: [{ name: 'position' }],
          outputs: [{ name: 'position' }, { name: 'done', wireType: 'BOOL' }],
          async forward() {
            step++;
            await misbehave();
            return { position: step, done: step >= 5 + (index % 4) };
          },
        }),
        defineNode({
          name: 'evaluate',
          inputs: [{ name: 'trigger' }],
          outputs: [{ name: 'metrics', wireType: 'METRICS' }],
          forward: (_inputs, context) => ({
            metrics:
              split === 'silent'
                ? {}
                : { success: 1 - (index % 2), steps_taken: step, draw: context.seed % 1000 },
          }),
        }),
      ],
      envPanel: {
        fields: [
          { name: 'split', kind: 'select' },
          { name: 'episode_index', kind: 'number' },
        ],
        actions: [{ name: 'play', sideEffect: 'run_start' }],
        onLoad: state,
        onFieldChange(field, value) {
          if (field === 'split') [split, index] = [value as Split, 0];
          if (field === 'episode_index') index = Number(value);
          return state();
        },
        onAction() {
          step = 0;
          return state();
        },
        getOptions: (field) => (field === 'split' ? Object.keys(splits) : []),
      },
      evalMetadata: () => ({
        envName: 'fragile',
        splits: Object.keys(splits),
        episodeCounts: splits,
        metrics: ['success', { name: 'steps_taken', unit: 'steps' }, { name: 'draw' }],
      }),
    };
  },
});
