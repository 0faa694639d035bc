// Golden traces: for every rule of execution a small graph and its exact firing order.
import { describe, expect, it } from 'vitest';
import { graphOf, inputsOf, pivots, watch, type NodeSketch } from './testing/graphs.ts';
import { toy, toyCatalog, traceToys } from './testing/toy-nodes.ts';

const constant = (value: unknown): NodeSketch => ({
  type: 't_const',
  config: { value },
});
const ticker = (doneAfter = 0): NodeSketch => ({
  type: 't_counter',
  config: { done_after: doneAfter },
});
/** const -> in -> tick -> out, with `tick.done` as the loop's stop. */
const loopNodes = { seed: constant(7), ...pivots(['s'], ['u']), tick: ticker(3) };
const loopWires = [
  'seed.value > in.init_s',
  'in.init_s > tick.trigger',
  'in.iterout_u > tick.trigger',
  'tick.count > out.u',
  'tick.done > out.stop',
];

describe('entries and readiness', () => {
  it('fires entry nodes in document order, then first in first out', async () => {
    const graph = graphOf({ b: constant(2), a: constant(1), sum: 't_add', next: 't_inc' }, [
      'a.value > next.x',
      'a.value > sum.a',
      'b.value > sum.b',
    ]);
    expect((await watch(graph)).order).toEqual(['b', 'a', 'next', 'sum']);
  });

  it('waits for every required input, but for any one when none is required', async () => {
    const graph = graphOf({ a: constant(1), b: constant(2), all: 't_add', any: 't_any' }, [
      'a.value > all.a',
      'a.value > any.a',
      'b.value > any.b',
    ]);
    const watched = await watch(graph);
    expect(watched.order).toEqual(['a', 'b', 'any']);
    expect(inputsOf(watched, 'any')).toEqual([{ a: 1, b: 2 }]);
  });

  it('does not start a node that has an incoming wire or a required input', async () => {
    const graph = graphOf({ silent: 't_odd', fed: ticker(), lonely: 't_inc' }, ['silent.odd > fed.trigger']);
    expect((await watch(graph)).order).toEqual([]);
  });

  it('lets the last write win on a port, and fires a queued node once', async () => {
    const graph = graphOf({ a: constant(1), b: constant(2), next: 't_inc' }, [
      'a.value > next.x',
      'b.value > next.x',
    ]);
    const watched = await watch(graph);
    expect(watched.order).toEqual(['a', 'b', 'next']);
    expect(inputsOf(watched, 'next')).toEqual([{ x: 2 }]);
  });

  it('wraps a scalar, joins lists, and keeps wire order on a LIST port', async () => {
    const graph = graphOf({ a: constant(1), b: constant([2, 3]), c: constant(4), list: 't_list' }, [
      'a.value > list.items',
      'b.value > list.items',
      'c.value > list.items',
    ]);
    expect(inputsOf(await watch(graph), 'list')).toEqual([{ items: [1, 2, 3, 4] }]);
  });

  it('carries the whole output on a wire without a source handle, to the handle of that name', async () => {
    const graph = graphOf({ a: constant(5), any: 't_any', sink: 't_any' }, ['a > any.a', 'a > sink']);
    const watched = await watch(graph);
    expect(inputsOf(watched, 'any')).toEqual([{ a: { value: 5 } }]);
    expect(inputsOf(watched, 'sink')).toEqual([{ default: { value: 5 } }]);
  });
});

describe('one loop', () => {
  it('records, settles, decides and hands off at every boundary', async () => {
    const events: string[] = [];
    const graph = graphOf({ ...loopNodes, sink: 't_inc' }, [...loopWires, 'tick.count > sink.x']);
    const { result, order } = await watch(graph, {
      listener: {
        onStep: ({ step, isRoot }) => events.push(`step ${step} ${isRoot}`),
        onSignal: (name) => events.push(name),
        onFiringStart: ({ nodeId, phase }) => nodeId === 'sink' && events.push(`sink in ${phase}`),
      },
    });
    expect(order).toEqual([
      'seed',
      'in',
      'tick',
      'out',
      'sink',
      'in',
      'tick',
      'out',
      'sink',
      'in',
      'tick',
      'out',
      'sink',
    ]);
    expect(events.slice(0, 6)).toEqual([
      'run_start',
      'step_start',
      'step_end',
      'step 1 true',
      'sink in settle',
      'step_start',
    ]);
    expect(events.at(-1)).toBe('run_end');
    expect(result).toMatchObject({ status: 'completed', steps: 3, limit: null, scopes: { in: 3 } });
  });

  it('does not make an iteration of a bare stop', async () => {
    const graph = graphOf(
      { ...loopNodes, tick: ticker(1) },
      loopWires.filter((wire) => !wire.includes('out.u')),
    );
    expect((await watch(graph)).order).toEqual(['seed', 'in', 'tick']);
  });

  it('ends at the budget as a result, not an error', async () => {
    const { result } = await watch(graphOf({ ...loopNodes, tick: ticker() }, loopWires, { step_budget: 4 }));
    expect(result).toMatchObject({ status: 'completed', steps: 4, limit: 'step_budget' });
  });

  it('prefers the request to the graph, and the graph to 1000', async () => {
    const endless = { ...loopNodes, tick: ticker() };
    expect(
      (await watch(graphOf(endless, loopWires, { step_budget: 9 }), { stepBudget: 2 })).result.steps,
    ).toBe(2);
    expect((await watch(graphOf(endless, loopWires, { maxIterations: 5 }))).result.steps).toBe(5);
    expect((await watch(graphOf(endless, loopWires))).result.steps).toBe(1000);
    await expect(watch(graphOf(endless, loopWires), { stepBudget: 0 })).rejects.toThrow('at least 1, got 0');
  });

  it('empties slots without persist after the firing that emitted them, and keeps the others', async () => {
    const nodes = {
      seed: constant(7),
      ...pivots(
        [{ name: 'once' }, { name: 'always', persist: true }],
        [{ name: 'u' }, { name: 'gone', persist: false }],
      ),
      tick: ticker(2),
      sink: 't_any',
    };
    const graph = graphOf(nodes, [
      'seed.value > in.init_once',
      'seed.value > in.init_always',
      'in.init_always > tick.trigger',
      'tick.count > out.u',
      'tick.count > out.gone',
      'tick.done > out.stop',
    ]);
    expect(inputsOf(await watch(graph), 'in')).toEqual([
      { init_once: 7, init_always: 7 },
      { init_always: 7, iterout_u: 1, iterout_gone: 1 },
    ]);
  });

  it('waits for the required slots of an iterIn, else for any', async () => {
    const nodes = {
      a: constant(1),
      late: 't_inc',
      ...pivots([{ name: 'a' }, { name: 'b', required: true }], ['u']),
      tick: ticker(1),
    };
    const graph = graphOf(nodes, [
      'a.value > in.init_a',
      'a.value > late.x',
      'late.y > in.init_b',
      'in.init_b > tick.trigger',
      'tick.count > out.u',
      'tick.done > out.stop',
    ]);
    const watched = await watch(graph);
    expect(watched.order).toEqual(['a', 'late', 'in', 'tick', 'out']);
    expect(inputsOf(watched, 'in')).toEqual([{ init_a: 1, init_b: 2 }]);
  });

  it('emits a filled but empty slot to nobody, and lets a wire name a handle of its own', async () => {
    const nodes = {
      nothing: 'nullSource',
      seed: constant(3),
      ...pivots(['s'], ['u']),
      tick: ticker(1),
      any: 't_any',
    };
    const graph = graphOf(nodes, [
      'nothing.value > in.init_s',
      'seed.value > in.mine',
      'in.init_s > any.a',
      'in.mine > tick.trigger',
      'tick.count > out.u',
      'tick.done > out.stop',
    ]);
    const watched = await watch(graph);
    expect(watched.firings.find((firing) => firing.nodeId === 'in')?.outputs).toEqual({ step: 0, mine: 3 });
    expect(watched.order).not.toContain('any');
  });

  it('settles at most 64 firings of an iteration, and never an iterIn', async () => {
    const chain = Object.fromEntries(Array.from({ length: 80 }, (_none, index) => [`c${index}`, 't_inc']));
    const chainWires = Array.from({ length: 79 }, (_none, index) => `c${index}.y > c${index + 1}.x`);
    const graph = graphOf({ ...loopNodes, tick: ticker(1), ...chain }, [
      ...loopWires,
      'tick.count > c0.x',
      ...chainWires,
    ]);
    const { order } = await watch(graph);
    expect(order.filter((id) => /^c\d/.test(id))).toHaveLength(64);
  });

  it('hands off what the boundary carried, not what arrived while settling', async () => {
    const nodes = {
      ...loopNodes,
      ...pivots(['s'], [{ name: 'u' }, { name: 'v' }]),
      slow: 't_inc',
      slower: 't_inc',
    };
    const graph = graphOf(nodes, [
      ...loopWires,
      'tick.count > slow.x',
      'slow.y > slower.x',
      'slower.y > out.v',
    ]);
    const watched = await watch(graph);
    expect(inputsOf(watched, 'in')[1]).toEqual({ iterout_u: 1 });
    expect(watched.order.slice(3, 7)).toEqual(['out', 'slow', 'slower', 'out']);
    expect(watched.result.steps).toBe(3);
  });
});

describe('after the loop', () => {
  const verdictNodes = {
    ...loopNodes,
    judge: 't_inc',
    second: 't_add',
    score: { type: 'graphOut', config: { portName: 'score' } },
  };

  it('fires what the final side feeds once each, in dependency order, with the last values', async () => {
    const graph = graphOf(
      { ...verdictNodes, both: 't_any', ended: { type: 'graphOut', config: { portName: 'ended' } } },
      [
        ...loopWires,
        'out.final_u > both.a',
        'out.final_u > judge.x',
        'judge.y > second.a',
        'out.final_u > second.b',
        'second.sum > both.b',
        'second.sum > score.value',
        'out.final_stop > ended.value',
      ],
    );
    const watched = await watch(graph);
    expect(watched.order.slice(-3)).toEqual(['judge', 'second', 'both']);
    expect(inputsOf(watched, 'both')).toEqual([{ a: 3, b: 7 }]);
    expect(watched.result.outputs).toEqual({ score: 7, ended: true });
    expect(watched.result.harvest).toEqual({ score: 7, ended: 1 });
  });

  it('uses the last handed-off values when the run ended without a boundary', async () => {
    const graph = graphOf({ ...verdictNodes, fragile: { type: 't_fail', config: { at: 3 } } }, [
      'seed.value > in.init_s',
      'in.init_s > tick.trigger',
      'in.iterout_u > tick.trigger',
      'tick.count > fragile.x',
      'fragile.y > out.u',
      'out.final_u > judge.x',
      'judge.y > score.value',
    ]);
    const { result } = await watch(graph);
    expect(result).toMatchObject({ status: 'error', steps: 2, outputs: { score: 3 } });
    expect(result.nodeErrors).toMatchObject([{ nodeId: 'fragile', step: 2, phase: 'loop' }]);
  });

  it('harvests the numbers of a metrics port and of every other numeric port, finite or not', async () => {
    const graph = graphOf(
      {
        m: constant({ spl: 0.5, success: true, name: 'x', ndtw: null }),
        n: constant(2),
        t: constant('text'),
        metrics: { type: 'graphOut', config: { portName: 'metrics' } },
        length: { type: 'graphOut', config: { portName: 'length' } },
        note: { type: 'graphOut', config: { portName: 'note' } },
      },
      ['m.value > metrics.value', 'n.value > length.value', 't.value > note.value'],
    );
    expect((await watch(graph)).result.harvest).toEqual({ spl: 0.5, success: 1, length: 2 });
    const odd = toyCatalog([...traceToys, toy('t_nan', [], ['value'], () => ({ value: Number.NaN }))]);
    const nan = graphOf({ m: 't_nan', out: { type: 'graphOut', config: { portName: 'loss' } } }, [
      'm.value > out.value',
    ]);
    expect((await watch(nan, {}, odd)).result.harvest).toEqual({ loss: Number.NaN });
  });
});

describe('failures', () => {
  it('gives consumers of a failed node nothing, goes on, and ends with status error', async () => {
    const graph = graphOf(
      {
        a: constant(1),
        thrower: { type: 't_fail', config: { at: 1 } },
        teller: { type: 't_err', config: { at: 1 } },
        fine: 't_inc',
        never: 't_sink',
      },
      [
        'a.value > thrower.x',
        'a.value > teller.x',
        'a.value > fine.x',
        'thrower.y > never.x',
        'teller.error > never.x',
      ],
    );
    const { result, order } = await watch(graph);
    expect(order).toEqual(['a', 'thrower', 'teller', 'fine']);
    expect(result.status).toBe('error');
    expect(result.error).toMatchObject({
      code: 'node_failed',
      message: 'thrower at step 0: boom at 1; teller at step 0: bad 1',
    });
    expect(result.nodeErrors.map((failure) => failure.nodeId)).toEqual(['thrower', 'teller']);
  });

  it('does not convict a node that declares an error output', async () => {
    const catalog = toyCatalog([...traceToys, toy('t_says', [], ['error'], () => ({ error: 'only words' }))]);
    const { result, order } = await watch(
      graphOf({ says: 't_says', hears: 't_any' }, ['says.error > hears.a']),
      {},
      catalog,
    );
    expect(order).toEqual(['says', 'hears']);
    expect(result.status).toBe('completed');
  });

  it('records failures of settling and of the verdict stage too', async () => {
    const failing = (at: number): NodeSketch => ({ type: 't_fail', config: { at } });
    const graph = graphOf({ ...loopNodes, settler: failing(1), judge: failing(3) }, [
      ...loopWires,
      'tick.count > settler.x',
      'out.final_u > judge.x',
    ]);
    const { result } = await watch(graph);
    expect(result.nodeErrors.map(({ nodeId, phase }) => [nodeId, phase])).toEqual([
      ['settler', 'settle'],
      ['judge', 'verdict'],
    ]);
    expect(result.status).toBe('error');
  });

  it('ends at the first error when errors are strict', async () => {
    const nodes = { ...loopNodes, bad: { type: 't_err', config: { at: 2 } } };
    const { result } = await watch(graphOf(nodes, [...loopWires, 'tick.count > bad.x']), {
      strictErrors: true,
    });
    expect(result).toMatchObject({ status: 'error', steps: 2, error: { code: 'strict_errors' } });
  });

  it('ends normally when a node stops the execution, and still takes the verdict', async () => {
    const nodes = { ...loopNodes, halt: { type: 't_halt', config: { at: 3 } }, judge: 't_inc' };
    const graph = graphOf(nodes, [
      'seed.value > in.init_s',
      'in.init_s > tick.trigger',
      'in.iterout_u > tick.trigger',
      'tick.count > halt.x',
      'halt.y > out.u',
      'out.final_u > judge.x',
    ]);
    const { result, order } = await watch(graph);
    expect(result).toMatchObject({ status: 'completed', steps: 2, nodeErrors: [] });
    expect(order.at(-1)).toBe('judge');
  });

  it('refuses an unknown node type before anything fires', async () => {
    await expect(watch(graphOf({ a: constant(1), x: 'nowhere__tool' }, []))).rejects.toMatchObject({
      code: 'unknown_node_type',
      scope: { nodePath: 'x' },
    });
  });

  it('names a node that returns no object of outputs', async () => {
    const catalog = toyCatalog([toy('t_none', [], [], () => JSON.parse('null'))]);
    const { result } = await watch(graphOf({ none: 't_none' }, []), {}, catalog);
    expect(result.error?.message).toContain('got null');
  });

  it('cuts a bare circle at the firing cap', async () => {
    const { result } = await watch(
      graphOf(
        { a: ticker(), b: ticker(), go: constant(1) },
        ['go.value > a.trigger', 'a.count > b.trigger', 'b.count > a.trigger'],
        { step_budget: 5 },
      ),
    );
    expect(result).toMatchObject({ status: 'error', error: { code: 'firing_cap' } });
    expect(result.error?.message).toContain('fired 45 times');
  });
});
