import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Tensor } from '../base/tensor.ts';
import { FireList, type NodeHandler } from '../graph/ports.ts';
import type { GraphSession, LoadStage, ReplicaSet } from './ports.ts';
import { firing, type FiringOptions } from './testing/firing.ts';
import { createTestRegistry, type TestRegistry } from './testing/test-registry.ts';

let test: TestRegistry;

beforeAll(async () => {
  test = await createTestRegistry([
    'counter.ts',
    'shared',
    'sleeper.ts',
    'calculator',
    'hangs-in-start.ts',
    'throws-at-initialize.ts',
  ]);
  await test.registry.scan();
});
afterAll(async () => {
  await test[Symbol.asyncDispose]();
});

function handlerIn(set: ReplicaSet, nodeType: string, nodeId = 'n1'): NodeHandler {
  const found = set.catalog.lookup(nodeType);
  if (!found) throw new Error(`no ${nodeType}`);
  return found.bind(nodeId, found.manifest.defaultConfig);
}

async function step(
  set: ReplicaSet,
  action: unknown,
  context: FiringOptions = {},
): Promise<Record<string, unknown>> {
  return (await handlerIn(set, 'counter__step').forward({ action }, firing(context))) as Record<
    string,
    unknown
  >;
}

async function counters(replicaCount: number): Promise<GraphSession> {
  return await test.registry.ensureNodesetsForGraph(['counter'], { replicaCount });
}

function firstOf(session: GraphSession): ReplicaSet {
  const [first] = session.initial;
  if (!first) throw new Error('no replica');
  return first;
}

/** Alive and not a zombie, as the kernel sees it. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a session', () => {
  it('starts one tagged process per worker and routes each worker to its own', async () => {
    await using session = await counters(4);
    expect(session.initial.map((set) => set.instances)).toEqual([
      ['counter#0'],
      ['counter#1'],
      ['counter#2'],
      ['counter#3'],
    ]);
    for (const [index, set] of session.initial.entries())
      for (let count = 0; count <= index; count++) await step(set, 'go');
    const last = await Promise.all(session.initial.map((set) => step(set, 'go')));
    expect(last.map(({ position }) => position)).toEqual([2, 3, 4, 5]);
    expect(last.map(({ pid }) => pid)).toEqual(session.initial.flatMap((set) => set.pids));
    expect(new Set(last.map(({ pid }) => pid)).size).toBe(4);
    expect(test.registry.list().find(({ name }) => name === 'counter')).toMatchObject({
      state: 'loaded',
      processes: { length: 4 },
    });
  });

  it('starts replicas in parallel', async () => {
    const stages: string[] = [];
    const onStage = ({ stage }: LoadStage): void => void stages.push(stage);
    await using session = await test.registry.ensureNodesetsForGraph(['sleeper'], {
      replicaCount: 4,
      onStage,
    });
    expect(session.initial).toHaveLength(4);
    // Ready takes 300 ms from the start: were they started in turn, a ready would come before the last start.
    const beforeFirstReady = stages.slice(0, stages.indexOf('ready'));
    expect(beforeFirstReady.filter((stage) => stage === 'resolving')).toHaveLength(4);
    expect(stages.filter((stage) => stage === 'ready')).toHaveLength(4);
  });

  it('drives the panel of its worker, and reads metadata from the running process', async () => {
    await using session = await counters(2);
    const [first, second] = session.initial;
    await first?.panel('counter').changeField('split', 'test');
    const state = await first?.panel('counter').changeField('episode_index', 2);
    expect(state).toMatchObject({
      values: { split: 'test', episode_index: 2 },
      episodeCount: 3,
      stepBudget: 10,
      currentEpisode: { episodeId: 'test-2' },
    });
    expect(await second?.panel('counter').load()).toMatchObject({
      values: { split: 'train', episode_index: 0 },
    });
    expect(await first?.panel('counter').options('split')).toEqual(['train', 'test']);
    expect(await first?.panel('counter').info()).toMatchObject({
      fields: [{ name: 'split', kind: 'select' }, { name: 'episode_index' }],
      actions: [{ name: 'play', sideEffect: 'run_start' }],
    });
    await step(firstOf(session), 'go');
    await first?.panel('counter').act('play', {});
    expect(await step(firstOf(session), 'go')).toMatchObject({ position: 1 });
    expect(session.envNodesets).toEqual(['counter']);
    expect(await session.evalMetadata('counter')).toMatchObject({
      envName: 'counter',
      episodeCounts: { train: 5, test: 3 },
      metrics: [
        { name: 'success', kind: 'rate', worst: 0 },
        { name: 'position', unit: 'steps' },
      ],
    });
  });

  it('carries seed, step, log, tensors and per-node state to the node and back', async () => {
    await using session = await counters(1);
    const handler = handlerIn(firstOf(session), 'counter__step');
    const context = firing({ step: 3, seed: 99 });
    const result = (await handler.forward({ action: 1 }, context)) as Record<string, unknown>;
    expect(result).toMatchObject({ step: 3, seed: 99, firings: 1 });
    expect(result['image']).toBeInstanceOf(Tensor);
    expect(context.logged).toEqual([['position', 'at 1']]);
    expect(await handler.forward({ action: 1 }, firing())).toMatchObject({ firings: 2 });
    // Another execution starts with empty state; the former one's is gone after its end.
    expect(await handler.forward({ action: 1 }, firing({ executionId: 'execution-2' }))).toMatchObject({
      firings: 1,
    });
    firstOf(session).endExecution('execution-1');
    handler.end?.('execution-1');
    expect(await handlerIn(firstOf(session), 'counter__ended').forward({}, firing())).toEqual({
      executions: ['execution-1'],
    });
  });

  it('lets a node reach containers in the engine, keyed and not, only those granted, and emit signals', async () => {
    await using session = await counters(1);
    const remember = handlerIn(firstOf(session), 'counter__remember');
    const stored = new Map<string, unknown>();
    const context = firing({ granted: ['memory'], stored });
    expect(await remember.forward({ value: 1 }, context)).toEqual({ before: null });
    expect(await remember.forward({ value: 2 }, context)).toEqual({ before: 1 });
    expect(await remember.forward({ value: 'blue', key: 'door' }, context)).toEqual({ before: null });
    expect([...stored]).toEqual([
      ['memory/last/', 2],
      ['memory/last/door', 'blue'],
    ]);
    await remember.forward({ value: 'evict', key: 'door' }, context);
    expect(stored.has('memory/last/door')).toBe(false);
    expect(context.signals).toEqual(['remembered', 'remembered', 'remembered', 'remembered']);
    const other = handlerIn(firstOf(session), 'counter__remember', 'n2');
    await expect(other.forward({ value: 1 }, firing({ nodeId: 'n2' }))).rejects.toThrow(
      /node "n2" has no grant for container "memory" \(granted: none\)/,
    );
  });

  it('hands fire lists to the executor and has the host aggregate them', async () => {
    await using session = await counters(1);
    const list = await handlerIn(firstOf(session), 'counter__fan').forward({ count: 2 }, firing());
    expect(list).toBeInstanceOf(FireList);
    const { firings, collapse } = list as FireList;
    expect(firings).toMatchObject([
      { nodeType: 'counter__step', inputs: { action: 0 }, captureOutputs: true },
      { nodeType: 'counter__step', inputs: { action: 1 } },
    ]);
    expect(
      collapse.recipe === 'own' && (await collapse.aggregate([{ position: 4 }, { position: 5 }])),
    ).toEqual({ sum: 9 });
  });

  it('puts shared nodesets and built-ins into the same catalog', async () => {
    await using session = await test.registry.ensureNodesetsForGraph(['calculator', 'counter'], {
      replicaCount: 2,
    });
    expect(session.report).toEqual({
      loaded: ['calculator', 'counter'],
      alreadyLoaded: [],
      failed: [],
      unknown: [],
    });
    const add = handlerIn(firstOf(session), 'calculator__add');
    expect(add.forward({ a: 1, b: 2 }, firing())).toEqual({ sum: 3 });
    expect(firstOf(session).catalog.lookup('note')).toBeDefined();
    expect(firstOf(session).catalog.lookup('nothing__here')).toBeUndefined();
    expect(session.manifests.manifestOf('counter__step')?.inputPorts).toHaveLength(1);
  });

  it('gives batched nodes of shared nodesets to the inference layer once for all workers', async () => {
    const wrapped: string[] = [];
    const batching = {
      wrap: (
        nodeType: Parameters<
          NonNullable<Parameters<TestRegistry['registry']['ensureNodesetsForGraph']>[1]['batching']>['wrap']
        >[0],
      ) => {
        wrapped.push(nodeType.manifest.nodeType);
        return nodeType;
      },
    };
    await using session = await test.registry.ensureNodesetsForGraph(['calculator', 'counter'], {
      replicaCount: 2,
      batching,
    });
    expect(wrapped).toEqual(['calculator__double']);
    expect(session.initial[0]?.catalog.lookup('calculator__double')).toBe(
      session.initial[1]?.catalog.lookup('calculator__double'),
    );
  });

  it('stops every process it started when it is disposed', async () => {
    const session = await counters(2);
    const pids = session.initial.flatMap((set) => set.pids);
    expect(pids.map(isAlive)).toEqual([true, true]);
    await session[Symbol.asyncDispose]();
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(await session.initial[0]?.death).toMatchObject({
      instance: 'counter#0',
      exitCode: 0,
      expected: true,
    });
    await expect(session.startReplicaSet(0)).rejects.toMatchObject({ code: 'aborted' });
    expect(test.registry.list().find(({ name }) => name === 'counter')).toMatchObject({
      state: 'found',
      processes: [],
    });
  });
});

describe('a start that fails', () => {
  it('takes everything down, names the reason and reports the stages', async () => {
    const stages: LoadStage[] = [];
    const before = test.processes.list().length;
    const starting = test.registry.ensureNodesetsForGraph(['counter', 'throws-at-initialize', 'calculator'], {
      replicaCount: 2,
      onStage: (stage) => stages.push(stage),
    });
    await expect(starting).rejects.toMatchObject({
      code: 'nodeset_failed',
      message: expect.stringMatching(
        /throws-at-initialize#\d could not be started: the scene data is not there/,
      ) as string,
      details: { stderrTail: expect.arrayContaining(['looking for the scene data']) as string[] },
    });
    expect(test.processes.list()).toHaveLength(before);
    expect(test.registry.list().find(({ name }) => name === 'calculator')).toMatchObject({ state: 'found' });
    const reported = stages.map(({ nodeset, stage }) => `${nodeset} ${stage}`);
    expect(reported).toEqual(
      expect.arrayContaining(
        ['starting', 'importing', 'initialising', 'failed'].map((stage) => `throws-at-initialize ${stage}`),
      ),
    );
    expect(test.registry.logTail('throws-at-initialize').join()).toMatch(
      /throws-at-initialize#\d: looking for the scene data/,
    );
  });

  it('gives up a nodeset that is stuck in a busy loop after its start-up time, and its process is gone', async () => {
    const startedMs = performance.now();
    const starting = test.registry.ensureNodesetsForGraph(['hangs-in-start'], { replicaCount: 1 });
    await expect(starting).rejects.toMatchObject({
      code: 'nodeset_failed',
      details: { causeCode: 'timeout' },
      scope: { phase: 'start' },
    });
    expect(performance.now() - startedMs).toBeLessThan(4000);
    expect(test.processes.list().filter(({ label }) => label.startsWith('hangs'))).toEqual([]);
  });

  it('is stopped by its signal with nothing left', async () => {
    const stop = new AbortController();
    const starting = test.registry.ensureNodesetsForGraph(['sleeper'], {
      replicaCount: 2,
      signal: stop.signal,
    });
    await delay(150);
    stop.abort();
    await expect(starting).rejects.toMatchObject({ code: 'aborted' });
    expect(test.processes.list().filter(({ label }) => label.startsWith('sleeper'))).toEqual([]);
  });

  it('names the nodesets that exist when one does not', async () => {
    await expect(test.registry.ensureNodesetsForGraph(['countr'], { replicaCount: 1 })).rejects.toMatchObject(
      {
        code: 'nodeset_unknown',
        message: expect.stringMatching(
          /no nodeset is named "countr"; known are: calculator, counter/,
        ) as string,
      },
    );
  });
});

describe('a replica that fails', () => {
  it('reports the signal that killed it, with phase and step, and is replaced by a fresh one', async () => {
    await using session = await counters(2);
    const first = firstOf(session);
    await step(first, 'go');
    await expect(step(first, 'kill', { step: 12 })).rejects.toMatchObject({
      code: 'process_died',
      message: expect.stringMatching(/counter#0.*SIGKILL/) as string,
      scope: { phase: 'step', step: 12, nodePath: 'n1' },
      details: { signal: 'SIGKILL' },
    });
    expect(await first.death).toMatchObject({ instance: 'counter#0', signal: 'SIGKILL', expected: false });
    await first[Symbol.asyncDispose]();
    const replacement = await session.startReplicaSet(0);
    expect(replacement.instances).toEqual(['counter#0']);
    expect(await step(replacement, 'go')).toMatchObject({ position: 1, pid: replacement.pids[0] });
    expect(await session.initial[1]?.panel('counter').load()).toMatchObject({ available: true });
  });

  it('reports the exit code of one that leaves, and the last lines it wrote', async () => {
    await using session = await counters(1);
    await expect(step(firstOf(session), 'exit')).rejects.toMatchObject({
      code: 'process_died',
      details: { exitCode: 3, signal: null },
    });
    await expect(step(firstOf(session), 'go')).rejects.toMatchObject({ code: 'process_died' });
  });

  it('ends a process in which something failed that nobody awaited, and says what', async () => {
    await using session = await counters(1);
    const first = firstOf(session);
    await step(first, 'late').catch(() => undefined);
    expect(await first.death).toMatchObject({
      exitCode: 70,
      expected: false,
      stderrTail: expect.arrayContaining([expect.stringMatching(/nobody awaits this/)]) as string[],
    });
    expect((await first.death).stderrTail.join(' ')).toMatch(/counter\.ts:\d+/);
  });

  it.each(['hang', 'wait'])(
    'judges one that does not answer (%s) within its own deadline, and it can be killed',
    async (action) => {
      await using session = await counters(1);
      const first = firstOf(session);
      const startedMs = performance.now();
      await expect(step(first, action, { step: 4 })).rejects.toMatchObject({
        code: 'timeout',
        message: expect.stringMatching(/counter#0 did not answer within 1 s/) as string,
        scope: { phase: 'step', step: 4 },
      });
      expect(performance.now() - startedMs).toBeLessThan(2000);
      await expect(first.panel('counter').load()).rejects.toMatchObject({ code: 'timeout' });
      await first.kill();
      expect(first.pids.map(isAlive)).toEqual([false]);
      expect(await first.death).toMatchObject({ expected: true });
    },
  );

  it.skipIf(process.platform === 'win32')(
    'judges one that is stopped, and kills it all the same',
    async () => {
      await using session = await counters(1);
      const first = firstOf(session);
      process.kill(first.pids[0] ?? 0, 'SIGSTOP');
      await expect(step(first, 'go')).rejects.toMatchObject({ code: 'timeout' });
      await first[Symbol.asyncDispose]();
      expect(first.pids.map(isAlive)).toEqual([false]);
    },
  );

  it('passes on what a node throws and goes on', async () => {
    await using session = await counters(1);
    await expect(step(firstOf(session), 'throw')).rejects.toMatchObject({
      code: 'remote_error',
      message: 'the action is out of range',
      scope: { phase: 'step', nodePath: 'n1' },
      details: { type: 'RangeError' },
    });
    await expect(step(firstOf(session), 'garbage')).rejects.toThrow(
      /forward of "step" returned string; return an object/,
    );
    expect(await step(firstOf(session), 'go')).toMatchObject({ position: 1 });
  });

  it('may print as much as it likes', async () => {
    await using session = await counters(1);
    expect(await step(firstOf(session), 'print')).toMatchObject({ position: 1 });
    await expect.poll(() => test.registry.logTail('counter').at(-1)).toMatch(/counter#0: line 19999/);
    expect(test.registry.logTail('counter')).toHaveLength(200);
  });

  it('aborts a call in flight without harm to the process', async () => {
    await using session = await counters(1);
    const stop = new AbortController();
    const waiting = step(firstOf(session), 'wait', { signal: stop.signal });
    await delay(50);
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    expect(await step(firstOf(session), 'go')).toMatchObject({ position: 1 });
  });
});
