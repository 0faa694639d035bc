// A chat service over a loopback endpoint, and requests for it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { createRedactor, type Redactor } from '../../base/redactor.ts';
import { chatSettings, type ChatSettings } from '../../contract/chat.ts';
import type { ChatRequest } from '../../graph/ports.ts';
import { openChat } from '../open-chat.ts';
import type { ChatService } from '../ports.ts';

export const canary = 'sk-canary-0123456789-abcdef';

export interface ChatSetup extends AsyncDisposable {
  readonly chat: ChatService;
  readonly redactor: Redactor;
  readonly folder: string;
  settings: ChatSettings;
}

export async function setUpChat(baseUrl: string, change: object = {}): Promise<ChatSetup> {
  const folder = mkdtempSync(path.join(tmpdir(), 'chat-'));
  const redactor = createRedactor();
  const state = {
    settings: chatSettings.parse({
      providers: [
        { name: 'local', baseUrl, keyEnv: 'LOCAL_KEY' },
        { name: 'whole', baseUrl, keyEnv: 'LOCAL_KEY', streams: false },
        { name: 'claude', kind: 'anthropic', baseUrl, keyEnv: 'LOCAL_KEY' },
        { name: 'gpt', kind: 'openai', baseUrl, keyEnv: 'LOCAL_KEY' },
        { name: 'keyless', baseUrl },
      ],
      profiles: [
        { name: 'priced', provider: 'local', model: 'm1', inputUsdPerMillion: 2, outputUsdPerMillion: 10 },
        { name: 'unpriced', provider: 'local', model: 'm2' },
      ],
      ...change,
    }),
  };
  const chat = await openChat({
    clock: systemClock,
    settings: () => state.settings,
    redactor,
    userFolder: path.join(folder, 'home'),
    environment: { LOCAL_KEY: canary },
  });
  return {
    chat,
    redactor,
    folder,
    get settings() {
      return state.settings;
    },
    set settings(next) {
      state.settings = next;
    },
    async [Symbol.asyncDispose]() {
      await chat[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function askWith(change: Partial<ChatRequest> = {}): ChatRequest {
  return {
    nodeId: 'ask',
    executionId: 'run-1/ep/1.1',
    step: 0,
    seed: 7,
    profile: 'priced',
    provider: '',
    model: '',
    systemPrompt: '',
    messages: [{ role: 'user', content: 'Which way?' }],
    images: [],
    imageLabels: [],
    imageDetail: 'low',
    imageMime: 'image/png',
    temperature: undefined,
    maxTokens: undefined,
    stop: [],
    sampleCount: 1,
    ...change,
  };
}

export const direct = (provider: string): Partial<ChatRequest> => ({
  profile: '__direct__',
  provider,
  model: 'm1',
});
