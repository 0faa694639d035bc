// Requests that bring runs in and take them out as files.
import type { transferRequests } from './contract/replay.ts';
import type { Handlers } from './dispatch.ts';
import { StudioError } from './base/errors.ts';
import type { HandlerServices } from './request-handlers.ts';

export type TransferRequests = keyof typeof transferRequests;

export function createTransferHandlers(_services: HandlerServices): Pick<Handlers, TransferRequests> {
  const soon = async (): Promise<never> => {
    throw new StudioError('unsupported', 'Importing and exporting files is not connected yet.');
  };
  return { 'runs.exportFile': soon, 'runs.import': soon, 'runs.dropUpload': soon };
}
