// What a host needs of the engine: the dispatcher and the numbered events. Studio provides it.
import type { Readable } from 'node:stream';
import type { Dispatcher } from '../dispatch.ts';
import type { EventFeed } from '../event-feed.ts';
import type { EventMessage, Reply, RequestInput, RequestName, Transport } from '../contract/api.ts';

/** Files that travel by address (main/media-files.ts). */
export interface HostMedia {
  resolve(urlPath: string): Promise<{
    readonly file: string;
    readonly mimeType: string;
    readonly bytes: number;
    readonly immutable: boolean;
    readonly downloadName: string | null;
  } | null>;
  receive(fileName: string, content: Readable): Promise<string>;
}

export interface Engine {
  readonly dispatcher: Dispatcher;
  readonly feed: EventFeed;
  /** Absent in engines that keep no files. */
  readonly media?: HostMedia;
}

/** The engine of this process behind the interface that every other transport has too. */
export function localTransport({ dispatcher, feed }: Engine): Transport {
  return {
    async request<Name extends RequestName>(
      name: Name,
      input: RequestInput<Name>,
      signal?: AbortSignal,
    ): Promise<Reply<Name>> {
      return (await dispatcher.dispatch(name, input, signal)) as Reply<Name>;
    },
    subscribe(listener: (message: EventMessage) => void): () => void {
      const subscription = feed.subscribe(listener);
      return () => subscription[Symbol.dispose]();
    },
  };
}
