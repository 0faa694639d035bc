// Requests by POST, events by one event stream that resumes after the last number it saw. Reconnects by itself with
// back-off; a refused cookie ends the tries.
import type { EventMessage, Reply, RequestInput, RequestName } from '#contract/api.ts';
import { backoffMs } from '../backoff.ts';
import type { StudioTransport } from '../client.ts';
import type { ConnectionState } from '../connection.ts';
import { errorInfoOf } from '../request-error.ts';
import { SequenceWatch } from '../sequence-watch.ts';

/** Exchanges the token of the printed address for a cookie. False when the host refuses it. */
export async function openSession(token: string): Promise<boolean> {
  const response = await fetch('/api/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
    credentials: 'same-origin',
  });
  return response.ok;
}

export function createWebTransport(): StudioTransport {
  const connectionListeners = new Set<(state: ConnectionState) => void>();
  let connection: ConnectionState = { kind: 'connecting' };
  const report = (state: ConnectionState): void => {
    connection = state;
    for (const listener of connectionListeners) listener(state);
  };
  return {
    request: postRequest,
    subscribe: (listener, onGap) => openStream(listener, onGap, report),
    onConnection(listener) {
      connectionListeners.add(listener);
      listener(connection);
      return () => connectionListeners.delete(listener);
    },
  };
}

async function postRequest<Name extends RequestName>(
  name: Name,
  input: RequestInput<Name>,
  signal?: AbortSignal,
): Promise<Reply<Name>> {
  try {
    const response = await fetch(`/api/${name}`, {
      method: 'POST',
      // Expected errors come in the reply, not as a status that the browser would report as a fault of the page.
      headers: { 'content-type': 'application/json', 'x-agentcanvas-reply': 'envelope' },
      body: JSON.stringify({ input }),
      credentials: 'same-origin',
      ...(signal ? { signal } : {}),
    });
    const reply: unknown = await response.json();
    if (isReply(reply)) return reply as Reply<Name>; // The host validated it against the same contract.
    return {
      ok: false,
      error: errorInfoOf('protocol_error', `The host answered ${response.status} without a reply.`),
    };
  } catch (thrown) {
    if (signal?.aborted) return { ok: false, error: errorInfoOf('aborted', 'Stopped.') };
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return {
      ok: false,
      error: errorInfoOf('connection_closed', `The engine cannot be reached (${text}). Is it still running?`),
    };
  }
}

function isReply(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'ok' in value && typeof value.ok === 'boolean';
}

function openStream(
  listener: (message: EventMessage) => void,
  onGap: () => void,
  report: (state: ConnectionState) => void,
): () => void {
  const watch = new SequenceWatch();
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;
  let closed = false;

  const retry = async (): Promise<void> => {
    source?.close();
    attempt += 1;
    const delayMs = backoffMs(attempt, Math.random());
    report({ kind: 'retrying', attempt, delayMs });
    timer = setTimeout(connect, delayMs);
    // An event stream does not tell why it failed: a request does.
    const reply = await postRequest('app.info', {});
    if (closed || reply.ok || reply.error.code !== 'unauthorized') return;
    clearTimeout(timer);
    report({ kind: 'refused' });
  };

  const connect = (): void => {
    if (closed) return;
    const after = watch.last === null ? '' : `?after=${watch.last}`;
    const opened = new EventSource(`/api/events${after}`);
    source = opened;
    let isFirst = true;
    opened.addEventListener('open', () => {
      attempt = 0;
      report({ kind: 'open' });
    });
    opened.addEventListener('message', (event: MessageEvent<string>) => {
      const message = JSON.parse(event.data) as EventMessage; // Validated by the host against the same contract.
      const outcome = watch.see(message.sequence, isFirst);
      isFirst = false;
      if (outcome === 'gap') onGap();
      if (outcome !== 'duplicate') listener(message);
    });
    // Both carry the number the stream stands at: from there on none may be missing.
    opened.addEventListener('hello', (event: MessageEvent<string>) => watch.startAt(Number(event.data)));
    opened.addEventListener('gap', (event: MessageEvent<string>) => {
      watch.startAt(Number(event.data));
      onGap();
    });
    opened.addEventListener('error', () => {
      if (source === opened && !closed) void retry();
    });
  };

  connect();
  return () => {
    closed = true;
    clearTimeout(timer);
    source?.close();
  };
}
