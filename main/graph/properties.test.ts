// Properties over generated graphs: what validates ends within its budgets, independent parts do not notice each
// other, and interrupting a run changes nothing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GraphDefinition } from '../contract/graph.ts';
import { compileGraph } from './compile.ts';
import { LoopRunner, type RunResult } from './loop-runner.ts';
import { graphOf, pivots, type NodeSketch } from './testing/graphs.ts';
import { toyCatalog } from './testing/toy-nodes.ts';
import { hasErrors, validateGraph } from './validate/validate.ts';

const catalog = toyCatalog();
const manifests = { manifestOf: (type: string) => catalog.lookup(type)?.manifest };

interface Wired {
  readonly nodes: Readonly<Record<string, NodeSketch | string>>;
  readonly wires: readonly string[];
}

const bodyTypes: Readonly<Record<string, { readonly inputs: readonly string[]; readonly output: string }>> = {
  t_add: { inputs: ['a', 'b'], output: 'sum' },
  t_inc: { inputs: ['x'], output: 'y' },
  t_any: { inputs: ['a', 'b'], output: 'value' },
  t_list: { inputs: ['items', 'items'], output: 'total' },
  t_odd: { inputs: ['x'], output: 'odd' },
  t_err: { inputs: ['x'], output: 'y' },
  t_counter: { inputs: ['trigger'], output: 'count' },
};

/** A chain of body nodes after `first`; each input comes from an earlier one. */
function body(first: string, suffix: string): fc.Arbitrary<Wired & { readonly last: string }> {
  const step = fc.tuple(fc.constantFrom(...Object.keys(bodyTypes)), fc.nat(9), fc.nat(9));
  return fc.array(step, { maxLength: 5 }).map((steps) => {
    const outputs = [first];
    const nodes: Record<string, NodeSketch> = {};
    const wires: string[] = [];
    for (const [index, [type, ...sources]] of steps.entries()) {
      const { inputs, output } = bodyTypes[type] ?? { inputs: [], output: '' };
      const id = `b${index}${suffix}`;
      nodes[id] = { type, config: { at: 3 } };
      for (const [place, input] of inputs.entries())
        wires.push(`${outputs[(sources[place] ?? 0) % outputs.length]} > ${id}.${input}`);
      outputs.push(`${id}.${output}`);
    }
    return { nodes, wires, last: outputs.at(-1) ?? first };
  });
}

/** A loop around a body, perhaps with a loop inside, some budgets, some stops, and a verdict. */
function loopGraph(): fc.Arbitrary<GraphDefinition> {
  const budget = fc.integer({ min: 1, max: 5 });
  const parts = {
    outer: body('tick.count', ''),
    inner: body('tick2.count', 'i'),
    hasInner: fc.boolean(),
    persist: fc.boolean(),
    doneAfter: fc.nat(4),
    budget,
    innerBudget: fc.option(budget, { nil: undefined }),
    carryLast: fc.boolean(),
  };
  return fc
    .record(parts)
    .map(({ outer, inner, hasInner, persist, doneAfter, budget: outerBudget, innerBudget, carryLast }) => {
      const nodes: Record<string, NodeSketch | string> = {
        seed: { type: 't_const', config: { value: 2 } },
        ...pivots([{ name: 's', persist }], ['u']),
        tick: { type: 't_counter', config: { done_after: doneAfter, reset: true } },
        ...outer.nodes,
        judge: 't_inc',
        score: { type: 'graphOut', config: { portName: 'score' } },
      };
      const wires = [
        'seed.value > in.init_s',
        'in.init_s > tick.trigger',
        'in.iterout_u > tick.trigger',
        ...outer.wires,
        `${carryLast ? outer.last : 'tick.count'} > out.u`,
        'tick.done > out.stop',
        'out.final_u > judge.x',
        'judge.y > score.value',
      ];
      if (hasInner) {
        const innerPivots = pivots(['s'], ['u'], {
          suffix: '2',
          ...(innerBudget !== undefined && { budget: innerBudget }),
        });
        Object.assign(nodes, {
          enter: { type: 'graphIn', config: { portName: 'x' } },
          ...innerPivots,
          tick2: 't_counter',
          ...inner.nodes,
          leave: { type: 'graphOut', config: { portName: 'y' } },
        });
        wires.push(
          `${outer.last} > enter.value`,
          'enter.value > in2.init_s',
          'in2.init_s > tick2.trigger',
          'in2.iterout_u > tick2.trigger',
          ...inner.wires,
          `${inner.last} > out2.u`,
          'out2.final_u > leave.value',
          'leave.value > out.u',
        );
      }
      return graphOf(nodes, wires, { step_budget: outerBudget });
    });
}

function start(graph: GraphDefinition): LoopRunner {
  return new LoopRunner(compileGraph(graph, catalog), { executionId: 'property' });
}

/** What a run came to, without what only says where. */
function essence(result: RunResult): object {
  const { status, steps, limit, harvest, outputs, scopes, finalContainers, nodeErrors } = result;
  return {
    status,
    steps,
    limit,
    harvest,
    outputs,
    scopes,
    finalContainers,
    // At which iteration a part outside the loop fires depends on the queue, and so on the order in the file.
    errors: nodeErrors.map(({ nodeId }) => nodeId).sort(),
  };
}

describe('generated graphs', () => {
  it('end within their budgets when they validate', async () => {
    let valid = 0;
    await fc.assert(
      fc.asyncProperty(loopGraph(), async (graph) => {
        if (hasErrors(validateGraph(graph, manifests))) return;
        valid++;
        const runner = start(graph);
        const result = await runner.run();
        expect(result.steps).toBeLessThanOrEqual(runner.stepBudget);
        expect(result.error?.code).not.toBe('firing_cap');
        expect(result.error?.code).not.toBe('internal');
      }),
      { numRuns: 400 },
    );
    expect(valid).toBeGreaterThan(200);
  });

  it('give the same result however independent parts are ordered in the file', async () => {
    const pair = fc.record({
      a: loopGraph(),
      b: body('seed_b.value', 'x'),
      order: fc.infiniteStream(fc.nat(1)),
    });
    await fc.assert(
      fc.asyncProperty(pair, async ({ a, b, order }) => {
        const other = graphOf(
          {
            seed_b: { type: 't_const', config: { value: 1 } },
            ...b.nodes,
            out_b: { type: 'graphOut', config: { portName: 'b' } },
          },
          [...b.wires, `${b.last} > out_b.value`],
        );
        const merge = <Item>(one: readonly Item[], two: readonly Item[]): Item[] => {
          const result: Item[] = [];
          let [left, right] = [0, 0];
          while (left < one.length || right < two.length) {
            const takeLeft = right >= two.length || (left < one.length && order.next().value === 0);
            const next = takeLeft ? one[left++] : two[right++];
            if (next !== undefined) result.push(next);
          }
          return result;
        };
        const rename = other.edges.map((edge) => ({ ...edge, id: `b${edge.id}` }));
        const joined = { ...a, nodes: [...a.nodes, ...other.nodes], edges: [...a.edges, ...rename] };
        const mixed = { ...a, nodes: merge(a.nodes, other.nodes), edges: merge(a.edges, rename) };
        expect(essence(await start(mixed).run())).toEqual(essence(await start(joined).run()));
      }),
      { numRuns: 150, seed: 20_261_130 },
    );
  });

  it('come to the same when they are stepped and paused', async () => {
    await fc.assert(
      fc.asyncProperty(
        loopGraph(),
        fc.array(fc.constantFrom('firing', 'iteration'), { maxLength: 6 }),
        async (graph, steps) => {
          const whole = await start(graph).run();
          const runner = start(graph);
          for (const unit of steps) await runner.stepBy(unit);
          runner.resume();
          expect(essence(await runner.run())).toEqual(essence(whole));
        },
      ),
      { numRuns: 150, seed: 20_261_130 },
    );
  });
});
