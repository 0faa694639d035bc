// Types derived from the contract, and the one interface every transport implements.
import type { z } from 'zod';
import type { requests, RequestName } from './requests.ts';
import type { events, EventName } from './events.ts';
import type { ErrorInfo } from './error.ts';

export type { RequestName, EventName };
/** What a caller gives (defaults may be left out) and what the service receives. */
export type RequestInput<Name extends RequestName> = z.input<(typeof requests)[Name]['input']>;
export type ParsedInput<Name extends RequestName> = z.output<(typeof requests)[Name]['input']>;
export type RequestOutput<Name extends RequestName> = z.output<(typeof requests)[Name]['output']>;
export type EventPayload<Name extends EventName> = z.output<(typeof events)[Name]>;

export type EventMap = { [Name in EventName]: EventPayload<Name> };

/** A numbered event. A gap in `sequence` means: ask for snapshots. */
export type EventMessage = {
  [Name in EventName]: {
    readonly sequence: number;
    readonly name: Name;
    readonly payload: EventPayload<Name>;
  };
}[EventName];

export type Reply<Name extends RequestName> =
  | { readonly ok: true; readonly value: RequestOutput<Name> }
  | { readonly ok: false; readonly error: ErrorInfo };

export interface Transport {
  request<Name extends RequestName>(
    name: Name,
    input: RequestInput<Name>,
    signal?: AbortSignal,
  ): Promise<Reply<Name>>;
  /** `onGap` is called when events were missed, also after a reconnect. */
  subscribe(listener: (message: EventMessage) => void, onGap: () => void): () => void;
}
