// Controls of a run: pause, step, resume, stop, abort, delay, going back to a checkpoint.
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../base/fake-clock.ts';
import { compileGraph } from './compile.ts';
import { LoopRunner, type LoopRunnerOptions } from './loop-runner.ts';
import type { NodeCatalog } from './ports.ts';
import { graphOf, pivots, watch } from './testing/graphs.ts';
import { toy, toyCatalog, traceToys } from './testing/toy-nodes.ts';

const loop = (
  nodes: Record<string, string> = {},
  wires: readonly string[] = [],
  more: Record<string, unknown> = {},
): ReturnType<typeof graphOf> =>
  graphOf(
    { seed: { type: 't_const', config: { value: 1 } }, ...pivots(['s'], ['u']), tick: 't_counter', ...nodes },
    [
      'seed.value > in.init_s',
      'in.init_s > tick.trigger',
      'in.iterout_u > tick.trigger',
      'tick.count > out.u',
      ...wires,
    ],
    { step_budget: 4, ...more },
  );
const judged = loop({ judge: 't_inc', side: 't_inc' }, ['out.final_u > judge.x', 'tick.count > side.x']);

interface Observed {
  readonly runner: LoopRunner;
  readonly order: string[];
}

function observed(
  graph = judged,
  options: Partial<LoopRunnerOptions> = {},
  catalog: NodeCatalog = toyCatalog(),
): Observed {
  const order: string[] = [];
  const runner = new LoopRunner(compileGraph(graph, catalog), {
    executionId: 'test',
    ...options,
    listener: { ...options.listener, onFiringStart: ({ nodeId }) => order.push(nodeId) },
  });
  return { runner, order };
}

describe('pause and step', () => {
  it('fires exactly one node per step and then gives the same run as an uninterrupted one', async () => {
    const whole = await watch(judged);
    const { runner, order } = observed();
    for (let count = 1; count <= 5; count++) {
      await runner.stepBy('firing');
      expect(order).toHaveLength(count);
      expect(runner.state).toBe('paused');
    }
    runner.resume();
    const result = await runner.run();
    expect(order).toEqual(whole.order);
    expect(result).toEqual(whole.result);
  });

  it('steps to the end firing by firing, through settling and the verdict stage', async () => {
    const whole = await watch(judged);
    const { runner, order } = observed();
    let steps = 0;
    while (runner.state !== 'finished' && steps < 100) {
      await runner.stepBy('firing');
      steps++;
    }
    expect(order).toEqual(whole.order);
    expect(await runner.run()).toEqual(whole.result);
  });

  it('steps by one iteration of the root loop', async () => {
    const { runner } = observed();
    for (let step = 1; step <= 3; step++) {
      await runner.stepBy('iteration');
      expect([runner.step, runner.state]).toEqual([step, 'paused']);
    }
    await runner.stepBy('iteration');
    expect(runner.state).toBe('finished');
  });

  it('pauses before the next firing and resumes where it was', async () => {
    const states: string[] = [];
    const { runner, order } = observed(judged, { listener: { onState: (state) => states.push(state) } });
    runner.pause();
    const done = runner.run();
    await turn();
    expect(order).toEqual([]);
    runner.resume();
    expect((await done).steps).toBe(4);
    expect(states).toEqual(['running', 'paused', 'running', 'finished']);
  });
});

describe('stop and abort', () => {
  const endless = loop({}, [], { step_budget: 1_000_000_000 });

  it('stops a graph of purely synchronous nodes, and still takes the verdict', async () => {
    const graph = loop({ judge: 't_inc' }, ['out.final_u > judge.x'], { step_budget: 1_000_000_000 });
    const { runner, order } = observed(graph);
    const done = runner.run();
    setTimeout(() => void runner.stop(), 30);
    const result = await done;
    expect(result).toMatchObject({ status: 'stopped', limit: null });
    expect(result.error).toBeUndefined();
    expect(order.at(-1)).toBe('judge');
  });

  it('aborts by signal without a verdict', async () => {
    const controller = new AbortController();
    const { runner } = observed(endless, { signal: controller.signal });
    setTimeout(() => controller.abort(), 30);
    expect(await runner.run()).toMatchObject({ status: 'stopped' });
  });

  it('does not wait for a node that hangs, and tells it', async () => {
    let told = false;
    const hang = toy('t_hang', [], [], (_inputs, { signal }) => {
      signal.addEventListener('abort', () => (told = true));
      return new Promise(() => undefined);
    });
    const controller = new AbortController();
    const { runner } = observed(
      graphOf({ h: 't_hang' }, []),
      { signal: controller.signal },
      toyCatalog([hang]),
    );
    const done = runner.run();
    controller.abort();
    expect((await done).status).toBe('stopped');
    expect(told).toBe(true);
  });

  it('ends a paused run, and one that had not begun', async () => {
    const { runner } = observed();
    await runner.stepBy('firing');
    runner.abort();
    expect((await runner.run()).status).toBe('stopped');
    const controller = new AbortController();
    controller.abort();
    const other = observed(judged, { signal: controller.signal });
    expect((await other.runner.run()).status).toBe('stopped');
    expect(other.order).toEqual([]);
  });

  it('records an abort as no failure of the node it interrupted', async () => {
    const listens = toy('t_listens', [], [], (_inputs, { signal }) => {
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const { runner } = observed(graphOf({ l: 't_listens' }, []), {}, toyCatalog([listens]));
    const done = runner.run();
    runner.abort(new Error('enough'));
    expect(await done).toMatchObject({ status: 'stopped', nodeErrors: [] });
  });
});

describe('waiting', () => {
  it('gives the same result whether nodes answer at once or later', async () => {
    const later = traceToys.map((entry) => ({
      ...entry,
      forward: async (...call: Parameters<typeof entry.forward>) => {
        await turn();
        return entry.forward(...call);
      },
    }));
    const now = await watch(judged);
    const then = await watch(judged, {}, toyCatalog(later));
    expect(then.order).toEqual(now.order);
    expect(then.result).toEqual(now.result);
  });

  it('waits between iterations when asked to', async () => {
    const clock = createFakeClock();
    const { runner } = observed(judged, { clock, stepDelayMs: 500 });
    const done = runner.run();
    expect(runner.step).toBe(1);
    await clock.advance(499);
    expect(runner.step).toBe(1);
    await clock.advance(1);
    expect(runner.step).toBe(2);
    await clock.advance(2000);
    expect((await done).steps).toBe(4);
  });

  it('lets other work run in between', async () => {
    const { runner } = observed(loop({}, [], { step_budget: 30_000 }));
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await runner.run();
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
  });
});

describe('going back', () => {
  const remembering = loop({ note: 't_state' }, ['tick.count > note.x'], {
    containers: [
      { id: 'mem', states: { hist: { type: 'accumulator' }, last: {}, total: { type: 'counter' } } },
    ],
    access_grants: [{ id: 'g', node_id: 'note', container_id: 'mem' }],
  });

  it('restores containers, the counter and the next iteration to a kept step', async () => {
    const { runner } = observed(remembering, { checkpointLimit: 2 });
    for (let step = 0; step < 3; step++) await runner.stepBy('iteration');
    expect(runner.checkpoints()).toEqual([2, 3]);
    runner.restore(2);
    expect([runner.step, runner.checkpoints()]).toEqual([2, [2]]);
    runner.resume();
    const result = await runner.run();
    expect(result.steps).toBe(4);
    // The counter node keeps its own count, so it goes on from 4; what the container knew of step 3 is gone.
    expect(result.finalContainers).toEqual({ mem: { hist: [1, 4, 5], last: 5, total: 3 } });
  });

  it('refuses while running and for a step that was not kept', async () => {
    const { runner } = observed(remembering, { checkpointLimit: 2 });
    expect(() => runner.restore(1)).toThrow('pause the run');
    for (let step = 0; step < 3; step++) await runner.stepBy('iteration');
    expect(() => runner.restore(1)).toThrow('step 1 was not kept (kept: 2, 3)');
    runner.abort();
  });
});

describe('the end of a run', () => {
  it('tells every handler once, whatever the run came to', async () => {
    const ended: string[] = [];
    const builtins = toyCatalog();
    const catalog: NodeCatalog = {
      lookup(nodeType) {
        const type = builtins.lookup(nodeType);
        if (!type) return undefined;
        return {
          ...type,
          bind: (id, config) => ({
            ...type.bind(id, config),
            end: (execution) => ended.push(`${id} ${execution}`),
          }),
        };
      },
    };
    const graph = graphOf(
      { a: { type: 't_const', config: { value: 1 } }, bad: { type: 't_fail', config: { at: 1 } } },
      ['a.value > bad.x'],
    );
    expect((await watch(graph, {}, catalog)).result.status).toBe('error');
    expect(ended).toEqual(['a test', 'bad test']);
  });

  it('turns a listener that throws into an error result, never a rejection', async () => {
    const { result } = await watch(judged, {
      listener: {
        onStep: () => {
          throw new Error('recorder is full');
        },
      },
    });
    expect(result).toMatchObject({ status: 'error', error: { message: 'recorder is full' } });
  });
});
