// What others see of language models. One service answers the graph's chat nodes and Python's `app.llm`; runs and Play
// are told apart by the execution id, which begins with the run's id.
import type { ChatProvider, ChatRunConfig, ChatStatus, ChatUsage } from '../contract/chat.ts';
import type { RequestOutput } from '../contract/api.ts';
import type { ChatPort, FiringContext } from '../graph/ports.ts';

/** Text of a reply while it comes; `done` with the whole of it, also when the call failed. */
export interface ChatProgress {
  readonly executionId: string;
  readonly nodeId: string;
  readonly step: number;
  readonly text: string;
  readonly isDone: boolean;
}

export interface MissingKey {
  readonly provider: string;
  readonly fix: string;
}

/** A node that will ask: what of its config decides whom. */
export interface ChatNodeConfig {
  readonly profile: string;
  readonly provider: string;
  readonly model: string;
}

export interface RunChatOptions {
  readonly runId: string;
  readonly config: ChatRunConfig;
  /** The run's own. */
  readonly folder: string;
  /** Of another run, by id. Throws `not_found`. */
  readonly folderOf: (runId: string) => string;
}

/** What a run holds while it goes on; disposing ends its part in the service. */
export interface RunChat extends Disposable {
  /** What an execution used so far, and forgets it; null when it asked nothing. */
  takeUsage(executionId: string): ChatUsage | null;
}

export interface ChatService extends ChatPort, AsyncDisposable {
  /** Throws `invalid_input` when the config cannot be kept, such as a replay from nowhere. */
  openRun(options: RunChatOptions): RunChat;
  /** `llm.chat` of the host protocol. */
  answerHost(params: unknown, signal: AbortSignal, context: FiringContext | undefined): Promise<unknown>;
  usageOf(executionId: string): ChatUsage | null;
  missingKeys(nodes: readonly ChatNodeConfig[], config: ChatRunConfig): Promise<readonly MissingKey[]>;
  onProgress(listener: (progress: ChatProgress) => void): Disposable;
  status(): Promise<ChatStatus>;
  setKey(provider: string, key: string): Promise<void>;
  clearKey(provider: string): Promise<void>;
  test(provider: ChatProvider, model: string, signal: AbortSignal): Promise<RequestOutput<'chat.test'>>;
}

/** Encrypts with what only this user of this machine can decrypt. A host that has none leaves it out. */
export interface KeyCipher {
  /** In words: "the system's key store". */
  readonly name: string;
  encrypt(text: string): Uint8Array;
  /** Throws when it was encrypted elsewhere. */
  decrypt(bytes: Uint8Array): string;
}
