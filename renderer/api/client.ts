// Typed requests over whichever transport there is. A failed reply becomes a RequestError.
import type { RequestInput, RequestName, RequestOutput, Transport } from '#contract/api.ts';
import type { ConnectionReporter } from './connection.ts';
import { RequestError } from './request-error.ts';

export type StudioTransport = Transport & ConnectionReporter;

export interface Client {
  readonly transport: StudioTransport;
  /** Rejects with a RequestError. */
  request<Name extends RequestName>(
    name: Name,
    input: RequestInput<Name>,
    signal?: AbortSignal,
  ): Promise<RequestOutput<Name>>;
}

export function createClient(transport: StudioTransport): Client {
  return {
    transport,
    async request(name, input, signal) {
      const reply = await transport.request(name, input, signal);
      signal?.throwIfAborted();
      if (!reply.ok) throw new RequestError(reply.error);
      return reply.value;
    },
  };
}
