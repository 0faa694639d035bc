// One try at one call: ask, read the reply as it comes, and say in one form how it ended. Nothing is tried again here.
import { StudioError, messageOf } from '../base/errors.ts';
import { boundedFetch, tooLarge } from './bounded-fetch.ts';
import type { Endpoint, TokenCounts } from './endpoint.ts';
import type { PromptMessage } from './prompt.ts';
import { modelPrompt, openModel, type LanguageModel, type ModelCall } from './provider-models.ts';
import { hintOf, type TryFailure } from './retry-rule.ts';

export interface Sampling {
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
  readonly stop: readonly string[];
  readonly seed: number | undefined;
}

export interface TryRequest {
  readonly endpoint: Endpoint;
  readonly key: string | undefined;
  readonly prompt: readonly PromptMessage[];
  readonly sampling: Sampling;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  /** With all of the text so far. */
  readonly onText: (text: string) => void;
}

export interface ModelReply {
  readonly text: string;
  /** As the endpoint names it. */
  readonly model: string;
  /** `stop`, `length`, `content-filter` (a refusal), … */
  readonly finish: string;
  readonly counts: TokenCounts;
}

export type TryOutcome =
  | { readonly ok: true; readonly reply: ModelReply }
  | { readonly ok: false; readonly failure: TryFailure };

/** About four times what the largest models can write. */
const largestTextCharacters = 2_000_000;

/** Rejects only when the signal is aborted or the fault is ours. */
export async function tryOnce(request: TryRequest): Promise<TryOutcome> {
  const { endpoint, key, signal } = request;
  try {
    const { provider, model } = endpoint;
    const opened = await openModel({ provider, model, key, fetch: boundedFetch });
    const call = callOf(request);
    const reply = provider.streams
      ? await readStream(opened, call, request.onText)
      : await readWhole(opened, call);
    return { ok: true, reply: { ...reply, model: reply.model || model } };
  } catch (thrown) {
    signal.throwIfAborted();
    return { ok: false, failure: failureOf(thrown, request.nowMs()) };
  }
}

function callOf({ prompt, sampling, signal, endpoint }: TryRequest): ModelCall {
  const { temperature, maxTokens, stop, seed } = sampling;
  const isSeedSent =
    seed !== undefined && endpoint.provider.sendsSeed && endpoint.provider.kind !== 'anthropic';
  return {
    prompt: modelPrompt(prompt),
    abortSignal: signal,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(stop.length === 0 ? {} : { stopSequences: [...stop] }),
    ...(isSeedSent ? { seed } : {}),
  };
}

async function readStream(
  model: LanguageModel,
  call: ModelCall,
  onText: (text: string) => void,
): Promise<ModelReply> {
  const { stream } = await model.doStream(call);
  let text = '';
  let named = '';
  for await (const part of stream) {
    switch (part.type) {
      case 'text-delta':
        text += part.delta;
        if (text.length > largestTextCharacters) throw tooLarge();
        onText(text);
        break;
      case 'response-metadata':
        named = part.modelId ?? named;
        break;
      case 'error':
        throw part.error instanceof Error ? part.error : new StreamFault(part.error);
      case 'finish': {
        if (isCutShort(part.finishReason)) throw new CutStream();
        const finish = part.finishReason.unified;
        return { text, model: named, finish, counts: countsOf(part.usage) };
      }
      default:
        break;
    }
  }
  throw new CutStream();
}

/** A stream that stopped short is closed by the SDK with a reason of its own. */
function isCutShort({ unified, raw }: { unified: string; raw: string | undefined }): boolean {
  return unified === 'interrupted' || (raw === undefined && (unified === 'other' || unified === 'error'));
}

async function readWhole(model: LanguageModel, call: ModelCall): Promise<ModelReply> {
  const { content, finishReason, usage, response } = await model.doGenerate(call);
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return {
    text,
    model: response?.modelId ?? '',
    finish: finishReason.unified,
    counts: countsOf(usage),
  };
}

type Usage = Awaited<ReturnType<LanguageModel['doGenerate']>>['usage'];

function countsOf({ inputTokens, outputTokens, raw }: Usage): TokenCounts {
  const stated = raw?.['cost'];
  return {
    inputTokens: inputTokens.total ?? null,
    outputTokens: outputTokens.total ?? null,
    cachedInputTokens: inputTokens.cacheRead ?? 0,
    statedCostUsd: typeof stated === 'number' && stated >= 0 ? stated : null,
  };
}

class CutStream extends Error {
  constructor() {
    super('the reply ended before it was complete');
  }
}

/** An error the endpoint wrote into the stream. */
class StreamFault extends Error {
  readonly status: number | undefined;
  constructor(written: unknown) {
    super(wordsOf(written));
    const code = isRecord(written) ? Number(written['code'] ?? written['status']) : Number.NaN;
    // Anthropic's `overloaded_error` in a stream is its 529.
    this.status =
      Number.isInteger(code) && code >= 400 ? code : /overloaded/i.test(this.message) ? 529 : undefined;
  }
}

function wordsOf(written: unknown): string {
  if (typeof written === 'string') return written;
  const inner = isRecord(written) ? (written['error'] ?? written) : written;
  const message = isRecord(inner) ? inner['message'] : undefined;
  return typeof message === 'string' ? message : (JSON.stringify(written) ?? 'an error without words');
}

/** Errors of the SDK are told apart by their names: its classes may come from several copies. */
function failureOf(thrown: unknown, nowMs: number): TryFailure {
  const cause = innermost(thrown);
  if (cause instanceof StudioError) return { kind: 'refused', message: cause.message };
  if (thrown instanceof CutStream) return { kind: 'cut', message: thrown.message };
  if (thrown instanceof StreamFault)
    return thrown.status === undefined
      ? { kind: 'garbage', message: `the endpoint broke off: ${thrown.message}` }
      : { kind: 'status', status: thrown.status, message: thrown.message };
  if (isRecord(thrown) && isRecord(thrown['responseHeaders']) && typeof thrown['statusCode'] === 'number')
    return answered(thrown, thrown['statusCode'], nowMs);
  const name = thrown instanceof Error ? thrown.name : '';
  if (/JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated/.test(name))
    return { kind: 'garbage', message: 'the endpoint answered with something that is no reply' };
  if (name.startsWith('AI_') && !name.includes('APICall'))
    return { kind: 'refused', message: messageOf(thrown) };
  const why = messageOf(cause);
  return /terminated|aborted|socket|closed|ECONNRESET/i.test(why)
    ? { kind: 'cut', message: `the connection was lost (${why})` }
    : { kind: 'network', message: why };
}

function answered(thrown: Readonly<Record<string, unknown>>, status: number, nowMs: number): TryFailure {
  const headers = thrown['responseHeaders'] as Readonly<Record<string, string>>;
  // A good status with a body that cannot be read.
  if (status < 400)
    return { kind: 'garbage', message: 'the endpoint answered with something that is no reply' };
  const body = typeof thrown['responseBody'] === 'string' ? thrown['responseBody'] : '';
  const own = typeof thrown['message'] === 'string' ? thrown['message'] : '';
  const words = [own, exhaustionIn(body, own)].filter((part) => part !== '').join(' ');
  return { kind: 'status', status, message: words.slice(0, 500), hintMs: hintOf(headers, nowMs) };
}

/** The code that says why beside the message, where the message does not. */
function exhaustionIn(body: string, message: string): string {
  return body.includes('insufficient_quota') && !message.includes('insufficient_quota')
    ? '(insufficient_quota)'
    : '';
}

function innermost(thrown: unknown): unknown {
  let inner = thrown;
  for (let depth = 0; depth < 5 && inner instanceof Error && inner.cause !== undefined; depth++)
    inner = inner.cause;
  return inner;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
