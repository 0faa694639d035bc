// Requests about recorded episodes: opened and paged through the bulk thread.
import type { replayRequests } from './contract/replay.ts';
import type { Handlers } from './dispatch.ts';
import { StudioError } from './base/errors.ts';
import type { HandlerServices } from './request-handlers.ts';

export type ReplayRequests = keyof typeof replayRequests;

export function createReplayHandlers(_services: HandlerServices): Pick<Handlers, ReplayRequests> {
  const soon = async (): Promise<never> => {
    throw new StudioError('unsupported', 'Replay is not connected yet.');
  };
  return {
    'replay.episodes': soon,
    'replay.open': soon,
    'replay.steps': soon,
    'replay.firings': soon,
    'replay.log': soon,
    'replay.csv': soon,
    'replay.exportFolder': soon,
  };
}
