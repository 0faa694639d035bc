// State containers: reducers, keys, lifetimes, grants.
import { describe, expect, it } from 'vitest';
import { ContainerStore } from './containers.ts';
import { graphOf, watch, type NodeSketch } from './testing/graphs.ts';
import { toy, toyCatalog, traceToys } from './testing/toy-nodes.ts';

function storeOf(states: object): ContainerStore {
  return new ContainerStore(graphOf({}, [], { containers: [{ id: 'mem', states }] }).containers);
}

describe('reducers', () => {
  it('appends, replaces and adds', () => {
    const store = storeOf({
      list: { type: 'accumulator' },
      last: { type: 'lastWrite' },
      sum: { type: 'counter' },
    });
    for (const value of [1, 2]) for (const state of ['list', 'last', 'sum']) store.write('mem', state, value);
    expect(store.snapshot().values).toEqual({ mem: { list: [1, 2], last: 2, sum: 3 } });
  });

  it('keeps the newest entries up to max_size, and begins from a copy of the initial value', () => {
    const store = storeOf({ list: { type: 'accumulator', config: { max_size: 2, initial_value: [0] } } });
    for (const value of [1, 2, 3]) store.write('mem', 'list', value);
    expect(store.read('mem', 'list')).toEqual([2, 3]);
    expect(store.read('mem', 'list', 'untouched')).toEqual([0]);
  });

  it('refuses what a counter cannot add, and names what does not exist', () => {
    const store = storeOf({ sum: { type: 'counter' } });
    expect(() => store.write('mem', 'sum', 'a')).toThrow('a counter takes numbers');
    expect(() => store.read('mem', 'other')).toThrow("no state 'other' (it has: sum)");
    expect(() => store.read('else', 'sum')).toThrow("no container 'else'");
  });
});

describe('keys', () => {
  it('keeps partitions apart from each other and from the plain value', () => {
    const store = storeOf({ list: { type: 'accumulator' } });
    store.write('mem', 'list', 'a', 'one');
    store.write('mem', 'list', 'b', 'two');
    expect([
      store.read('mem', 'list'),
      store.read('mem', 'list', 'one'),
      store.read('mem', 'list', 'two'),
    ]).toEqual([[], ['a'], ['b']]);
    store.evict('mem', 'list', 'one');
    expect([store.read('mem', 'list', 'one'), store.read('mem', 'list', 'two')]).toEqual([[], ['b']]);
  });
});

describe('lifetimes', () => {
  it.each([
    ['step', 'step_end'],
    ['episode', 'episode_reset'],
    ['run', 'run_end'],
    ['custom', 'mine'],
  ])('%s ends with %s and no other signal', (lifetime, signal) => {
    const store = storeOf({ last: { lifetime, reset_on: ['mine'] }, kept: { lifetime: 'forever' } });
    store.write('mem', 'last', 1);
    store.write('mem', 'last', 2, 'key');
    store.write('mem', 'kept', 3);
    for (const other of ['step_end', 'episode_reset', 'run_end', 'mine'])
      if (other !== signal) store.signal(other);
    expect(store.read('mem', 'last')).toBe(1);
    store.signal(signal);
    expect([store.read('mem', 'last'), store.read('mem', 'last', 'key'), store.read('mem', 'kept')]).toEqual([
      null,
      null,
      3,
    ]);
  });

  it('resets on a signal a node emits', async () => {
    const catalog = toyCatalog([
      ...traceToys,
      toy('t_emit', ['x'], [], (_inputs, context) => {
        context.emitSignal('enough');
        return {};
      }),
    ]);
    const graph = graphOf(
      { a: { type: 't_const', config: { value: 5 } }, s: 't_state', e: 't_emit' },
      ['a.value > s.x', 's.last > e.x'],
      {
        containers: [
          {
            id: 'mem',
            states: {
              hist: { type: 'accumulator', lifetime: 'custom', reset_on: ['enough'] },
              last: {},
              total: { type: 'counter' },
            },
          },
        ],
        access_grants: [{ id: 'g', node_id: 's', container_id: 'mem' }],
      },
    );
    const { result } = await watch(graph, {}, catalog);
    expect(result.finalContainers).toEqual({ mem: { hist: [], last: 5, total: 1 } });
  });
});

describe('grants', () => {
  it('lets a node see only what it was granted', async () => {
    const catalog = toyCatalog([
      toy('t_look', [], ['seen'], (_inputs, { containers }) => ({ seen: containers.read('mem', 'last') })),
    ]);
    const containers = [{ id: 'mem', states: { last: { config: { initial_value: 'hello' } } } }];
    const nodes: Record<string, NodeSketch | string> = { granted: 't_look', stranger: 't_look' };
    const { firings, result } = await watch(
      graphOf(nodes, [], { containers, access_grants: [{ node_id: 'granted', container_id: 'mem' }] }),
      {},
      catalog,
    );
    expect(firings[0]?.outputs).toEqual({ seen: 'hello' });
    expect(result.nodeErrors).toMatchObject([{ nodeId: 'stranger', error: { code: 'not_found' } }]);
    expect(result.error?.message).toContain('add an access grant');
  });
});

describe('checkpoints', () => {
  it('are independent of later writes, nested values included', () => {
    const store = storeOf({ list: { type: 'accumulator' }, map: {} });
    store.write('mem', 'map', { places: [1] });
    store.write('mem', 'list', 1, 'k');
    const before = store.snapshot();
    const live = store.read('mem', 'map');
    if (typeof live === 'object' && live !== null && 'places' in live && Array.isArray(live.places))
      live.places.push(2);
    store.write('mem', 'list', 2, 'k');
    store.restore(before);
    expect(store.snapshot()).toEqual(before);
    expect(store.read('mem', 'map')).toEqual({ places: [1] });
    expect(store.read('mem', 'list', 'k')).toEqual([1]);
  });
});
