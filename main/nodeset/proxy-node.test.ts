import { describe, expect, it } from 'vitest';
import type { NodeManifest } from '../contract/nodeset.ts';
import { nodeManifest } from '../contract/nodeset.ts';
import { StudioError } from '../base/errors.ts';
import { FireList, StopExecution } from '../graph/ports.ts';
import type { RepeatedFiring } from '../process/ports.ts';
import { deadlinesOf } from './deadlines.ts';
import type { HostLink, LinkCall } from './host-link.ts';
import { createProxyNodeType } from './proxy-node.ts';
import { firing } from './testing/firing.ts';

const manifest: NodeManifest = nodeManifest.parse({ nodeType: 'toy__act', displayName: 'Act' });

interface Sent {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly options: LinkCall;
}

/** A host that answers what it is told to. */
class ScriptedLink implements HostLink {
  readonly instance = 'toy#0';
  readonly sent: Sent[] = [];
  generation = 0;
  answer: unknown = { outputs: {} };

  call(method: string, params: unknown, options: LinkCall): Promise<unknown> {
    this.sent.push({ method, params: params as Sent['params'], options });
    return this.answer instanceof Error ? Promise.reject(this.answer) : Promise.resolve(this.answer);
  }
}

/** The same, of a host that knows nodes by handles. */
class HandlingLink extends ScriptedLink {
  readonly again: RepeatedFiring[] = [];
  #lastHandle = 0;

  takeHandle(): number {
    return ++this.#lastHandle;
  }

  fireAgain(again: RepeatedFiring): Promise<unknown> {
    this.again.push(again);
    return Promise.resolve(this.answer);
  }
}

const declared = { deadlinesSec: {}, startupTimeoutSec: 1800, hasEnvPanel: false };

function proxyOver(link: HostLink, isEnvironment = false): ReturnType<typeof createProxyNodeType> {
  return createProxyNodeType({
    manifest,
    link,
    isEnvironment,
    deadlines: deadlinesOf({ ...declared, hasEnvPanel: isEnvironment }),
  });
}

describe('a proxy node', () => {
  it('sends config and grants once per execution, and again to a process that does not know them', async () => {
    const link = new ScriptedLink();
    const handler = proxyOver(link).bind('n1', { speed: 2 });
    const told = (): boolean => link.sent.at(-1)?.params['config'] !== undefined;
    await handler.forward({}, firing({ granted: ['memory'] }));
    expect(link.sent[0]?.params).toEqual({
      type: 'toy__act',
      node: 'n1',
      exec: 'execution-1',
      step: 0,
      seed: 7,
      inputs: {},
      config: { speed: 2 },
      grants: ['memory'],
    });
    await handler.forward({}, firing());
    expect(told()).toBe(false);
    await handler.forward({}, firing({ executionId: 'execution-2' }));
    expect(told()).toBe(true);
    await handler.forward({}, firing({ executionId: 'execution-2' }));
    link.generation = 1;
    await handler.forward({}, firing({ executionId: 'execution-2' }));
    expect(told()).toBe(true);
  });

  it('names the node by its handle from the second firing on, where the host gives handles', async () => {
    const link = new HandlingLink();
    const handler = proxyOver(link).bind('n1', {});
    await handler.forward({ a: 1 }, firing());
    expect(link.sent[0]?.params).toMatchObject({ handle: 1, config: {} });
    await handler.forward({ a: 2 }, firing({ step: 1 }));
    expect(link.again).toEqual([{ handle: 1, step: 1, seed: 7, inputs: { a: 2 } }]);
    await handler.forward({}, firing({ executionId: 'execution-2' }));
    link.generation = 1;
    await handler.forward({}, firing({ executionId: 'execution-2' }));
    expect(link.sent.map(({ params }) => params['handle'])).toEqual([1, 2, 3]);
  });

  it('introduces the node again after a failure: the host may never have come to know it', async () => {
    const link = new HandlingLink();
    link.answer = new StudioError('remote_error', 'no luck');
    const handler = proxyOver(link).bind('n1', {});
    await expect(handler.forward({}, firing())).rejects.toThrow('no luck');
    link.answer = { outputs: {} };
    await handler.forward({}, firing());
    expect(link.sent.map(({ params }) => [params['handle'], params['config']])).toEqual([
      [1, {}],
      [2, {}],
    ]);
    expect(link.again).toEqual([]);
  });

  it('gives the first firing of a process the time models need, and an environment no more than a step', async () => {
    const link = new ScriptedLink();
    const nodeType = proxyOver(link);
    await nodeType.bind('n1', {}).forward({}, firing());
    await nodeType.bind('n2', {}).forward({}, firing());
    link.generation = 1;
    await nodeType.bind('n1', {}).forward({}, firing());
    await proxyOver(link, true).bind('n1', {}).forward({}, firing());
    expect(link.sent.map(({ options }) => [options.phase, options.timeoutMs])).toEqual([
      ['call', 1_800_000],
      ['call', 120_000],
      ['call', 1_800_000],
      ['step', 60_000],
    ]);
  });

  it('keeps to the deadlines a nodeset declares', () => {
    expect(
      deadlinesOf({ ...declared, deadlinesSec: { step: 1, reset: 2, call: 3, first_call: 4, close: 5 } }),
    ).toMatchObject({ stepMs: 1000, resetMs: 2000, callMs: 3000, firstCallMs: 4000, closeMs: 5000 });
    const ofSettings = { resetSec: 7, stepSec: 8, callSec: 9, firstCallSec: 10, closeSec: 11 };
    expect(deadlinesOf({ ...declared, deadlinesSec: { step: 1 } }, ofSettings)).toMatchObject({
      resetMs: 7000,
      stepMs: 1000,
      callMs: 9000,
      closeMs: 11_000,
    });
    expect(deadlinesOf({ ...declared, deadlinesSec: { step: 0, call: -1 } })).toMatchObject({
      stepMs: 60_000,
      callMs: 120_000,
      firstCallMs: 1_800_000,
    });
  });

  it.each([
    ['passthrough_last', { name: 'passthrough_last' }, { recipe: 'passthrough_last' }],
    ['passthrough_index', { name: 'passthrough_index', index: 2 }, { recipe: 'passthrough_index', index: 2 }],
    ['rename', { name: 'rename', names: { a: 'b' } }, { recipe: 'rename', names: { a: 'b' } }],
  ])('reads a fire list collapsed by %s', async (_name, recipe, collapse) => {
    const link = new ScriptedLink();
    link.answer = { fire_list: [{ node_type: 'x__y', inputs: { a: 1 }, capture_outputs: false }], recipe };
    const result = await proxyOver(link).bind('n1', {}).forward({}, firing());
    expect(result).toBeInstanceOf(FireList);
    expect(result).toMatchObject({
      collapse,
      firings: [{ nodeType: 'x__y', inputs: { a: 1 }, config: {}, captureOutputs: false }],
    });
  });

  it('collects of a fire list entry what it is told: all, nothing, or the named handles', async () => {
    const link = new ScriptedLink();
    const entry = { node_type: 'x__y' };
    link.answer = {
      fire_list: [entry, { ...entry, capture_outputs: false }, { ...entry, capture_outputs: ['a', 'b'] }],
      recipe: { name: 'merge_all' },
    };
    const result = await proxyOver(link).bind('n1', {}).forward({}, firing());
    expect(result).toMatchObject({
      firings: [{ captureOutputs: true }, { captureOutputs: false }, { captureOutputs: ['a', 'b'] }],
    });
  });

  it('ends the run as a normal end when the node asks for it, and fails on any other error', async () => {
    const link = new ScriptedLink();
    link.answer = new StudioError('remote_error', 'goal reached', {
      details: { remoteCode: 'stop_execution', type: 'StopExecution' },
    });
    const handler = proxyOver(link).bind('n1', {});
    await expect(handler.forward({}, firing())).rejects.toBeInstanceOf(StopExecution);
    await expect(handler.forward({}, firing())).rejects.toThrow('goal reached');
    link.answer = new StudioError('remote_error', 'broken', { details: { remoteCode: 'remote_error' } });
    await expect(handler.forward({}, firing())).rejects.toMatchObject({ code: 'remote_error' });
  });

  it.each([
    ['nothing', null],
    ['a text', 'done'],
    ['no outputs', { result: 1 }],
    ['outputs that are a list', { outputs: [1] }],
    ['a fire list of texts', { fire_list: ['x'], recipe: { name: 'merge_all' } }],
    ['an unknown recipe', { fire_list: [], recipe: { name: 'shuffle' } }],
    ['a log that is no list', { outputs: {}, log: 'text' }],
  ])('refuses an answer with %s and names host and node', async (_what, answer) => {
    const link = new ScriptedLink();
    link.answer = answer;
    await expect(proxyOver(link).bind('n1', {}).forward({}, firing())).rejects.toMatchObject({
      code: 'remote_error',
      message: expect.stringMatching(/toy#0 answered a firing of toy__act with/) as string,
    });
  });
});
