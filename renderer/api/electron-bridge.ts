// What the preload script exposes on `window.agentcanvas`: two named functions and nothing else.
import type { EventMessage, Reply, RequestName } from '#contract/api.ts';

export interface ElectronBridge {
  invoke(name: RequestName, input: unknown): Promise<Reply<RequestName>>;
  /** Calls the listener with every event; the returned function ends it. */
  onMessage(listener: (message: EventMessage) => void): () => void;
}

declare global {
  interface Window {
    readonly agentcanvas?: ElectronBridge;
  }
}
