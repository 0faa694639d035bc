// Requests and events over the preload bridge. The line cannot break while the window lives; missed events are
// still noticed by their numbers (a window that slept).
import type { EventMessage, Reply, RequestInput, RequestName } from '#contract/api.ts';
import type { StudioTransport } from '../client.ts';
import type { ElectronBridge } from '../electron-bridge.ts';
import { errorInfoOf } from '../request-error.ts';
import { SequenceWatch } from '../sequence-watch.ts';

export function createElectronTransport(bridge: ElectronBridge): StudioTransport {
  return {
    async request<Name extends RequestName>(
      name: Name,
      input: RequestInput<Name>,
      signal?: AbortSignal,
    ): Promise<Reply<Name>> {
      if (signal?.aborted) return { ok: false, error: errorInfoOf('aborted', 'Stopped.') };
      try {
        // The bridge carries every request; the main process validated this reply against the same contract.
        return (await bridge.invoke(name, input)) as Reply<Name>;
      } catch (thrown) {
        const text = thrown instanceof Error ? thrown.message : String(thrown);
        return { ok: false, error: errorInfoOf('connection_closed', `The engine did not answer: ${text}`) };
      }
    },
    subscribe(listener: (message: EventMessage) => void, onGap: () => void): () => void {
      const watch = new SequenceWatch();
      return bridge.onMessage((message) => {
        const outcome = watch.see(message.sequence);
        if (outcome === 'gap') onGap();
        if (outcome !== 'duplicate') listener(message);
      });
    },
    onConnection(listener) {
      listener({ kind: 'open' });
      return () => undefined;
    },
  };
}
