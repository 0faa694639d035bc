// Requests about comparing runs: reads the folders in the bulk thread and hands on what it answers.
import type { compareRequests } from './contract/compare.ts';
import type { Handlers } from './dispatch.ts';
import { StudioError } from './base/errors.ts';
import type { HandlerServices } from './request-handlers.ts';

export type CompareRequests = keyof typeof compareRequests;

export function createCompareHandlers(_services: HandlerServices): Pick<Handlers, CompareRequests> {
  const soon = async (): Promise<never> => {
    throw new StudioError('unsupported', 'Comparing runs is not connected yet.');
  };
  return {
    'runs.compare': soon,
    'runs.compareFlips': soon,
    'runs.compareScatter': soon,
    'runs.compareGroups': soon,
    'runs.compareGraphs': soon,
    'runs.graph': soon,
    'runs.provenance': soon,
    'runs.episodesNeeded': soon,
    'runs.parallelCheck': soon,
    'runs.parallelDifferences': soon,
    'runs.exportComparison': soon,
  };
}
