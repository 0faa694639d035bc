// Requests about language models, and which nodes of a graph ask one.
import type { Handlers } from './dispatch.ts';
import { allNodes } from './graph/graph-tools.ts';
import type { GraphDefinition } from './contract/graph.ts';
import type { ChatNodeConfig, ChatService } from './llm/ports.ts';

type ChatRequests = Extract<keyof Handlers, `chat.${string}`>;

export function createChatHandlers(chat: ChatService, writable: () => void): Pick<Handlers, ChatRequests> {
  return {
    'chat.status': async () => chat.status(),
    'chat.setKey': async ({ provider, key }) => {
      writable();
      await chat.setKey(provider, key);
      return chat.status();
    },
    'chat.clearKey': async ({ provider }) => {
      writable();
      await chat.clearKey(provider);
      return chat.status();
    },
    'chat.test': async ({ provider, model }, signal) => chat.test(provider, model, signal),
  };
}

/** Chat nodes of a graph, composites included: whom each would ask. */
export function chatNodesOf(graph: GraphDefinition): readonly ChatNodeConfig[] {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return allNodes(graph).flatMap(({ node: { type, config } }) =>
    type === 'llmCall'
      ? [
          {
            profile: text(config['profile']),
            provider: text(config['provider']),
            model: text(config['model']),
          },
        ]
      : [],
  );
}
