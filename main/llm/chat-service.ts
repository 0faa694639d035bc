// Language models for the whole engine, behind one port: chat nodes, Python's `app.llm`, and Settings. What leaves it,
// replies and errors alike, has no key in it.
import { isAbort, StudioError, toStudioError } from '../base/errors.ts';
import { chatProvider } from '../contract/chat.ts';
import type { ChatProvider, ChatRunConfig, ChatStatus, ChatUsage } from '../contract/chat.ts';
import type { RequestOutput } from '../contract/api.ts';
import type { ChatReply, ChatRequest, FiringContext } from '../graph/ports.ts';
import { Answerer, usageOfCall, type Answer, type AnswererOptions, type Question } from './answerer.ts';
import { allProviders, endpointOf, keyAdvice, keyVariable, type Endpoint } from './endpoint.ts';
import { ExecutionMemory } from './execution-memory.ts';
import { hostQuestion, hostReply, loggedUsage } from './host-question.ts';
import type {
  ChatNodeConfig,
  ChatProgress,
  ChatService,
  MissingKey,
  RunChat,
  RunChatOptions,
} from './ports.ts';
import { promptOfNode } from './prompt.ts';
import { openRunReplies, type RunReplies } from './run-replies.ts';

const testSec = 30;
const testTokens = 64;

export function createChatService(options: AnswererOptions): ChatService {
  return new Chat(options);
}

class Chat implements ChatService {
  readonly #options: AnswererOptions;
  readonly #answerer: Answerer;
  readonly #memory = new ExecutionMemory();
  readonly #runs = new Map<string, RunReplies>();
  readonly #listeners = new Set<(progress: ChatProgress) => void>();
  readonly #closed = new AbortController();

  constructor(options: AnswererOptions) {
    this.#options = options;
    this.#answerer = new Answerer(options);
  }

  async complete(request: ChatRequest, signal: AbortSignal): Promise<ChatReply> {
    const { temperature, maxTokens, stop } = request;
    const prompt = promptOfNode(request);
    const answers = await this.#ask(
      { ...request, prompt, sampling: { temperature, maxTokens, stop } },
      signal,
    );
    const [first] = answers;
    return {
      responses: answers.map(({ text }) => text),
      ...(first ? { model: first.model } : {}),
      usage: loggedUsage(answers),
    };
  }

  async answerHost(
    params: unknown,
    signal: AbortSignal,
    context: FiringContext | undefined,
  ): Promise<unknown> {
    const either = context ? AbortSignal.any([signal, context.signal]) : signal;
    return hostReply(await this.#ask(hostQuestion(params, context), either));
  }

  openRun(options: RunChatOptions): RunChat {
    const { runId } = options;
    this.#runs.set(
      runId,
      openRunReplies(options, (text) => this.#options.redactor.text(text)),
    );
    return {
      takeUsage: (executionId) => {
        const usage = this.#memory.usage(executionId);
        this.#memory.forget(executionId);
        return usage;
      },
      [Symbol.dispose]: () => {
        this.#runs.delete(runId);
        this.#memory.forgetRun(runId);
      },
    };
  }

  usageOf(executionId: string): ChatUsage | null {
    return this.#memory.usage(executionId);
  }

  onProgress(listener: (progress: ChatProgress) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  async missingKeys(nodes: readonly ChatNodeConfig[], config: ChatRunConfig): Promise<readonly MissingKey[]> {
    if (config.replies === 'replay') return [];
    const missing = await Promise.all(nodes.map((node) => this.#missingKey(node, config.profile)));
    const byProvider = new Map(missing.flatMap((each) => (each ? [[each.provider, each] as const] : [])));
    return [...byProvider.values()];
  }

  async status(): Promise<ChatStatus> {
    const { settings, keys } = this.#options;
    const known = allProviders(settings());
    const names = new Set(known.map(({ name }) => name));
    // A key may be typed in before its provider is saved.
    const unsaved = (await keys.names()).filter((name) => !names.has(name));
    const all = [...known, ...unsaved.map((name) => chatProvider.parse({ name }))];
    const providers = all.map(async (provider) => ({
      name: provider.name,
      key: (await keys.find(provider)).source,
      variable: keyVariable(provider),
    }));
    return { providers: await Promise.all(providers), keyStore: keys.place };
  }

  setKey(provider: string, key: string): Promise<void> {
    return this.#options.keys.set(provider, key);
  }

  clearKey(provider: string): Promise<void> {
    return this.#options.keys.clear(provider);
  }

  async test(
    provider: ChatProvider,
    model: string,
    signal: AbortSignal,
  ): Promise<RequestOutput<'chat.test'>> {
    const { clock, redactor, settings } = this.#options;
    const startedMs = clock.monotonic();
    const profile =
      settings().profiles.find((known) => known.provider === provider.name && known.model === model) ?? null;
    try {
      return await this.#testCall({ provider, model, profile }, signal);
    } catch (thrown) {
      if (isAbort(thrown)) throw thrown;
      const message = redactor.text(toStudioError(thrown).message);
      return { ok: false, message, model, usage: null, durationMs: clock.monotonic() - startedMs };
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort(new StudioError('aborted', 'the application closes'));
    this.#answerer[Symbol.dispose]();
    return Promise.resolve();
  }

  async #testCall(endpoint: Endpoint, signal: AbortSignal): Promise<RequestOutput<'chat.test'>> {
    const answered = await this.#answerer.call(
      endpoint,
      {
        prompt: [{ role: 'user', parts: [{ kind: 'text', text: 'Reply with the word ok.' }] }],
        sampling: { temperature: undefined, maxTokens: testTokens, stop: [], seed: undefined },
        onText: () => undefined,
      },
      {
        signal: AbortSignal.any([signal, this.#closed.signal]),
        limits: { trySec: testSec, callSec: testSec, retries: 0 },
      },
    );
    const { redactor } = this.#options;
    const text = redactor.text(answered.reply.text).trim().slice(0, 200);
    const message = text === '' ? 'It answered, with an empty text.' : `It answered: ${text}`;
    const usage = usageOfCall(endpoint, answered);
    return { ok: true, message, model: answered.reply.model, usage, durationMs: answered.durationMs };
  }

  #ask(question: Question, signal: AbortSignal): Promise<readonly Answer[]> {
    const runId = question.executionId.slice(0, Math.max(0, question.executionId.indexOf('/')));
    const ports = {
      memory: this.#memory,
      run: this.#runs.get(runId),
      onProgress: (progress: ChatProgress) => {
        for (const listener of this.#listeners) listener(progress);
      },
    };
    return this.#answerer.ask(question, ports, AbortSignal.any([signal, this.#closed.signal]));
  }

  async #missingKey(node: ChatNodeConfig, runProfile: string): Promise<MissingKey | null> {
    const { settings, keys } = this.#options;
    try {
      const { provider } = endpointOf(settings(), node, runProfile);
      const { source } = await keys.find(provider);
      const isMissing = source === 'none' || source === 'locked';
      return isMissing ? { provider: provider.name, fix: keyAdvice(provider, source) } : null;
    } catch (thrown) {
      return { provider: 'a language model', fix: toStudioError(thrown).message };
    }
  }
}
