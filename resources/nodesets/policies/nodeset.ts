// Policies that need no model. They know nothing of any environment: actions are numbers, weights are given.
import { createRandom, defineNode, defineNodeset, deriveSeed } from 'agentcanvas';

type Draw = () => number;

/** One sampler per node and execution: `context.state` lives exactly that long. */
const samplers = new WeakMap<ReadonlyMap<string, unknown>, Draw>();

const randomPolicy = defineNode({
  name: 'random',
  displayName: 'Random policy',
  description:
    'Draws actions by weight, seeded per episode: the same episode and seed give the same actions.',
  category: 'policy',
  icon: 'dices',
  kind: 'policy',
  inputs: [
    { name: 'observation', wireType: 'ANY', description: 'Anything; says when to act.', optional: true },
  ],
  outputs: [{ name: 'action', wireType: 'DISCRETE_ACTION' }],
  // The random agent of VLN-CE: mostly forward, rarely stop.
  defaultConfig: { weights: '0.02, 0.68, 0.15, 0.15' },
  configFields: [
    {
      kind: 'text',
      name: 'weights',
      label: 'Weights',
      description:
        'One per action, in the order of the action numbers; they need not sum to 1. In navigation the first is STOP.',
    },
  ],
  forward(_inputs, context, config) {
    let draw = samplers.get(context.state);
    if (!draw) {
      draw = createSampler(
        parseWeights(config['weights']),
        deriveSeed('policies random', context.seed, context.nodeId),
      );
      samplers.set(context.state, draw);
    }
    return { action: draw() };
  },
});

function createSampler(weights: readonly number[], seed: number): Draw {
  const random = createRandom(seed);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const lastPossible = weights.findLastIndex((weight) => weight > 0);
  return () => {
    let remaining = random.next() * total;
    const index = weights.findIndex((weight) => (remaining -= weight) < 0);
    return index < 0 ? lastPossible : index;
  };
}

/** A list of numbers, or text with numbers separated by commas or spaces. */
function parseWeights(value: unknown): readonly number[] {
  const parts: readonly unknown[] = Array.isArray(value)
    ? value
    : String(value)
        .split(/[\s,]+/)
        .filter(Boolean);
  const weights = parts.map(Number);
  const isValid =
    weights.every((weight) => Number.isFinite(weight) && weight >= 0) && weights.some((weight) => weight > 0);
  if (isValid) return weights;
  throw new Error(
    `weights must be numbers of at least 0, one per action and not all 0, such as "0.02, 0.68, 0.15, 0.15"; got "${String(value)}"`,
  );
}

export default defineNodeset({
  name: 'policies',
  description: 'Policies without a model: random actions by weight.',
  create: () => ({ nodes: [randomPolicy] }),
});
