// Built-in nodes: parsing text, history, chat, viewers, sources.
import { describe, expect, it } from 'vitest';
import { StudioError } from '../../base/errors.ts';
import { ContainerStore } from '../containers.ts';
import type { FiringContext, ForwardResult, NodeHandler, PortValues } from '../ports.ts';
import { graphOf, watch, type NodeSketch } from '../testing/graphs.ts';
import { toyCatalog } from '../testing/toy-nodes.ts';
import { builtinManifests, createBuiltinCatalog, manifestsWithBuiltins, withBuiltins } from './catalog.ts';
import type { ChatPort, ChatRequest } from './chat-port.ts';

function bind(nodeType: string, config: PortValues, chat?: ChatPort): NodeHandler {
  const type = createBuiltinCatalog(chat ? { chat } : {}).lookup(nodeType);
  if (!type) throw new Error(`no ${nodeType}`);
  return type.bind('node', { ...type.manifest.defaultConfig, ...config });
}

function contextOf(states: object = {}, granted: readonly string[] = []): FiringContext {
  const store = new ContainerStore(
    graphOf({}, [], { containers: [{ id: 'graph_state', states }] }).containers,
  );
  return {
    executionId: 'e',
    nodeId: 'node',
    step: 4,
    seed: 7,
    signal: new AbortController().signal,
    state: new Map(),
    containers: store.accessFor('node', granted),
    log: () => undefined,
    emitSignal: () => undefined,
  };
}

describe('the catalog', () => {
  it('has every built-in type of the format, each with a manifest that parses', () => {
    const types = builtinManifests.map((entry) => entry.nodeType).sort();
    expect(types).toEqual([
      'actionLog',
      'graphIn',
      'graphOut',
      'historyLog',
      'imageViewer',
      'iterIn',
      'iterOut',
      'llmCall',
      'metrics',
      'note',
      'nullSource',
      'pointCloudViewer',
      'textParse',
      'textScroll',
      'textViewer',
      'trajectoryViewer',
    ]);
  });

  it('stands in front of what nodesets provide', () => {
    const catalog = withBuiltins(toyCatalog());
    expect(catalog.lookup('note')?.manifest.nodeType).toBe('note');
    expect(catalog.lookup('t_inc')?.manifest.nodeType).toBe('t_inc');
    expect(catalog.lookup('nowhere')).toBeUndefined();
    expect(manifestsWithBuiltins({ manifestOf: () => undefined }).manifestOf('llmCall')?.kind).toBe('llm');
  });
});

describe('textParse', () => {
  const parse = (text: string, config: PortValues): ForwardResult | Promise<ForwardResult> =>
    bind('textParse', config).forward({ text }, contextOf());

  it.each([
    [
      {},
      'I think LEFT is best.\nSo: forward',
      { value: 'FORWARD', index: 1, rest: 'I think LEFT is best.\nSo:' },
    ],
    [{ scan: 'full_text' }, 'LEFT, not forward', { value: 'FORWARD', index: 1, rest: 'LEFT, not' }],
    [{ choices: 'A, B' }, 'nothing here', { value: '', index: -1, rest: 'nothing here' }],
    [{ choices: 'A,B', default: 'B' }, 'xyz', { value: 'B', index: 1, rest: 'xyz' }],
    [
      { mode: 'regex', pattern: 'mark:\\s*(\\d)' },
      'Your MARK: 3 ok',
      { value: '3', index: -1, rest: 'Your  ok' },
    ],
    [{ mode: 'regex', pattern: '(?P<n>a.c)' }, 'xa\ncx', { value: 'a\nc', index: -1, rest: 'xx' }],
    [{ mode: 'regex', pattern: 'z', default: 'none' }, 'abc', { value: 'none', index: -1, rest: 'abc' }],
    [
      { mode: 'json_field', json_key: 'plan.next' },
      'Sure: {"plan": {"next": "go"}} done',
      { value: 'go', index: -1 },
    ],
    [{ mode: 'json_field', json_key: 'n' }, '{"n": 3}', { value: '3', index: -1 }],
    [{ mode: 'json_field', json_key: 'toString', default: 'd' }, '{"n": 3}', { value: 'd', index: -1 }],
  ])('%j', (config, text, expected) => {
    expect(parse(text, config)).toMatchObject(expected);
  });

  it('says which pattern is none', () => {
    expect(() => bind('textParse', { mode: 'regex', pattern: '(' })).toThrow(
      "'(' is not a regular expression",
    );
  });
});

describe('historyLog', () => {
  it('gathers entries for the length of a run and leaves the oldest out', () => {
    const log = bind('historyLog', { max_entries: 2, template: '{step}) {entry}' });
    const context = contextOf();
    expect(log.forward({}, context)).toEqual({ history: '(no history yet)' });
    for (const entry of ['a', ' ', 'b', 'c']) void log.forward({ entry }, context);
    expect(log.forward({}, context)).toEqual({ history: '(...1 earlier steps omitted)\n4) b\n4) c' });
    expect(log.forward({}, contextOf())).toEqual({ history: '(no history yet)' });
  });
});

describe('llmCall', () => {
  function recording(): { readonly chat: ChatPort; readonly requests: ChatRequest[] } {
    const requests: ChatRequest[] = [];
    const complete = async (request: ChatRequest): Promise<{ responses: string[] }> => {
      requests.push(request);
      return { responses: ['yes', 'no'].slice(0, request.sampleCount) };
    };
    return { chat: { complete }, requests };
  }

  it('fails with what to do when no provider is set up', async () => {
    await expect(bind('llmCall', { template: 'x' }).forward({}, contextOf())).rejects.toMatchObject({
      code: 'unsupported',
    });
    const { result } = await watch(
      graphOf({ ask: 'llmCall', seed: { type: 't_const', config: { value: 'x' } } }, [
        'seed.value > ask.prompt',
      ]),
    );
    expect(result.error?.message).toContain('no chat provider is set up');
  });

  it('fills the template from inputs, pose, step and granted states', async () => {
    const { chat, requests } = recording();
    const node = bind(
      'llmCall',
      { template: 'S{step} {scene} {plan} {goal} {pos} {heading}', n: 2, temperature: 0.5, max_tokens: '' },
      chat,
    );
    const pose = { position: [1, 2, 3.456], orientation: [0, 0, 0, 1] };
    const outputs = await node.forward(
      { scene: 'room', pose, rgb: ['x'], system_prompt: 'be' },
      contextOf({ goal: { config: { initial_value: ['a', 'b'] } } }, ['graph_state']),
    );
    expect(outputs).toEqual({ response: 'yes', responses: ['yes', 'no'] });
    expect(requests[0]).toMatchObject({
      messages: [{ role: 'user', content: 'S4 room (no plan) a\nb 1.00, 2.00, 3.46 0.0' }],
      systemPrompt: 'be',
      images: ['x'],
      temperature: 0.5,
      maxTokens: undefined,
      sampleCount: 2,
      seed: 7,
    });
  });

  it('refuses a template variable that nothing can fill', async () => {
    const node = bind('llmCall', { template: '{typo} {scene}' }, recording().chat);
    await expect(node.forward({}, contextOf())).rejects.toThrow('{typo}, which is neither an input');
  });

  it('keeps a conversation in graph_state and writes its reply where it is told', async () => {
    const { chat, requests } = recording();
    const context = contextOf({ messages: { type: 'accumulator' }, last: {} }, ['graph_state']);
    const node = bind('llmCall', { mode: 'conversation', write_to_state: 'last' }, chat);
    await node.forward({ prompt: 'one' }, context);
    await node.forward({ prompt: 'two' }, context);
    expect(requests[1]?.messages.map((message) => message.content)).toEqual(['one', 'yes', 'two']);
    expect(context.containers.read('graph_state', 'last')).toBe('yes');
    const ungranted = bind('llmCall', { mode: 'conversation' }, chat).forward({ prompt: 'x' }, contextOf());
    await expect(ungranted).rejects.toBeInstanceOf(StudioError);
  });
});

describe('viewers and sources', () => {
  it('show what reached them and hold up nothing', async () => {
    const seen: unknown[] = [];
    const seed: NodeSketch = { type: 't_const', config: { value: 'hello' } };
    const { result, order } = await watch(
      graphOf({ seed, view: 'textViewer', note: 'note', empty: 'nullSource', any: 't_any' }, [
        'seed.value > view.text',
        'empty.value > any.a',
      ]),
      {
        listener: { onViewer: (event) => seen.push(event) },
      },
    );
    expect(result.status).toBe('completed');
    expect(seen).toEqual([{ nodeId: 'view', nodeType: 'textViewer', step: 0, fields: { text: 'hello' } }]);
    expect(order).toEqual(['seed', 'note', 'empty', 'view', 'any']);
  });
});
