// Loops inside loops and composites: membership, budgets, graphOuts that hold their value, renaming, joined wires.
import { describe, expect, it } from 'vitest';
import { flattenGraph } from './flatten.ts';
import { analyseScopes } from './scopes.ts';
import { graphOf, inputsOf, pivots, sketch, watch, type NodeSketch } from './testing/graphs.ts';

const constant = (value: unknown): NodeSketch => ({ type: 't_const', config: { value } });
const ticker = (doneAfter = 0): NodeSketch => ({
  type: 't_counter',
  config: { done_after: doneAfter, reset: true },
});
const boundary = (type: 'graphIn' | 'graphOut', portName: string): NodeSketch => ({
  type,
  config: { portName },
});

/** An outer loop whose body is an inner loop behind a graphIn and a graphOut. */
const nested = {
  seed: constant(1),
  ...pivots(['s'], [{ name: 'u', required: true }]),
  enter: boundary('graphIn', 'x'),
  ...pivots(['s'], ['u'], { suffix: '2', budget: 3 }),
  tick: ticker(),
  leave: boundary('graphOut', 'y'),
  after: 't_inc',
};
const nestedWires = [
  'seed.value > in.init_s',
  'in.init_s > enter.value',
  'in.iterout_u > enter.value',
  'enter.value > in2.init_s',
  'in2.init_s > tick.trigger',
  'in2.iterout_u > tick.trigger',
  'tick.count > out2.u',
  'out2.final_u > leave.value',
  'leave.value > after.x',
  'after.y > out.u',
];

describe('nested loops', () => {
  it('assigns every node to the innermost loop it is in', () => {
    const forest = analyseScopes(graphOf(nested, nestedWires));
    expect(forest.problems).toEqual([]);
    expect(forest.root?.id).toBe('in');
    expect(forest.scopes.map((scope) => [scope.id, scope.parentId])).toEqual([
      ['in', null],
      ['in2', 'in'],
    ]);
    const scopes = Object.fromEntries(Object.keys(nested).map((id) => [id, forest.scopeOf(id)]));
    expect(scopes).toEqual({
      seed: null,
      in: 'in',
      out: 'in',
      after: 'in',
      enter: 'in2',
      in2: 'in2',
      out2: 'in2',
      tick: 'in2',
      leave: 'in2',
    });
  });

  it('runs the inner loop to its own budget in every outer iteration and releases its last value', async () => {
    const watched = await watch(graphOf(nested, nestedWires, { step_budget: 2 }));
    expect(watched.result).toMatchObject({ status: 'completed', steps: 2, scopes: { in: 2, in2: 3 } });
    const inner = ['in2', 'tick', 'out2', 'in2', 'tick', 'out2', 'in2', 'tick', 'out2'];
    expect(watched.order).toEqual([
      'seed',
      'in',
      'enter',
      ...inner,
      'after',
      'out',
      'in',
      'enter',
      ...inner,
      'after',
      'out',
    ]);
    expect(inputsOf(watched, 'after')).toEqual([{ x: 3 }, { x: 6 }]);
  });

  it("gives a loop without a budget its parent's", async () => {
    const nodes = { ...nested, ...pivots(['s'], ['u'], { suffix: '2' }) };
    const { result } = await watch(graphOf(nodes, nestedWires, { step_budget: 4 }));
    expect(result.scopes).toEqual({ in: 4, in2: 4 });
  });

  it('bars the body of an inner loop that ended until its iterIn fires again', async () => {
    const nodes = { ...nested, late: 't_inc', later: 't_inc', tick: ticker(1) };
    const graph = graphOf(
      nodes,
      [
        ...nestedWires,
        'tick.done > out2.stop',
        'tick.count > late.x',
        'late.y > later.x',
        'later.y > out2.u',
      ],
      {
        step_budget: 1,
      },
    );
    const { order } = await watch(graph);
    expect(order.filter((id) => id === 'out2')).toHaveLength(2);
    expect(order.slice(order.lastIndexOf('out2') + 1)).toEqual(['after', 'out']);
  });

  it('lets an inner loop that fires more often than its outer budget end without a firing cap', async () => {
    const { result } = await watch(
      graphOf({ ...nested, ...pivots(['s'], ['u'], { suffix: '2', budget: 500 }) }, nestedWires, {
        step_budget: 3,
      }),
    );
    expect(result).toMatchObject({ status: 'completed', steps: 3, scopes: { in2: 500 } });
  });

  it('finds loops that overlap without nesting', () => {
    const graph = graphOf({ ...pivots([], ['u']), ...pivots([], ['u'], { suffix: '2' }), shared: 't_any' }, [
      'in.step > shared.a',
      'in2.step > shared.b',
      'shared.value > out.u',
      'shared.value > out2.u',
    ]);
    expect(analyseScopes(graph).problems.map((problem) => problem.rule)).toEqual(['scope-overlap']);
  });

  it('finds an iterIn that two iterOuts claim', () => {
    const nodes = {
      ...pivots([], ['u']),
      again: { type: 'iterOut', config: { pairedWith: 'in', ports: [{ name: 'u' }] } },
    };
    expect(analyseScopes(graphOf(nodes, [])).problems).toMatchObject([
      { rule: 'paired-twice', nodeId: 'again' },
    ]);
  });
});

describe('composites', () => {
  const box = (subgraph: object): NodeSketch => ({ type: 'compositeNode', subgraph });
  const doubling = sketch(
    { enter: boundary('graphIn', 'n'), sum: 't_add', leave: boundary('graphOut', 'twice') },
    ['enter.value > sum.a', 'enter.value > sum.b', 'sum.sum > leave.value'],
  );

  it('joins wires by port name and drops the boundary when there is no loop inside', async () => {
    const graph = graphOf({ a: constant(4), box: box(doubling), end: 't_inc' }, [
      'a.value > box.n',
      'box.twice > end.x',
    ]);
    const watched = await watch(graph);
    expect(watched.order).toEqual(['a', 'box__sum', 'end']);
    expect(inputsOf(watched, 'end')).toEqual([{ x: 8 }]);
    expect(watched.firings[1]?.path).toBe('box > sum');
  });

  it('joins composites to each other, to themselves inside others, and straight through', async () => {
    const passing = sketch({ i: boundary('graphIn', 'n'), o: boundary('graphOut', 'same') }, [
      'i.value > o.value',
    ]);
    const outer = sketch(
      {
        i: boundary('graphIn', 'n'),
        one: box(doubling),
        two: box(doubling),
        o: boundary('graphOut', 'four'),
      },
      ['i.value > one.n', 'one.twice > two.n', 'two.twice > o.value'],
    );
    const graph = graphOf({ a: constant(3), p: box(passing), q: box(outer), end: 't_inc' }, [
      'a.value > p.n',
      'p.same > q.n',
      'q.four > end.x',
    ]);
    const watched = await watch(graph);
    expect(watched.order).toEqual(['a', 'q__one__sum', 'q__two__sum', 'end']);
    expect(inputsOf(watched, 'end')).toEqual([{ x: 12 }]);
    expect(watched.firings[1]?.path).toBe('q > one > sum');
  });

  it('keeps the boundary when there is a loop inside, and gives the value of its last iteration once', async () => {
    const loop = sketch(
      {
        enter: boundary('graphIn', 'n'),
        ...pivots(['s'], ['u'], { budget: 3 }),
        tick: ticker(),
        leave: boundary('graphOut', 'count'),
      },
      [
        'enter.value > in.init_s',
        'in.init_s > tick.trigger',
        'in.iterout_u > tick.trigger',
        'tick.count > out.u',
        'tick.count > leave.value',
      ],
    );
    const around = { a: constant(1), ...pivots(['s'], ['u']), box: box(loop), end: 't_inc' };
    const graph = graphOf(
      around,
      [
        'a.value > in.init_s',
        'in.init_s > box.n',
        'in.iterout_u > box.n',
        'box.count > end.x',
        'end.y > out.u',
      ],
      {
        step_budget: 2,
      },
    );
    const watched = await watch(graph);
    expect(watched.result.scopes).toEqual({ in: 2, box__in: 3 });
    expect(inputsOf(watched, 'end')).toEqual([{ x: 3 }, { x: 6 }]);
  });

  it('renames pairings, containers and grants with the ids inside', () => {
    const inner = sketch({ ...pivots([], ['u']), t: 't_state' }, [], {
      containers: [{ id: 'mem', states: { hist: {} } }],
      access_grants: [{ id: 'g', node_id: 't', container_id: 'mem' }],
    });
    const { graph } = flattenGraph(graphOf({ box: box(inner) }, []));
    expect(graph.nodes.map((node) => [node.id, node.config.pairedWith])).toEqual([
      ['box__in', 'box__out'],
      ['box__out', 'box__in'],
      ['box__t', undefined],
    ]);
    expect(graph.containers[0]?.id).toBe('box__mem');
    expect(graph.access_grants[0]).toMatchObject({ node_id: 'box__t', container_id: 'box__mem' });
  });

  it('says composite > inner where an error happened', async () => {
    const inner = sketch({ i: boundary('graphIn', 'n'), bad: { type: 't_fail', config: { at: 1 } } }, [
      'i.value > bad.x',
    ]);
    const { result } = await watch(graphOf({ a: constant(1), box: box(inner) }, ['a.value > box.n']));
    expect(result.error).toMatchObject({
      message: 'box > bad at step 0: boom at 1',
      scope: { nodePath: 'box > bad', step: 0 },
    });
  });
});
