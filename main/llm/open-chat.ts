// Puts the parts of language models together for the composition root.
import path from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Redactor } from '../base/redactor.ts';
import type { ChatSettings } from '../contract/chat.ts';
import { createChatService } from './chat-service.ts';
import { allProviders } from './endpoint.ts';
import { KeyStore } from './key-store.ts';
import type { ChatService, KeyCipher } from './ports.ts';

export interface OpenChatOptions {
  readonly clock: Clock;
  readonly settings: () => ChatSettings;
  readonly redactor: Redactor;
  /** The user's own, outside every workspace. */
  readonly userFolder: string;
  readonly cipher?: KeyCipher | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export const keyFileName = 'language-model-keys.json';

export async function openChat(options: OpenChatOptions): Promise<ChatService> {
  const { clock, settings, redactor, userFolder, cipher, environment } = options;
  const keys = new KeyStore({ file: path.join(userFolder, keyFileName), cipher, environment, redactor });
  // Every key that can be known is, before anything is printed.
  for (const provider of allProviders(settings())) await keys.find(provider).catch(() => undefined);
  return createChatService({ clock, settings, keys, redactor, random: Math.random });
}
