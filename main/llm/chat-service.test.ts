// Language models against a loopback endpoint that speaks the real protocols and misbehaves on demand.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Tensor } from '../base/tensor.ts';
import type { ChatRequest } from '../graph/ports.ts';
import { askWith, canary, direct, setUpChat, type ChatSetup } from './testing/chat-setup.ts';
import {
  ok,
  startLoopbackEndpoint,
  tokensPerReply,
  type Behaviour,
  type LoopbackEndpoint,
} from './testing/loopback-endpoint.ts';

const never = new AbortController().signal;
let endpoint: LoopbackEndpoint;
let setup: ChatSetup;

beforeEach(async () => {
  endpoint = await startLoopbackEndpoint();
  setup = await setUpChat(endpoint.baseUrl);
});

afterEach(async () => {
  await setup[Symbol.asyncDispose]();
  await endpoint[Symbol.asyncDispose]();
});

const ask = (change: Partial<ChatRequest> = {}, signal = never) =>
  setup.chat.complete(askWith(change), signal);
const usage = (executionId = 'run-1/ep/1.1') => setup.chat.usageOf(executionId);

/** Misbehaves once for each given behaviour, then answers. */
function first(...behaviours: readonly Behaviour[]): void {
  endpoint.answer(({ index }) => behaviours[index] ?? ok('go to 3'));
}

describe.each(['local', 'whole', 'claude', 'gpt'])('the provider "%s"', (provider) => {
  it('answers, says its model and its tokens, and is sent the key', async () => {
    endpoint.answer(ok('I choose 2'));
    const reply = await ask({
      ...direct(provider),
      systemPrompt: 'You navigate.',
      maxTokens: 50,
      stop: ['END'],
    });
    expect(reply.responses).toEqual(['I choose 2']);
    expect(reply.model).toMatch(/^m1-/);
    expect(reply.usage).toMatchObject({
      input_tokens: tokensPerReply.input,
      output_tokens: tokensPerReply.output,
      finish: 'stop',
    });
    const [call] = endpoint.calls;
    expect(call?.key).toBe(canary);
    expect(call?.body['stream'] ?? false).toBe(provider !== 'whole');
    expect(JSON.stringify(call?.body)).toContain('You navigate.');
  });

  it('sends an array as a picture', async () => {
    const picture = new Tensor('uint8', [2, 3, 3], new Uint8Array(18).fill(200));
    await ask({
      ...direct(provider),
      images: [picture, 'AAAA'],
      imageLabels: ['ahead'],
      imageDetail: 'high',
      imageMime: 'image/jpeg',
    });
    const sent = JSON.stringify(endpoint.calls[0]?.body);
    expect(sent).toContain('iVBORw0KGgo');
    expect(sent).toContain('image/jpeg');
    expect(sent).toContain('ahead');
    expect(sent.includes('"detail":"high"')).toBe(provider !== 'claude');
  });

  it.each<readonly [string, Behaviour]>([
    ['429 with a hint in milliseconds', { kind: 'status', status: 429, headers: { 'retry-after-ms': '30' } }],
    ['429 with a hint in seconds', { kind: 'status', status: 429, headers: { 'retry-after': '0.05' } }],
    ['429 without a hint', { kind: 'status', status: 429 }],
    ['500', { kind: 'status', status: 500 }],
    ['529', { kind: 'status', status: 529 }],
    ['wrong JSON', { kind: 'garbage' }],
    ...(provider === 'whole'
      ? []
      : ([
          ['a torn connection', { kind: 'cut', text: 'go to' }],
          ['a stream that ends early', { kind: 'short', text: 'go to' }],
          ['an error inside the stream', { kind: 'stream_error', message: 'overloaded' }],
        ] as const)),
  ])('is asked again after %s', async (_name, behaviour) => {
    first(behaviour);
    const reply = await ask(direct(provider));
    expect(reply.responses).toEqual(['go to 3']);
    expect(reply.usage).toMatchObject({ retries: 1 });
    expect(endpoint.calls).toHaveLength(2);
  });

  it('gives a refusal as an answer that says so, and does not ask again', async () => {
    endpoint.answer({ kind: 'refusal' });
    const reply = await ask(direct(provider));
    expect(reply.responses).toEqual(['']);
    expect(reply.usage).toMatchObject({ finish: 'content-filter' });
    expect(endpoint.calls).toHaveLength(1);
  });

  it.each([
    [400, 'remote_error'],
    [401, 'unauthorized'],
    [404, 'remote_error'],
  ])('is not asked again after %i', async (status, code) => {
    endpoint.answer({ kind: 'status', status, message: `the key ${canary} is wrong` });
    const failed = ask(direct(provider));
    await expect(failed).rejects.toMatchObject({ code, details: { status, tries: 1 } });
    await expect(failed).rejects.toThrow('[redacted]');
    await expect(failed).rejects.not.toThrow(canary);
    expect(endpoint.calls).toHaveLength(1);
    expect(usage()).toMatchObject({ calls: 1, failed: 1 });
  });
});

describe('trying again', () => {
  it('waits as long as the endpoint asks', async () => {
    first({ kind: 'status', status: 429, headers: { 'retry-after-ms': '400' } });
    await ask();
    const [before, after] = endpoint.calls;
    expect((after?.atMs ?? 0) - (before?.atMs ?? 0)).toBeGreaterThanOrEqual(395);
  });

  it('gives up at once when the hint lies beyond the deadline, and says both', async () => {
    endpoint.answer({ kind: 'status', status: 429, headers: { 'retry-after': '3600' } });
    await expect(ask()).rejects.toThrow(/asks to wait 3600 s, which is beyond the 600 s/);
    expect(endpoint.calls).toHaveLength(1);
  });

  it('does not wait for a quota that is used up', async () => {
    endpoint.answer({
      kind: 'status',
      status: 429,
      code: 'insufficient_quota',
      message: 'You exceeded your current quota',
    });
    await expect(ask()).rejects.toThrow(/exceeded your current quota/);
    expect(endpoint.calls).toHaveLength(1);
  });

  it('ends after the tries of the settings', async () => {
    setup.settings = { ...setup.settings, retries: 2 };
    endpoint.answer({ kind: 'status', status: 503, headers: { 'retry-after-ms': '5' } });
    await expect(ask()).rejects.toThrow(/gave no reply after 3 tries \(503\)/);
    expect(endpoint.calls).toHaveLength(3);
    expect(usage()).toMatchObject({ calls: 1, failed: 1, retries: 2 });
  });

  it('ends a try that takes too long, and the call at its deadline', async () => {
    setup.settings = { ...setup.settings, trySec: 0.3, callSec: 1, retries: 20 };
    endpoint.answer({ kind: 'silence' });
    const startedMs = performance.now();
    await expect(ask()).rejects.toThrow(/beyond the 1 s a call may take: no complete reply within [\d.]+ s/);
    expect(performance.now() - startedMs).toBeLessThan(2000);
    expect(endpoint.calls.length).toBeGreaterThanOrEqual(1);
  });

  it('ends a slow stream at the deadline of its try', async () => {
    setup.settings = { ...setup.settings, trySec: 0.3, retries: 0 };
    endpoint.answer({ kind: 'reply', text: 'a b c d e f g h i j k l m n', betweenMs: 100 });
    await expect(ask()).rejects.toThrow(/no complete reply within 0.3 s/);
  });

  it('says that nobody listens', async () => {
    setup.settings = { ...setup.settings, retries: 0 };
    await endpoint.close();
    await expect(ask()).rejects.toThrow(/local gave no reply: .*ECONNREFUSED/);
  });

  it('ends a reply without end, in bounded memory, and does not ask again', async () => {
    endpoint.answer({ kind: 'huge' });
    await expect(ask()).rejects.toThrow(/the reply is larger than 16 MB/);
    expect(endpoint.calls).toHaveLength(1);
    await expect.poll(() => endpoint.calls[0]?.wasDropped).toBe(true);
  });
});

describe('concurrency', () => {
  it('holds for eight workers that ask together, whatever the provider is called', async () => {
    setup.settings = {
      ...setup.settings,
      providers: setup.settings.providers.map((provider) => ({ ...provider, concurrency: 3 })),
    };
    endpoint.answer({ kind: 'reply', text: 'x', firstMs: 30 });
    const asked = Array.from({ length: 8 }, (_item, worker) =>
      Promise.all(
        ['local', 'whole', 'local'].map((provider, nth) =>
          ask({ ...direct(provider), executionId: `run-1/${worker}/1.1`, step: nth }),
        ),
      ),
    );
    await Promise.all(asked);
    expect(endpoint.calls).toHaveLength(24);
    expect(endpoint.mostAtOnce).toBe(3);
  });

  it('keeps the others from asking while a key is told to wait', async () => {
    first({ kind: 'status', status: 429, headers: { 'retry-after-ms': '300' } });
    const slow = ask();
    await expect.poll(() => endpoint.calls.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await Promise.all([slow, ask({ step: 1 }), ask({ step: 2 })]);
    const [refused, ...later] = endpoint.calls;
    for (const call of later) expect(call.atMs - (refused?.atMs ?? 0)).toBeGreaterThanOrEqual(290);
  });
});

describe('stopping', () => {
  it.each<readonly [string, Behaviour]>([
    ['waiting for the first byte', { kind: 'silence' }],
    ['a reply is coming', { kind: 'reply', text: 'a '.repeat(1000), betweenMs: 20 }],
    ['waiting to try again', { kind: 'status', status: 429, headers: { 'retry-after': '100' } }],
  ])('ends a call within a second while %s', async (_name, behaviour) => {
    endpoint.answer(behaviour);
    const stop = new AbortController();
    const call = ask({}, stop.signal);
    call.catch(() => undefined);
    await expect.poll(() => endpoint.calls.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 80));
    const stoppedMs = performance.now();
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(performance.now() - stoppedMs).toBeLessThan(1000);
    // An answer of 429 was over before.
    await expect.poll(() => endpoint.calls[0]?.wasDropped).toBe(behaviour.kind !== 'status');
    expect(endpoint.calls).toHaveLength(1);
  });

  it('ends calls that wait for a slot', async () => {
    setup.settings = {
      ...setup.settings,
      providers: setup.settings.providers.map((each) => ({ ...each, concurrency: 1 })),
    };
    endpoint.answer({ kind: 'silence' });
    const stop = new AbortController();
    const calls = [ask({}, stop.signal), ask({ step: 1 }, stop.signal)];
    for (const call of calls) call.catch(() => undefined);
    await expect.poll(() => endpoint.calls.length).toBe(1);
    stop.abort();
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(endpoint.calls).toHaveLength(1);
  });
});

describe('account', () => {
  it('adds up tokens and cost per execution, cached input at its own price', async () => {
    setup.settings = {
      ...setup.settings,
      profiles: setup.settings.profiles.map((each) => ({ ...each, cachedInputUsdPerMillion: 0.5 })),
    };
    for (let step = 0; step < 3; step++) await ask({ step });
    await ask({ executionId: 'run-1/other/1.1' });
    const { input, output, cached } = tokensPerReply;
    const each = ((input - cached) * 2 + cached * 0.5 + output * 10) / 1e6;
    expect(usage()).toMatchObject({
      calls: 3,
      inputTokens: 3 * input,
      outputTokens: 3 * output,
      models: ['m1-0613'],
    });
    expect(usage()?.costUsd).toBeCloseTo(3 * each, 12);
    expect(usage('run-1/other/1.1')).toMatchObject({ calls: 1 });
  });

  it('knows no cost without a price, and none of a sum with such a call', async () => {
    await ask();
    expect(usage()?.costUsd).toBeGreaterThan(0);
    await ask({ profile: 'unpriced', step: 1 });
    expect(usage()).toMatchObject({ calls: 2, costUsd: null, inputTokens: 2 * tokensPerReply.input });
  });

  it('asks once per sample, each with a seed of its own that repeats', async () => {
    endpoint.answer(({ index }) => ok(`sample ${index}`));
    const reply = await ask({ sampleCount: 3 });
    expect([...reply.responses].sort()).toEqual(['sample 0', 'sample 1', 'sample 2']);
    const seeds = endpoint.calls.map(({ body }) => body['seed']);
    expect(new Set(seeds).size).toBe(3);
    await ask({ sampleCount: 3, executionId: 'run-2/ep/1.1' });
    expect(new Set(endpoint.calls.slice(3).map(({ body }) => body['seed']))).toEqual(new Set(seeds));
  });

  it('sends no temperature, no limit and no seed where none is wanted', async () => {
    setup.settings = {
      ...setup.settings,
      providers: setup.settings.providers.map((each) => ({ ...each, sendsSeed: false })),
    };
    await ask();
    expect(Object.keys(endpoint.calls[0]?.body ?? {}).sort()).toEqual([
      'messages',
      'model',
      'stream',
      'stream_options',
    ]);
  });
});

it('tells the text of a reply while it comes, without keys', async () => {
  endpoint.answer(ok(`one ${canary} three`));
  const told: string[] = [];
  using _listening = setup.chat.onProgress(({ text, isDone }) => void told.push(isDone ? `${text}.` : text));
  await ask();
  expect(told).toEqual(['one', 'one [redacted]', 'one [redacted] three', 'one [redacted] three.']);
});

describe('calls of Python nodesets', () => {
  const context = { ...askWith(), containers: {}, state: new Map(), signal: never } as never;

  it('take messages in the form of OpenAI', async () => {
    endpoint.answer(ok('seen'));
    const answer = await setup.chat.answerHost(
      {
        messages: [
          { role: 'system', content: 'Be short.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What?' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgoAAA==' } },
            ],
          },
        ],
        profile: 'priced',
        max_tokens: 5,
      },
      never,
      context,
    );
    expect(answer).toMatchObject({
      text: 'seen',
      texts: ['seen'],
      usage: { input_tokens: tokensPerReply.input },
    });
    expect(endpoint.calls[0]?.body['max_tokens']).toBe(5);
    expect(usage()).toMatchObject({ calls: 1 });
  });

  it.each([
    [{}, /messages/],
    [{ messages: [{ role: 'tool', content: '' }] }, /role/],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'http://x/y.png' }] }] },
      /data: address/,
    ],
  ])('are refused when they are not of that form: %j', async (params, words) => {
    await expect(setup.chat.answerHost(params, never, context)).rejects.toThrow(words);
  });
});

describe('keys', () => {
  it('are missing for whom there is none, with what to do', async () => {
    const config = { profile: '', replies: 'live', repliesFrom: '' } as const;
    const nodes = [
      { profile: 'priced', provider: '', model: '' },
      { profile: '__direct__', provider: 'keyless', model: 'm' },
      { profile: 'nobody', provider: '', model: '' },
    ];
    expect(await setup.chat.missingKeys(nodes, config)).toEqual([
      { provider: 'keyless', fix: 'set it in Settings > Language models' },
      { provider: 'a language model', fix: expect.stringContaining('no model is named "nobody"') as string },
    ]);
    expect(await setup.chat.missingKeys(nodes, { ...config, replies: 'replay' })).toEqual([]);
    await expect(ask(direct('keyless'))).rejects.toThrow('there is no key for keyless');
    await setup.chat.setKey('keyless', canary);
    await setup.chat.setKey('not-yet-saved', canary);
    const { providers } = await setup.chat.status();
    expect(providers.filter(({ key }) => key === 'file').map(({ name }) => name)).toEqual([
      'keyless',
      'not-yet-saved',
    ]);
    expect(await ask(direct('keyless'))).toMatchObject({ responses: ['ok'] });
  });

  it('are tested with one call', async () => {
    const [provider] = setup.settings.providers;
    if (!provider) throw new Error('no provider');
    expect(await setup.chat.test(provider, 'm1', never)).toMatchObject({
      ok: true,
      message: 'It answered: ok',
      model: 'm1-0613',
    });
    endpoint.answer({ kind: 'status', status: 401, message: `Incorrect API key provided: ${canary}` });
    const failed = await setup.chat.test(provider, 'm1', never);
    expect(failed).toMatchObject({ ok: false });
    expect(failed.message).toContain('Incorrect API key provided: [redacted]');
  });
});
