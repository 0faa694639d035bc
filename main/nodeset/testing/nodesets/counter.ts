// An environment that counts: reset by its panel, one step per firing, done after `length` steps.
import { defineNode, defineNodeset, Tensor, type Values } from 'agentcanvas';
import { describePosition } from './shared/position.ts';

interface World {
  split: string;
  episode: number;
  position: number;
}

const counts: Readonly<Record<string, number>> = { train: 5, test: 3 };

function fail(message: string): never {
  throw new Error(message);
}

export default defineNodeset({
  name: 'counter',
  description: 'Counts its steps',
  parallelism: 'replicated',
  defaultPerStepBudgetSec: 2,
  deadlinesSec: { reset: 5, step: 1 },
  create() {
    const world: World = { split: 'train', episode: 0, position: 0 };
    const state = (): {
      values: Values;
      episodeCount: number;
      stepBudget: number;
      currentEpisode: { episodeId: string };
    } => ({
      values: { split: world.split, episode_index: world.episode },
      episodeCount: counts[world.split] ?? 0,
      stepBudget: 10,
      currentEpisode: { episodeId: `${world.split}-${world.episode}` },
    });
    const ended: string[] = [];
    return {
      nodes: [
        defineNode({
          name: 'step',
          inputs: [{ name: 'action', wireType: 'DISCRETE_ACTION' }],
          outputs: [
            { name: 'position', wireType: 'ANY' },
            { name: 'image', wireType: 'IMAGE' },
          ],
          defaultConfig: { stride: 1 },
          forward({ action }, context, config) {
            if (action === 'hang') for (;;);
            if (action === 'exit') process.exit(3);
            if (action === 'throw') throw new RangeError('the action is out of range');
            if (action === 'wait') return new Promise(() => undefined);
            if (action === 'garbage') return 'not an object' as unknown as Values;
            if (action === 'late') setTimeout(() => fail('nobody awaits this'), 0);
            if (action === 'kill') process.kill(process.pid, 'SIGKILL');
            if (action === 'print')
              for (let line = 0; line < 20_000; line++) console.log(`line ${line} ${'x'.repeat(100)}`);
            world.position += Number(config['stride']);
            context.log('position', describePosition(world.position));
            const firings = Number(context.state.get('firings') ?? 0) + 1;
            context.state.set('firings', firings);
            const image = Tensor.of('uint8', [2, 2, 3], new Uint8Array(12).fill(world.position));
            return {
              position: world.position,
              pid: process.pid,
              firings,
              seed: context.seed,
              step: context.step,
              image,
            };
          },
        }),
        defineNode({
          name: 'remember',
          inputs: [{ name: 'value' }, { name: 'key', optional: true }],
          outputs: [{ name: 'before' }],
          async forward({ value, key }, context) {
            const cell = typeof key === 'string' ? key : undefined;
            const before = await context.containers.read('memory', 'last', cell);
            await context.containers.write('memory', 'last', value, cell);
            if (value === 'evict') await context.containers.evict('memory', 'last', cell ?? '');
            context.emitSignal('remembered');
            return { before };
          },
        }),
        defineNode({
          name: 'fan',
          inputs: [{ name: 'count' }],
          outputs: [{ name: 'sum' }],
          forward: ({ count }) => ({
            fireList: Array.from({ length: Number(count) }, (_, index) => ({
              nodeType: 'counter__step',
              inputs: { action: index },
            })),
            aggregate: (results) => ({
              sum: results.reduce((sum, each) => sum + Number(each['position']), 0),
            }),
          }),
        }),
        defineNode({
          name: 'ended',
          outputs: [{ name: 'executions' }],
          forward: () => ({ executions: [...ended] }),
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
          if (field === 'split') world.split = String(value);
          if (field === 'episode_index') world.episode = Number(value);
          return state();
        },
        onAction() {
          world.position = 0;
          return state();
        },
        getOptions: (field) => (field === 'split' ? Object.keys(counts) : []),
      },
      evalMetadata: () => ({
        envName: 'counter',
        splits: Object.keys(counts),
        episodeCounts: counts,
        metrics: ['success', { name: 'position', unit: 'steps' }],
      }),
      executionEnd: (executionId) => void ended.push(executionId),
    };
  },
});
