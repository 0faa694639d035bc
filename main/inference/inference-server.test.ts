import { describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { createFakeClock } from '../base/fake-clock.ts';
import type { BatchingConfig } from '../contract/eval-config.ts';
import { nodeManifest } from '../contract/nodeset.ts';
import type { NodeType, PortValues } from '../graph/ports.ts';
import type { BatchBackend } from '../nodeset/ports.ts';
import { createPythonFinder } from '../nodeset/hosts/python-finder.ts';
import { createInterpreterResolver } from '../nodeset/interpreter-resolver.ts';
import { createTestRegistry, pythonFolder, pythonInterpreter } from '../nodeset/testing/test-registry.ts';
import { BatchedInferenceServer } from './inference-server.ts';
import { firing } from './testing/model-folder.ts';

const interpreter = pythonInterpreter();
const greedy: BatchingConfig = { flushPolicy: 'greedy', flushTimeoutMs: 50 };
const rendezvous: BatchingConfig = { flushPolicy: 'rendezvous', flushTimeoutMs: 50 };

const nodeType: NodeType = {
  manifest: nodeManifest.parse({
    nodeType: 'toy__double',
    displayName: 'Double',
    batched: true,
    batchDim: 'x',
  }),
  bind: () => {
    throw new Error('the tier replaces it');
  },
};

interface Call {
  readonly config: PortValues;
  readonly samples: readonly PortValues[];
}

function doubling(calls: Call[]): BatchBackend {
  return {
    call(samples, config) {
      calls.push({ config, samples });
      return Promise.resolve(samples.map(({ x }) => ({ y: Number(x) * 2 })));
    },
    reset: () => Promise.resolve(),
  };
}

/** Deferred looks of the lanes run when told to. */
function deferring(): { readonly defer: (run: () => void) => void; readonly turn: () => Promise<void> } {
  const waiting: (() => void)[] = [];
  return {
    defer: (run) => void waiting.push(run),
    async turn() {
      for (let count = 0; count < 20; count++) await Promise.resolve();
      for (let run = waiting.shift(); run; run = waiting.shift()) run();
    },
  };
}

describe('the batched tier of a run', () => {
  it('has one lane per node and config: keys never mix', async () => {
    const calls: Call[] = [];
    const { defer, turn } = deferring();
    await using server = new BatchedInferenceServer({ clock: createFakeClock(), batching: greedy, defer });
    const batched = server.wrap(nodeType, doubling(calls));
    const bound = [
      batched.bind('a', { scale: 1, mode: 'x' }),
      batched.bind('a', { mode: 'x', scale: 1 }),
      batched.bind('a', { scale: 2, mode: 'x' }),
      batched.bind('b', { scale: 1, mode: 'x' }),
    ];
    // Everybody is known before anybody asks again.
    for (const round of [1, 2]) {
      calls.length = 0;
      const answers = bound.map(async (handler, index) =>
        handler.forward({ x: round * 10 + index }, firing(`execution${index}`)),
      );
      for (let count = 0; count < 3; count++) await turn();
      expect(await Promise.all(answers)).toEqual(bound.map((_, index) => ({ y: (round * 10 + index) * 2 })));
    }
    expect(calls.map(({ samples }) => samples.map(({ x }) => x))).toEqual([[20, 21], [22], [23]]);
    expect(server.views().map(({ nodePath, callers }) => [nodePath, callers])).toEqual([
      ['a', 2],
      ['a', 1],
      ['b', 1],
    ]);
  });

  it('no longer counts a caller whose execution ended, was aborted or was followed by another', async () => {
    const clock = createFakeClock();
    const { defer, turn } = deferring();
    await using server = new BatchedInferenceServer({ clock, batching: rendezvous, defer });
    const batched = server.wrap(nodeType, doubling([]));
    const handlers = [0, 1, 2].map(() => batched.bind('a', {}));
    const abort = new AbortController();
    const ask = async (worker: number, executionId: string, signal = abort.signal): Promise<void> => {
      const answer = handlers[worker]?.forward({ x: 1 }, firing(executionId, { signal }));
      await turn();
      await clock.advance(200);
      await answer;
    };
    const callers = (): number | undefined => server.views()[0]?.callers;
    await ask(0, 'first', new AbortController().signal);
    await ask(1, 'second');
    await ask(2, 'third', new AbortController().signal);
    expect(callers()).toBe(3);
    handlers[0]?.end?.('first');
    expect(callers()).toBe(2);
    abort.abort();
    expect(callers()).toBe(1);
    await ask(2, 'fourth', new AbortController().signal);
    expect(callers()).toBe(1);
  });

  it("takes a node's own policy from config.batching, and refuses what it does not know", async () => {
    const clock = createFakeClock();
    const calls: Call[] = [];
    const { defer, turn } = deferring();
    await using server = new BatchedInferenceServer({ clock, batching: greedy, defer });
    const batched = server.wrap(nodeType, doubling(calls));
    const config = { batching: { flushPolicy: 'rendezvous', flushTimeoutMs: 7 } };
    const [first, second] = [batched.bind('a', config), batched.bind('a', config)];
    await Promise.all([first.forward({ x: 1 }, firing('one')), clock.advance(0)]);
    const joined = second.forward({ x: 2 }, firing('two'));
    await turn();
    await clock.advance(6);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect([await joined, calls.length]).toEqual([{ y: 4 }, 2]);
    expect(() => batched.bind('a', { batching: { flushTimeout: 7 } })).toThrow(/node 'a', config\.batching/);
  });

  it('fails only the caller whose inputs cannot be used', async () => {
    const { defer, turn } = deferring();
    await using server = new BatchedInferenceServer({ clock: createFakeClock(), batching: greedy, defer });
    const batched = server.wrap(nodeType, {
      ...doubling([]),
      callerSide: () => ({
        sampleOf(inputs) {
          if (typeof inputs['x'] !== 'number') throw new RangeError('x is no number');
          return inputs;
        },
        outputsOf: (answer, context) => ({ ...answer, of: context.executionId }),
      }),
    });
    expect(() => batched.bind('a', {}).forward({ x: 'seven' }, firing('bad'))).toThrow('x is no number');
    const answer = batched.bind('a', {}).forward({ x: 7 }, firing('good'));
    await turn();
    expect(await answer).toEqual({ y: 14, of: 'good' });
  });
});

describe('batched nodes of nodesets', () => {
  it('of TypeScript gather across workers into one call', async () => {
    await using bench = await createTestRegistry(['calculator']);
    await bench.registry.scan();
    await using server = new BatchedInferenceServer({ clock: systemClock, batching: rendezvous });
    await using session = await bench.registry.ensureNodesetsForGraph(['calculator'], {
      replicaCount: 3,
      batching: server,
    });
    const handlers = session.initial.map(({ catalog }) =>
      catalog.lookup('calculator__double')?.bind('n', {}),
    );
    const ask = async (): Promise<unknown[]> =>
      await Promise.all(
        handlers.map(async (handler, index) => handler?.forward({ x: index }, firing(`worker${index}`))),
      );
    await ask();
    expect(await ask()).toEqual([
      { y: 0, of: 3 },
      { y: 2, of: 3 },
      { y: 4, of: 3 },
    ]);
  });

  it.skipIf(interpreter === '')(
    'of Python gather into one call_batch, and outlive a killed host',
    async () => {
      await using bench = await createTestRegistry(['talker'], { interpreter });
      const resolveInterpreter = createInterpreterResolver();
      const findPython = createPythonFinder({
        processes: bench.processes,
        clock: systemClock,
        interpreter: () => resolveInterpreter({ wanted: interpreter, baseFolder: '/' }),
        pythonFolder,
      });
      await using registry = bench.again({ findPython });
      await registry.scan();
      await using server = new BatchedInferenceServer({ clock: systemClock, batching: rendezvous });
      await using session = await registry.ensureNodesetsForGraph(['talker'], {
        replicaCount: 3,
        batching: server,
      });
      const handlers = session.initial.map(({ catalog }) => catalog.lookup('talker__shout')?.bind('n', {}));
      const ask = async (): Promise<PortValues[]> =>
        await Promise.all(
          handlers.map(async (handler, index) =>
            Promise.resolve(handler?.forward({ word: `w${index}` }, firing(`worker${index}`))).then(
              (outputs) => outputs as PortValues,
            ),
          ),
        );
      await ask();
      const together = await ask();
      expect(together.map(({ loud, of }) => [loud, of])).toEqual([
        ['W0', 3],
        ['W1', 3],
        ['W2', 3],
      ]);
      const pid = Number(together[0]?.['pid']);
      process.kill(pid, 'SIGKILL');
      const after = await ask();
      expect(after.map(({ loud }) => loud)).toEqual(['W0', 'W1', 'W2']);
      expect(after.map((outputs) => outputs['pid'])).not.toContain(pid);
    },
  );
});
