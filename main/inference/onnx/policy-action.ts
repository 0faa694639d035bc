// From a model's scores to an action: the best one, or one drawn with the episode's seed. The same episode, seed and
// step draw the same number, however calls were batched.
import { StudioError } from '../../base/errors.ts';
import { createRandom, deriveSeed } from '../../base/random.ts';
import type { Tensor } from '../../base/tensor.ts';
import type { FiringContext, PortValues } from '../../graph/ports.ts';
import type { PolicyConfig } from './policy-config.ts';

export function policyOutputs(
  config: PolicyConfig,
  answer: Readonly<Record<string, Tensor>>,
  context: FiringContext,
): PortValues {
  const { action, hidden, extra } = config;
  const scores = outputOf(answer, action.output);
  const outputs: Record<string, unknown> = { action: chosen(config, scores, context), scores };
  const states = Object.entries(hidden).map(([input, output]) => [input, outputOf(answer, output)] as const);
  const [only] = states;
  if (only) outputs['hidden_out'] = states.length === 1 ? only[1] : Object.fromEntries(states);
  if (extra.length > 0)
    outputs['extra'] = Object.fromEntries(extra.map((name) => [name, outputOf(answer, name)]));
  return outputs;
}

function outputOf(answer: Readonly<Record<string, Tensor>>, name: string): Tensor {
  const output = answer[name];
  if (output) return output;
  throw new StudioError('model_failed', `the model gave no output "${name}"`);
}

function chosen({ action }: PolicyConfig, scores: Tensor, context: FiringContext): unknown {
  switch (action.choose) {
    case 'value':
      return scores.size === 1 ? Number(scores.data[0]) : scores;
    case 'argmax':
      return argmax(numbersOf(scores, action.output));
    case 'sample':
      return drawn(numbersOf(scores, action.output), action.temperature, unitDraw(context));
  }
}

/** The first of equals. */
export function argmax(scores: Float64Array): number {
  let best = 0;
  for (let index = 1; index < scores.length; index++)
    if ((scores[index] ?? 0) > (scores[best] ?? 0)) best = index;
  return best;
}

/** Index drawn from softmax(scores / temperature) by inversion; `unit` in [0, 1). */
export function drawn(scores: Float64Array, temperature: number, unit: number): number {
  const top = scores[argmax(scores)] ?? 0;
  const weights = scores.map((score) => Math.exp((score - top) / temperature));
  let rest = unit * weights.reduce((sum, weight) => sum + weight, 0);
  const index = weights.findIndex((weight) => (rest -= weight) < 0);
  return index < 0 ? argmax(scores) : index;
}

interface Draws {
  step: number;
  count: number;
}

const drawsKey = 'policy_onnx draws';

/** Of seed, node and step; a node that fires several times in a step draws anew each time. */
function unitDraw({ seed, nodeId, step, state }: FiringContext): number {
  const known = state.get(drawsKey) as Draws | undefined;
  const count = known?.step === step ? known.count + 1 : 0;
  state.set(drawsKey, { step, count } satisfies Draws);
  return createRandom(deriveSeed('policy_onnx', seed, nodeId, step, count)).next();
}

function numbersOf(scores: Tensor, name: string): Float64Array {
  const numbers = Float64Array.from(scores.data, Number);
  if (numbers.length > 0 && numbers.every((score) => !Number.isNaN(score))) return numbers;
  throw new StudioError(
    'model_failed',
    `the output "${name}" holds ${numbers.length === 0 ? 'nothing' : 'NaN'}, so no action can be chosen; look at the model's inputs and their scale`,
  );
}
