// The trivial environment of the overhead benchmark: counts steps, and sleeps or computes for as long as it is told.
import { defineNode, type NodesetInstance } from 'agentcanvas';

const stepsPerEpisode = Number.MAX_SAFE_INTEGER;
const startUpMs = Number(process.env['BENCH_START_UP_MS'] ?? 0);

/** Keeps one core busy. */
function compute(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

export function createCounting(): NodesetInstance {
  let steps = 0;
  const observe = defineNode({
    name: 'observe',
    outputs: [{ name: 'observation' }],
    forward: () => ({ observation: (steps = 0) }),
  });
  const step = defineNode({
    name: 'step',
    inputs: [{ name: 'action', wireType: 'DISCRETE_ACTION' }],
    outputs: [{ name: 'observation' }, { name: 'reward' }, { name: 'done', wireType: 'BOOL' }],
    defaultConfig: { sleepMs: 0, computeMs: 0 },
    forward(inputs, _context, config) {
      steps += 1;
      const values = {
        observation: steps,
        reward: Number(inputs['action']),
        done: steps >= stepsPerEpisode,
      };
      if (Number(config['computeMs']) > 0) compute(Number(config['computeMs']));
      const sleepMs = Number(config['sleepMs']);
      return sleepMs > 0 ? new Promise((resolve) => setTimeout(() => resolve(values), sleepMs)) : values;
    },
  });
  return {
    nodes: [observe, step],
    initialize: () => new Promise<void>((resolve) => setTimeout(resolve, startUpMs)),
  };
}
