// The state of the line to the engine, as the interface shows it.

export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  | { readonly kind: 'retrying'; readonly attempt: number; readonly delayMs: number }
  | { readonly kind: 'refused' };

/** A transport that also tells how its line is. */
export interface ConnectionReporter {
  onConnection(listener: (state: ConnectionState) => void): () => void;
}
