// The AI SDK's providers behind one function, and the only place that knows them. Each is loaded when it is first
// asked, so that a start without language models does not pay for them.
import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import type { ChatProvider } from '../contract/chat.ts';
import type { PromptMessage, PromptPart } from './prompt.ts';

export type LanguageModel = ReturnType<OpenAICompatibleProvider['chatModel']>;
export type ModelCall = Parameters<LanguageModel['doStream']>[0];
type ModelPrompt = ModelCall['prompt'];
type UserMessage = Extract<ModelPrompt[number], { role: 'user' }>;
type UserPart = UserMessage['content'][number];

/** Stated, so that variables of the environment that other programs use change nothing here. */
const usualAddresses: Readonly<Record<ChatProvider['kind'], string>> = {
  'openai-compatible': 'http://127.0.0.1:8000/v1',
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

export interface OpenModel {
  readonly provider: ChatProvider;
  readonly model: string;
  readonly key: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

export async function openModel({ provider, model, key, fetch }: OpenModel): Promise<LanguageModel> {
  const baseURL = provider.baseUrl || usualAddresses[provider.kind];
  const access = { baseURL, fetch, ...(key === undefined ? {} : { apiKey: key }) };
  switch (provider.kind) {
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({ ...access, name: 'endpoint', includeUsage: true }).chatModel(model);
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI(access).chat(model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic(access).languageModel(model);
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      return createGoogle(access).languageModel(model);
    }
  }
}

export function modelPrompt(prompt: readonly PromptMessage[]): ModelPrompt {
  return prompt.map(({ role, parts }) => {
    switch (role) {
      case 'system':
        return { role, content: textOf(parts) };
      case 'assistant':
        return { role, content: [{ type: 'text' as const, text: textOf(parts) }] };
      case 'user':
        return { role, content: parts.map(userPart) };
    }
  });
}

function textOf(parts: readonly PromptPart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

function userPart(part: PromptPart): UserPart {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const { base64, mime, detail } = part;
  return {
    type: 'file',
    mediaType: mime,
    data: { type: 'data', data: base64 },
    providerOptions: {
      openai: { imageDetail: detail },
      // Its converter knows no detail; members given here stand beside, and in place of, those it writes.
      openaiCompatible: { image_url: { url: `data:${mime};base64,${base64}`, detail } },
    },
  };
}
