// Answers questions, live or from recorded replies, and keeps account of them per execution. Samples of one question
// are asked side by side; the first that fails ends the others.
import type { Clock } from '../base/clock.ts';
import { isAbort, StudioError, toStudioError } from '../base/errors.ts';
import { deriveSeed } from '../base/random.ts';
import type { Redactor } from '../base/redactor.ts';
import { sha256 } from '../base/stable-hash.ts';
import type { ChatProvider, ChatSettings, ChatUsage } from '../contract/chat.ts';
import { noUsage } from '../contract/chat-usage.ts';
import { callModel, ChatCallError, type AnsweredCall, type ChatCall } from './chat-call.ts';
import { costOf, endpointOf, keyAdvice, type Endpoint } from './endpoint.ts';
import type { ExecutionMemory } from './execution-memory.ts';
import { KeyLimiter } from './key-limiter.ts';
import type { KeyStore } from './key-store.ts';
import type { Sampling } from './one-try.ts';
import type { ChatNodeConfig, ChatProgress } from './ports.ts';
import type { PromptMessage } from './prompt.ts';
import type { AskedQuestion, RecordedReply } from './recorded-replies.ts';
import type { RunReplies } from './run-replies.ts';

export interface AnswererOptions {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly settings: () => ChatSettings;
  readonly keys: KeyStore;
  readonly redactor: Redactor;
}

/** A call of a node or of Python, in one form. */
export interface Question extends ChatNodeConfig {
  readonly executionId: string;
  readonly nodeId: string;
  readonly step: number;
  /** Policy seed of the execution. */
  readonly seed: number;
  readonly prompt: readonly PromptMessage[];
  readonly sampling: Omit<Sampling, 'seed'>;
  readonly sampleCount: number;
}

export interface Answer {
  readonly text: string;
  readonly model: string;
  readonly finish: string;
  readonly usage: ChatUsage;
}

export interface AskPorts {
  readonly memory: ExecutionMemory;
  /** Of the run the execution belongs to. */
  readonly run: RunReplies | undefined;
  readonly onProgress: (progress: ChatProgress) => void;
}

type OneSample = Pick<ChatCall, 'prompt' | 'sampling' | 'onText'>;

export class Answerer {
  readonly #options: AnswererOptions;
  readonly #limiters = new Map<string, KeyLimiter>();

  constructor(options: AnswererOptions) {
    this.#options = options;
  }

  /** One answer per sample, in order. Rejects with `aborted` or with an error that says what to do. */
  async ask(question: Question, ports: AskPorts, signal: AbortSignal): Promise<readonly Answer[]> {
    const { settings, redactor } = this.#options;
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    try {
      const endpoint = endpointOf(settings(), question, ports.run?.config.profile);
      const samples = Array.from({ length: question.sampleCount }, (_unused, sample) =>
        this.#sample({ question, endpoint, sample, ports, signal: either }),
      );
      return await Promise.all(samples);
    } catch (thrown) {
      stop.abort();
      if (isAbort(thrown)) throw thrown;
      const error = toStudioError(thrown);
      throw new StudioError(error.code, redactor.text(error.message), {
        details: redactor.value(error.details),
      });
    }
  }

  /** A live call, whatever a run says. */
  async call(
    endpoint: Endpoint,
    asked: OneSample,
    { signal, limits }: Pick<ChatCall, 'signal' | 'limits'>,
  ): Promise<AnsweredCall> {
    const { clock, random, keys } = this.#options;
    const { provider } = endpoint;
    const { source, key } = await keys.find(provider);
    if (source === 'none' || source === 'locked')
      throw new StudioError(
        'unauthorized',
        `there is no key for ${provider.name}: ${keyAdvice(provider, source)}`,
      );
    const limiter = this.#limiterOf(provider, key);
    return await callModel({ clock, random }, { ...asked, endpoint, key, limits, limiter, signal });
  }

  [Symbol.dispose](): void {
    for (const limiter of this.#limiters.values()) limiter[Symbol.dispose]();
  }

  async #sample(asked: {
    readonly question: Question;
    readonly endpoint: Endpoint;
    readonly sample: number;
    readonly ports: AskPorts;
    readonly signal: AbortSignal;
  }): Promise<Answer> {
    const { question, endpoint, sample, ports, signal } = asked;
    const { executionId, nodeId, step, seed, prompt } = question;
    const { profile, model } = endpoint;
    const sampling = {
      ...question.sampling,
      temperature: question.sampling.temperature ?? profile?.temperature ?? undefined,
      maxTokens: question.sampling.maxTokens ?? profile?.maxTokens ?? undefined,
    };
    const asking = { model, prompt, sampling, nodeId, step, seed, sample };
    const occurrence = ports.memory.occurrence(executionId, asking);
    const full: AskedQuestion = { ...asking, occurrence };
    const kept = await ports.run?.find(full);
    signal.throwIfAborted();
    if (kept) return this.#replayed(executionId, kept, ports);
    // 31 bits: some endpoints take signed integers only.
    const sentSeed = deriveSeed('chat', seed, nodeId, step, sample, occurrence) & 0x7fff_ffff;
    const answer = await this.#live(
      question,
      { endpoint, full, sampling: { ...sampling, seed: sentSeed } },
      ports,
      signal,
    );
    await ports.run?.keep(full, answer.recorded);
    return answer;
  }

  async #live(
    { executionId, nodeId, step, prompt }: Question,
    { endpoint, full, sampling }: { endpoint: Endpoint; full: AskedQuestion; sampling: Sampling },
    { memory, onProgress }: AskPorts,
    signal: AbortSignal,
  ): Promise<Answer & { readonly recorded: RecordedReply }> {
    const { redactor, settings } = this.#options;
    const tell = (text: string, isDone: boolean): void => {
      if (full.sample === 0) onProgress({ executionId, nodeId, step, text: redactor.text(text), isDone });
    };
    try {
      const answered = await this.call(
        endpoint,
        { prompt, sampling, onText: (text) => tell(text, false) },
        { signal, limits: settings() },
      );
      const usage = usageOfCall(endpoint, answered);
      memory.add(executionId, usage);
      const { finish, counts } = answered.reply;
      const [text, model] = [redactor.text(answered.reply.text), redactor.text(answered.reply.model)];
      tell(text, true);
      const { inputTokens, outputTokens } = counts;
      return { text, model, finish, usage, recorded: { text, model, finish, inputTokens, outputTokens } };
    } catch (thrown) {
      tell('', true);
      if (!isAbort(thrown)) memory.add(executionId, failedUsage(endpoint, thrown));
      throw thrown;
    }
  }

  #replayed(executionId: string, kept: RecordedReply, { memory }: AskPorts): Answer {
    const { text, model, finish, inputTokens, outputTokens } = kept;
    const usage = { ...noUsage, calls: 1, replayed: 1, inputTokens, outputTokens, models: [model] };
    memory.add(executionId, usage);
    return { text, model, finish, usage };
  }

  /** Equal keys share their limit, whatever the provider is called. */
  #limiterOf({ name, baseUrl, concurrency }: ChatProvider, key: string | undefined): KeyLimiter {
    const id = key === undefined ? `${name} ${baseUrl}` : sha256(`${baseUrl} ${key}`);
    const known = this.#limiters.get(id);
    if (known) {
      known.limit = concurrency;
      return known;
    }
    const limiter = new KeyLimiter(this.#options.clock, concurrency);
    this.#limiters.set(id, limiter);
    return limiter;
  }
}

export function usageOfCall(endpoint: Endpoint, { reply, tries, durationMs }: AnsweredCall): ChatUsage {
  const { inputTokens, outputTokens } = reply.counts;
  return {
    ...noUsage,
    calls: 1,
    retries: tries - 1,
    inputTokens,
    outputTokens,
    costUsd: costOf(endpoint.profile, reply.counts),
    durationMs,
    models: [reply.model],
  };
}

/** What a call without an answer cost nobody says; it is counted, and adds nothing. */
function failedUsage({ model }: Endpoint, thrown: unknown): ChatUsage {
  const retries = thrown instanceof ChatCallError ? thrown.tries - 1 : 0;
  return { ...noUsage, calls: 1, failed: 1, retries, models: [model] };
}
