// One client's event stream (server-sent events). A client that reads too slowly loses messages and is told so by a
// `gap` event: it then asks for snapshots. What waits for it is bounded.
import type { ServerResponse } from 'node:http';
import type { EventMessage } from '../../contract/api.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventFeed } from '../../event-feed.ts';
import { securityHeaders } from './replies.ts';

const maxWaitingBytes = 4 * 2 ** 20;
const keepAliveMs = 15_000;

export interface StreamOptions {
  readonly feed: EventFeed;
  readonly clock: Clock;
  /** Number of the last message the client has; null for a new client. */
  readonly after: number | null;
}

export function streamEvents(response: ServerResponse, { feed, clock, after }: StreamOptions): void {
  response.writeHead(200, {
    ...securityHeaders,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  let missed = false;
  const gap = (): void => void response.write(`event: gap\nid: ${feed.sequence}\ndata: ${feed.sequence}\n\n`);
  const tellGap = (): void => {
    if (!missed) return;
    missed = false;
    gap();
  };
  // Without a further message nobody would learn that one was missed.
  response.on('drain', tellGap);
  const send = (message: EventMessage): void => {
    if (response.writableLength > maxWaitingBytes) {
      missed = true;
      return;
    }
    tellGap();
    response.write(`id: ${message.sequence}\ndata: ${JSON.stringify(message)}\n\n`);
  };
  const missing = after === null ? [] : feed.since(after);
  if (missing === null) gap();
  else if (after === null) response.write(`event: hello\nid: ${feed.sequence}\ndata: ${feed.sequence}\n\n`);
  else missing.forEach(send);
  const subscription = feed.subscribe(send);
  let timer = clock.after(keepAliveMs, beat);
  function beat(): void {
    if (response.writableLength <= maxWaitingBytes) response.write(': alive\n\n');
    timer = clock.after(keepAliveMs, beat);
  }
  response.once('close', () => {
    subscription[Symbol.dispose]();
    timer[Symbol.dispose]();
  });
}
