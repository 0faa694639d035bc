import { type NodeCallContext } from 'agentcanvas';
import { describe, expect, it } from 'vitest';
import nodeset from './nodeset.ts';

const random = nodeset.create().nodes.find((node) => node.name === 'random')!;

function contextOf(seed: number, nodeId = 'policy'): NodeCallContext {
  return {
    executionId: 'run',
    nodeId,
    step: 0,
    seed,
    signal: new AbortController().signal,
    state: new Map(),
    containers: { read: () => undefined, write: () => undefined, evict: () => undefined },
    log: () => undefined,
    emitSignal: () => undefined,
  };
}

function draws(context: NodeCallContext, count: number, weights?: unknown): number[] {
  const config = { ...random.defaultConfig, ...(weights === undefined ? {} : { weights }) };
  return Array.from(
    { length: count },
    () => (random.forward({}, context, config) as { action: number }).action,
  );
}

describe('random policy', () => {
  it('repeats itself for the same seed and node, whatever else is drawn in between', () => {
    const [a, b] = [contextOf(5), contextOf(5)];
    const other = contextOf(6);
    const first = draws(a, 50);
    const second = Array.from({ length: 50 }, () => {
      draws(other, 3);
      return draws(b, 1)[0];
    });
    expect(second).toEqual(first);
    expect(draws(contextOf(6), 50)).not.toEqual(first);
    expect(draws(contextOf(5, 'second policy'), 50)).not.toEqual(first);
  });

  it('draws actions in the given proportions', () => {
    const actions = draws(contextOf(1), 20_000, '0.02, 0.68, 0.15, 0.15');
    const share = (action: number): number =>
      actions.filter((drawn) => drawn === action).length / actions.length;
    for (const [action, wanted] of [0.02, 0.68, 0.15, 0.15].entries())
      expect(share(action)).toBeCloseTo(wanted, 1.6);
  });

  it('never draws an action of weight 0 and takes any number of actions', () => {
    expect(new Set(draws(contextOf(2), 500, [0, 1, 1]))).toEqual(new Set([1, 2]));
    expect(new Set(draws(contextOf(2), 50, '0 0 0 0 7'))).toEqual(new Set([4]));
  });

  it('refuses weights that are no weights', () => {
    for (const weights of ['', '0, 0', '1, -1', 'much, little', [Number.NaN]]) {
      expect(() => draws(contextOf(1), 1, weights)).toThrow('weights must be numbers of at least 0');
    }
  });
});
