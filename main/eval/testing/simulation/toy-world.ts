// The environment and policy of the simulation as arithmetic: what an episode must end with is a pure function of its
// index and policy seed, so every verdict can be checked whatever happened on the way to it.
import { createRandom, deriveSeed } from '../../../base/random.ts';
import { graphDefinition, type GraphDefinition } from '../../../contract/graph.ts';

export function mix(a: number, b: number): number {
  let hash = Math.imul((a ^ 0x9e3779b9) >>> 0, 0x85ebca6b) ^ (b + 0x7f4a7c15);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** What makes an episode end otherwise than with a verdict: of the episode, not of who runs it when. */
export type Content = 'plain' | 'typed_error' | 'no_verdict' | 'nan' | 'oversize' | 'refused';

export interface ToyWorld {
  readonly seed: number;
  readonly stepBudget: number;
  /** One or two policy nodes with different configurations: two keys. */
  readonly policies: readonly number[];
  readonly contents: readonly Content[];
}

export function contentOf(world: ToyWorld, index: number): Content {
  if (world.contents.length === 0) return 'plain';
  const random = createRandom(deriveSeed(world.seed, 'content', index));
  if (random.integer(5) > 0) return 'plain';
  return world.contents[random.integer(world.contents.length)] ?? 'plain';
}

export const lengthOf = (world: ToyWorld, index: number): number => 1 + (mix(world.seed, index) % 4);
export const observationOf = (index: number, step: number, history: number): number =>
  mix(mix(index, step), history);

/** What one policy answers to an observation. */
export const answerOf = (config: number, observation: number): number => mix(observation, config) % 4;

export interface Verdict {
  readonly status: 'completed' | 'error' | 'no_verdict';
  readonly metrics: Readonly<Record<string, number | 'nan' | null>>;
  readonly steps: number;
  readonly limit: 'step_budget' | null;
}

/** How the episode ends when nothing but its own content is in the way. */
export function verdictOfEpisode(world: ToyWorld, index: number): Verdict {
  const content = contentOf(world, index);
  const length = lengthOf(world, index);
  const steps = Math.min(length, world.stepBudget);
  if (content === 'typed_error' || content === 'refused')
    return { status: 'error', metrics: {}, steps, limit: null };
  if (content === 'no_verdict') return { status: 'no_verdict', metrics: {}, steps, limit: null };
  let history = 0;
  for (let step = 0; step < steps; step++)
    history = mix(history, actionOf(world, observationOf(index, step, history)));
  const metrics = { success: history % 2, score: content === 'nan' ? ('nan' as const) : history % 1000 };
  return { status: 'completed', metrics, steps, limit: length > world.stepBudget ? 'step_budget' : null };
}

/** Of all policies, each of which sees what the one before it said. */
export function actionOf(world: ToyWorld, observation: number): number {
  return world.policies.reduce((seen, config) => answerOf(config, seen), observation);
}

/** start -> [policy … -> step] -> evaluate */
export function toyGraph(world: ToyWorld): { readonly text: string; readonly definition: GraphDefinition } {
  const policies = world.policies.map((config, at) => ({
    id: `policy${at}`,
    type: 'sim__policy',
    config: { offset: config },
  }));
  const chain = ['loop_in', ...policies.map(({ id }) => id), 'step'];
  const policyWires = policies.flatMap(({ id }, at) => {
    const before = chain[at] ?? '';
    if (at > 0) return [[before, 'action', id, 'observation']];
    return [
      [before, 'init_observation', id, 'observation'],
      [before, 'iterout_observation', id, 'observation'],
    ];
  });
  const wires = [
    ['start', 'observation', 'loop_in', 'init_observation'],
    ...policyWires,
    [chain.at(-2) ?? '', 'action', 'step', 'action'],
    ['step', 'observation', 'loop_out', 'observation'],
    ['step', 'done', 'loop_out', 'stop'],
    ['loop_out', 'final_stop', 'evaluate', 'trigger'],
    ['evaluate', 'metrics', 'metrics', 'value'],
  ];
  const graph = {
    name: 'simulated',
    eval_graph: true,
    nodes: [
      { id: 'start', type: 'sim__observe' },
      {
        id: 'loop_in',
        type: 'iterIn',
        config: {
          pairedWith: 'loop_out',
          initPorts: [{ name: 'observation', wire_type: 'ANY', persist: false }],
        },
      },
      ...policies,
      { id: 'step', type: 'sim__step' },
      {
        id: 'loop_out',
        type: 'iterOut',
        config: { pairedWith: 'loop_in', ports: [{ name: 'observation', wire_type: 'ANY' }] },
      },
      { id: 'evaluate', type: 'sim__evaluate' },
      { id: 'metrics', type: 'graphOut', config: { portName: 'metrics', wireType: 'METRICS' } },
    ],
    edges: wires.map(([source, sourceHandle, target, targetHandle], at) => ({
      id: `e${at}`,
      source,
      sourceHandle,
      target,
      targetHandle,
    })),
  };
  const text = JSON.stringify(graph);
  return { text, definition: graphDefinition.parse(JSON.parse(text)) };
}
