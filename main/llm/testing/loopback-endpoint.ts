// An endpoint on this machine that speaks OpenAI's chat completions and Anthropic's messages as they are, streamed and
// whole, and misbehaves on demand. Tests tell it call by call what to do.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

export type Behaviour =
  | { readonly kind: 'reply'; readonly text: string; readonly firstMs?: number; readonly betweenMs?: number }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly message?: string;
      readonly code?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** The connection is torn in the middle of the reply. */
  | { readonly kind: 'cut'; readonly text: string }
  /** The stream ends in good order, but too early. */
  | { readonly kind: 'short'; readonly text: string }
  /** JSON that cannot be parsed. */
  | { readonly kind: 'garbage' }
  /** An error object inside a stream that began well. */
  | { readonly kind: 'stream_error'; readonly message: string }
  /** Never stops sending. */
  | { readonly kind: 'huge' }
  | { readonly kind: 'refusal' }
  /** Takes the request and says nothing. */
  | { readonly kind: 'silence' };

export interface SeenCall {
  readonly index: number;
  readonly path: string;
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly atMs: number;
  /** True once the caller went away before the reply was over. */
  wasDropped: boolean;
}

export interface LoopbackEndpoint extends AsyncDisposable {
  /** With `/v1`. */
  readonly baseUrl: string;
  readonly calls: readonly SeenCall[];
  /** Most calls it ever had open at once. */
  readonly mostAtOnce: number;
  /** What it does from now on. */
  answer(behaviour: Behaviour | ((call: SeenCall) => Behaviour)): void;
  /** Refuses connections from now on. */
  close(): Promise<void>;
}

export const tokensPerReply = { input: 11, output: 7, cached: 4 };

export async function startLoopbackEndpoint(first: Behaviour = ok('ok')): Promise<LoopbackEndpoint> {
  const calls: SeenCall[] = [];
  let open = 0;
  let mostAtOnce = 0;
  let decide: (call: SeenCall) => Behaviour = () => first;
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    mostAtOnce = Math.max(mostAtOnce, ++open);
    response.once('close', () => open--);
    const call = {
      ...(await seen(request)),
      index: calls.length,
      atMs: performance.now(),
      wasDropped: false,
    };
    calls.push(call);
    response.once('close', () => (call.wasDropped = !response.writableFinished));
    await act(decide(call), call, response);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    get mostAtOnce() {
      return mostAtOnce;
    },
    answer: (behaviour) => {
      decide = typeof behaviour === 'function' ? behaviour : () => behaviour;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

export function ok(text: string): Behaviour {
  return { kind: 'reply', text };
}

async function seen(request: IncomingMessage): Promise<Pick<SeenCall, 'path' | 'key' | 'body'>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { authorization = '', 'x-api-key': apiKey = '' } = request.headers;
  return {
    path: request.url ?? '',
    key: String(apiKey) || authorization.replace('Bearer ', ''),
    body: JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>,
  };
}

async function act(behaviour: Behaviour, call: SeenCall, response: ServerResponse): Promise<void> {
  const isAnthropic = call.path.endsWith('/messages');
  const wire = isAnthropic ? anthropicWire(call) : openAiWire(call);
  switch (behaviour.kind) {
    case 'reply':
      return await sendReply(behaviour, wire, call, response);
    case 'refusal':
      return call.body['stream'] === true
        ? finishStream(response, [...wire.open(), ...wire.close('refusal')])
        : sendJson(response, 200, wire.whole('', 'refusal'));
    case 'status': {
      const { status, message = 'no', code = 'error', headers = {} } = behaviour;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      return sendJson(response, status, { type: 'error', error: { type: code, code, message } });
    }
    case 'silence':
      return;
    case 'garbage':
      if (call.body['stream'] !== true) {
        response.writeHead(200, { 'content-type': 'application/json' });
        return void response.end('{"choices": [{"mess');
      }
      openStream(response);
      response.write('data: {"choices": [{"delta": {"cont\n\n');
      return void response.end();
    default:
      return await misbehaveInStream(behaviour, wire, response);
  }
}

async function misbehaveInStream(
  behaviour: Extract<Behaviour, { kind: 'cut' | 'short' | 'huge' | 'stream_error' }>,
  wire: Wire,
  response: ServerResponse,
): Promise<void> {
  openStream(response);
  for (const event of wire.open()) response.write(event);
  switch (behaviour.kind) {
    case 'cut':
      response.write(wire.delta(behaviour.text));
      await pause(20);
      response.destroy();
      return;
    case 'short':
      response.write(wire.delta(behaviour.text));
      response.end();
      return;
    case 'stream_error':
      response.end(wire.fault(behaviour.message));
      return;
    case 'huge': {
      const block = wire.delta('x'.repeat(64 * 1024));
      const closed = once(response, 'close');
      while (!response.destroyed)
        if (!response.write(block))
          await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed]);
    }
  }
}

async function sendReply(
  { text, firstMs = 0, betweenMs = 0 }: Extract<Behaviour, { kind: 'reply' }>,
  wire: Wire,
  call: SeenCall,
  response: ServerResponse,
): Promise<void> {
  if (firstMs > 0) await pause(firstMs);
  if (call.body['stream'] !== true) return sendJson(response, 200, wire.whole(text, 'stop'));
  openStream(response);
  for (const event of wire.open()) response.write(event);
  for (const piece of text.match(/\s*\S+|\s+$/g) ?? []) {
    if (betweenMs > 0) await pause(betweenMs);
    if (response.destroyed) return;
    response.write(wire.delta(piece));
  }
  response.end(wire.close('stop').join(''));
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
}

function finishStream(response: ServerResponse, events: readonly string[]): void {
  openStream(response);
  response.end(events.join(''));
}

type End = 'stop' | 'refusal';

interface Wire {
  open(): string[];
  delta(text: string): string;
  close(end: End): string[];
  fault(message: string): string;
  whole(text: string, end: End): unknown;
}

/** https://platform.openai.com/docs/api-reference/chat/streaming */
function openAiWire(call: SeenCall): Wire {
  const head = {
    id: `chatcmpl-${call.index}`,
    created: 1_700_000_000,
    model: `${String(call.body['model'])}-0613`,
  };
  const usage = {
    prompt_tokens: tokensPerReply.input,
    completion_tokens: tokensPerReply.output,
    total_tokens: tokensPerReply.input + tokensPerReply.output,
    prompt_tokens_details: { cached_tokens: tokensPerReply.cached },
  };
  const reasons = { stop: 'stop', refusal: 'content_filter' };
  const chunk = (choices: readonly unknown[], more: object = {}): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  return {
    open: () => [chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])],
    delta: (content) => chunk([{ index: 0, delta: { content }, finish_reason: null }]),
    close: (end) => [
      chunk([{ index: 0, delta: {}, finish_reason: reasons[end] }]),
      ...(isRecord(call.body['stream_options']) ? [chunk([], { usage })] : []),
      'data: [DONE]\n\n',
    ],
    fault: (message) =>
      `data: ${JSON.stringify({ error: { message, type: 'server_error', code: 500 } })}\n\n`,
    whole: (content, end) => ({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: reasons[end] }],
      usage,
    }),
  };
}

/** https://docs.anthropic.com/en/docs/build-with-claude/streaming */
function anthropicWire(call: SeenCall): Wire {
  const event = (name: string, data: object): string =>
    `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
  const reasons = { stop: 'end_turn', refusal: 'refusal' };
  const message = {
    id: `msg_${call.index}`,
    type: 'message',
    role: 'assistant',
    model: `${String(call.body['model'])}-20250101`,
    stop_sequence: null,
  };
  const usage = { input_tokens: tokensPerReply.input, output_tokens: tokensPerReply.output };
  return {
    open: () => [
      event('message_start', {
        message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
      }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ],
    delta: (text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    close: (end) => [
      event('content_block_stop', { index: 0 }),
      event('message_delta', {
        delta: { stop_reason: reasons[end], stop_sequence: null },
        usage: { output_tokens: tokensPerReply.output },
      }),
      event('message_stop', {}),
    ],
    fault: (words) => event('error', { error: { type: 'overloaded_error', message: words } }),
    whole: (text, end) => ({
      ...message,
      content: [{ type: 'text', text }],
      stop_reason: reasons[end],
      usage,
    }),
  };
}

function isRecord(value: unknown): boolean {
  return value !== null && typeof value === 'object';
}
