// What the chat node needs from whoever talks to language models. The node builds the request (template, images,
// conversation); the port answers it, with retries, keys and accounting its own affair.

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ChatRequest {
  readonly nodeId: string;
  readonly executionId: string;
  readonly step: number;
  readonly seed: number;
  /** Profile name; empty means the active one. */
  readonly profile: string;
  /** Pinned on the node when `profile` is `__direct__`. */
  readonly provider: string;
  readonly model: string;
  readonly systemPrompt: string;
  /** Oldest first; the last one is the prompt. */
  readonly messages: readonly ChatMessage[];
  /** Of the last message: base64 text or tensors (H, W, 3) uint8. */
  readonly images: readonly unknown[];
  readonly imageLabels: readonly string[];
  readonly imageDetail: string;
  readonly imageMime: string;
  /** Undefined: not sent, the provider's own default holds. */
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
  readonly stop: readonly string[];
  readonly sampleCount: number;
}

export interface ChatReply {
  /** One per sample, in order. */
  readonly responses: readonly string[];
  readonly model?: string;
  /** Tokens, cost, duration: kept in the firing's log. */
  readonly usage?: Readonly<Record<string, unknown>>;
}

export interface ChatPort {
  complete(request: ChatRequest, signal: AbortSignal): Promise<ChatReply>;
}
