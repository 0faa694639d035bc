// Fire lists: children in order, recipes, what is refused.
import { describe, expect, it } from 'vitest';
import { collapse } from './fire-list.ts';
import { FireList, type ChildFiring, type FireRecipe } from './ports.ts';
import { graphOf, inputsOf, watch, type Watched } from './testing/graphs.ts';
import { toy, toyCatalog, traceToys } from './testing/toy-nodes.ts';

const child = (nodeType: string, inputs: object, more: Partial<ChildFiring> = {}): ChildFiring => ({
  nodeType,
  inputs: { ...inputs },
  config: {},
  label: '',
  captureOutputs: true,
  ...more,
});

async function fireAll(
  children: readonly ChildFiring[],
  recipe: FireRecipe,
  more: object = {},
): Promise<Watched> {
  const spawner = toy('t_spawn', [], ['y', 'sum'], () => new FireList(children, recipe));
  const nester = toy('t_nest', [], [], () => new FireList([], { recipe: 'merge_all' }));
  return watch(
    graphOf({ spawn: 't_spawn', next: 't_any' }, ['spawn.y > next.a', 'spawn.sum > next.b'], { ...more }),
    {},
    toyCatalog([...traceToys, spawner, nester]),
  );
}

describe('fire lists', () => {
  it('fires the children in order and routes what they collapse into', async () => {
    const watched = await fireAll([child('t_inc', { x: 1 }), child('t_add', { a: 2, b: 3 })], {
      recipe: 'merge_all',
    });
    expect(watched.order).toEqual(['spawn::dyn0', 'spawn::dyn1', 'spawn', 'next']);
    expect(inputsOf(watched, 'next')).toEqual([{ a: 2, b: 5 }]);
    expect(watched.firings[0]).toMatchObject({ parentId: 'spawn', path: 'spawn > t_inc' });
  });

  it('gives the children their config and the grants of the node that fired them', async () => {
    const containers = [
      { id: 'mem', states: { hist: { type: 'accumulator' }, last: {}, total: { type: 'counter' } } },
    ];
    const more = { containers, access_grants: [{ id: 'g', node_id: 'spawn', container_id: 'mem' }] };
    const watched = await fireAll(
      [child('t_inc', { x: 1 }, { config: { by: 10 } }), child('t_state', { x: 9 })],
      { recipe: 'merge_all' },
      more,
    );
    expect(inputsOf(watched, 'next')).toEqual([{ a: 11 }]);
    expect(watched.result.finalContainers).toEqual({ mem: { hist: [9], last: 9, total: 1 } });
  });

  it.each([
    [
      'a child that throws',
      [child('t_fail', { x: 1 }, { config: { at: 1 } }), child('t_inc', { x: 1 })],
      'boom at 1',
    ],
    ['a child that returns an error', [child('t_err', { x: 1 }, { config: { at: 1 } })], 'bad 1'],
    ['a list in a list', [child('t_nest', {})], 'cannot nest'],
    ['a pivot', [child('iterIn', {})], 'belong to the graph'],
    ['an unknown type', [child('nowhere__x', {})], "provides 'nowhere__x'"],
  ])(
    'records %s as a failure of the node that fired it, and fires no more',
    async (_what, children, message) => {
      const { result, order } = await fireAll(children, { recipe: 'merge_all' });
      expect(result.nodeErrors).toMatchObject([{ nodeId: 'spawn' }]);
      expect(result.error?.message).toContain(message);
      expect(order).not.toContain('next');
      expect(order).not.toContain('spawn::dyn1');
    },
  );

  it("collects all, some or none of a child's outputs", async () => {
    const tick = (captureOutputs: ChildFiring['captureOutputs']): ChildFiring =>
      child('t_counter', {}, { captureOutputs });
    const seen: unknown[] = [];
    const own: FireRecipe = {
      recipe: 'own',
      aggregate: (results) => (seen.push(...results), { y: results.length }),
    };
    expect(inputsOf(await fireAll([tick(true), tick(['count']), tick(false)], own), 'next')).toEqual([
      { a: 3 },
    ]);
    expect(seen).toEqual([{ count: 1, value: 1, done: false }, { count: 1 }, {}]);
  });
});

describe('recipes', () => {
  const results = [{ a: 1 }, { a: 2, b: 3 }];
  it.each([
    [{ recipe: 'passthrough_last' }, { a: 2, b: 3 }],
    [{ recipe: 'passthrough_index', index: 0 }, { a: 1 }],
    [{ recipe: 'passthrough_index', index: 9 }, {}],
    [{ recipe: 'merge_all' }, { a: 2, b: 3 }],
    [
      { recipe: 'rename', names: { b: 'c' } },
      { a: 2, c: 3 },
    ],
    [{ recipe: 'rename', names: { a: 'z' }, inner: { recipe: 'passthrough_index', index: 0 } }, { z: 1 }],
  ] as const)('%j', async (recipe, expected) => {
    expect(await collapse(recipe, results)).toEqual(expected);
  });
});
