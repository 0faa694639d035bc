// An engine with a real dispatcher and feed over handlers that count how often they were reached.
import { createDispatcher, type Handlers } from '../../dispatch.ts';
import { EventFeed } from '../../event-feed.ts';
import { requests } from '../../contract/requests.ts';
import { systemClock } from '../../base/clock.ts';
import { StudioError } from '../../base/errors.ts';
import { silentLogger } from '../../base/logger.ts';
import type { Engine } from '../engine.ts';

export interface FakeEngine extends Engine {
  /** Requests that reached a handler. */
  readonly reached: { name: string; input: unknown }[];
}

export function createFakeEngine(overrides: Partial<Handlers> = {}): FakeEngine {
  const reached: { name: string; input: unknown }[] = [];
  const handlers = Object.fromEntries(
    Object.keys(requests).map((name) => [
      name,
      async (input: never, signal: AbortSignal) => {
        reached.push({ name, input });
        const override = (
          overrides as Record<string, ((value: never, signal: AbortSignal) => Promise<unknown>) | undefined>
        )[name];
        if (!override) throw new StudioError('unsupported', `${name} is not part of this test`);
        return override(input, signal);
      },
    ]),
  ) as unknown as Handlers;
  return {
    reached,
    feed: new EventFeed(systemClock),
    dispatcher: createDispatcher({ handlers, logger: silentLogger }),
  };
}
