// Requests about comparing runs: numbers are computed in the bulk thread, graphs and provenance are small enough here.
import { graphDifference } from './compare-graphs.ts';
import { provenanceRows } from './store/provenance-rows.ts';
import type { ParsedInput } from './contract/api.ts';
import type { compareRequests, Comparison } from './contract/compare.ts';
import type { EvalConfig } from './contract/eval-config.ts';
import type { MetricDefinition } from './contract/nodeset.ts';
import type { Handlers } from './dispatch.ts';
import type { HandlerServices } from './request-handlers.ts';
import { folderOfRun } from './run-exists.ts';
import { startRun } from './run-handlers.ts';
import { comparisonDocument, type ComparisonExtras } from './store/comparison-document.ts';
import type { RunHead } from './store/run-head.ts';

export type CompareRequests = keyof typeof compareRequests;

export function createCompareHandlers(
  services: HandlerServices,
  writable: () => void,
): Pick<Handlers, CompareRequests> {
  return {
    ...numberHandlers(services),
    ...originHandlers(services),
    'runs.parallelCheck': async ({ config, episodes, workerCounts }) => {
      writable();
      return { runIds: await startParallelCheck(services, { config, episodes, workerCounts }) };
    },
    'runs.parallelDifferences': async ({ baselineRun, otherRun, offset, limit }) => {
      const { bulk } = services;
      const records = await headsOf(services, [baselineRun, otherRun]);
      const folders = foldersOf(services, { baselineRun, otherRun });
      const found = await bulk.run('parallelDifferences', { ...folders, offset, limit });
      return {
        ...found,
        rows: [...found.rows],
        finished: records.every(({ status }) => status === 'completed' || status === 'completed_with_errors'),
      };
    },
  };
}

type NumberRequests =
  | 'runs.compare'
  | 'runs.compareFlips'
  | 'runs.compareScatter'
  | 'runs.compareGroups'
  | 'runs.episodesNeeded'
  | 'runs.exportComparison';

function numberHandlers(services: HandlerServices): Pick<Handlers, NumberRequests> {
  const { store, bulk } = services;
  return {
    'runs.compare': (input) => compare(services, input),
    'runs.compareFlips': async ({ baselineRun, otherRun, ...rest }) => {
      const found = await bulk.run('flips', { ...foldersOf(services, { baselineRun, otherRun }), ...rest });
      return { ...found, rows: [...found.rows] };
    },
    'runs.compareScatter': async ({ baselineRun, otherRun, metric }) => {
      const found = await bulk.run('scatter', { ...foldersOf(services, { baselineRun, otherRun }), metric });
      return found.kind === 'points'
        ? { ...found, points: [...found.points] }
        : { ...found, cells: [...found.cells] };
    },
    'runs.compareGroups': async ({ baselineRun, otherRun, ...rest }) => {
      const found = await bulk.run('groups', { ...foldersOf(services, { baselineRun, otherRun }), ...rest });
      return { ...found, rows: [...found.rows], groupings: [...found.groupings] };
    },
    'runs.episodesNeeded': ({ runId, otherRun, ...target }) =>
      bulk.run('episodesNeeded', {
        folder: store.folderOf(runId),
        ...(otherRun === undefined ? {} : { otherFolder: store.folderOf(otherRun) }),
        ...target,
      }),
    'runs.exportComparison': async ({ format, ...input }) =>
      comparisonDocument(
        await compare(services, input),
        format,
        format === 'html' ? await reportExtras(services, input.runIds) : {},
      ),
  };
}

function originHandlers(
  services: HandlerServices,
): Pick<Handlers, 'runs.compareGraphs' | 'runs.graph' | 'runs.provenance'> {
  const { store, graphs } = services;
  const graphOf = async (runId: string) => graphs.parse(await store.readGraphText(runId));
  return {
    'runs.compareGraphs': async ({ baselineRun, otherRun }) =>
      graphDifference(await graphOf(baselineRun), await graphOf(otherRun)),
    'runs.graph': async ({ runId }) => ({ definition: await graphOf(runId) }),
    'runs.provenance': async ({ runIds }) => ({
      rows: provenanceRows(await headsOf(services, runIds)),
    }),
  };
}

/** Read in the bulk thread: the plans of large runs are long. */
async function headsOf(
  { store, bulk }: HandlerServices,
  runIds: readonly string[],
): Promise<readonly RunHead[]> {
  const folders = await Promise.all(runIds.map((runId) => folderOfRun(store, runId)));
  return bulk.run('recordHeads', { folders });
}

async function compare(
  services: HandlerServices,
  { runIds, metrics, commonOnly }: Pick<ParsedInput<'runs.compare'>, 'runIds' | 'metrics' | 'commonOnly'>,
): Promise<Comparison> {
  const { store, bulk } = services;
  const records = await headsOf(services, runIds);
  const runs = await Promise.all(
    records.map(async (record) => ({ record, summary: await store.readSummary(record.runId) })),
  );
  const [baselineFolder = '', ...otherFolders] = runIds.map((runId) => store.folderOf(runId));
  const found = await bulk.run('compare', { baselineFolder, otherFolders, metricNames: metrics, commonOnly });
  return {
    runs: runs.map(({ record, summary }) => ({
      runId: record.runId,
      name: record.name,
      graphName: record.graphName,
      envName: record.envName,
      split: record.split,
      status: record.status,
      counts: summary.counts,
      metrics: summary.metrics,
      importedFrom: record.importedFrom ?? null,
    })),
    refused: found.kind === 'refused',
    reasons: [...found.reasons],
    metrics: found.kind === 'refused' ? [] : [...found.metrics],
    sharedMetrics: sharedMetrics(records.map(({ metrics: own }) => own)),
  };
}

function sharedMetrics([
  first = [],
  ...others
]: readonly (readonly MetricDefinition[])[]): MetricDefinition[] {
  return first.filter(({ name }) =>
    others.every((metrics) => metrics.some((metric) => metric.name === name)),
  );
}

async function reportExtras(services: HandlerServices, runIds: readonly string[]): Promise<ComparisonExtras> {
  const { store, graphs } = services;
  const records = await headsOf(services, runIds);
  const definitions = await Promise.all(
    runIds.map(async (runId) => graphs.parse(await store.readGraphText(runId))),
  );
  const [baseline, ...others] = definitions;
  return {
    provenance: provenanceRows(records),
    graphs: others.flatMap((other, place) => {
      const title = records[place + 1]?.name ?? '';
      return baseline ? [{ title, difference: graphDifference(baseline, other) }] : [];
    }),
  };
}

function foldersOf(
  { store }: HandlerServices,
  { baselineRun, otherRun }: { readonly baselineRun: string; readonly otherRun: string },
): { baselineFolder: string; otherFolder: string } {
  return { baselineFolder: store.folderOf(baselineRun), otherFolder: store.folderOf(otherRun) };
}

/** The first one starts or is refused; the others wait in the queue behind it. */
async function startParallelCheck(
  services: HandlerServices,
  { config, episodes, workerCounts }: ParsedInput<'runs.parallelCheck'>,
): Promise<string[]> {
  const runIds: string[] = [];
  for (const workerCount of workerCounts) {
    const { runId } = await startRun(services, {
      config: {
        ...config,
        workerCount,
        episodes: atMost(config.episodes, episodes),
        recording: 'none',
        tags: [...config.tags, 'parallel-check'],
      },
      whenBusy: runIds.length === 0 ? 'refuse' : 'queue',
    });
    runIds.push(runId);
  }
  return runIds;
}

/** Of all episodes a seeded sample: the first ones are often of one scene. */
function atMost(selection: EvalConfig['episodes'], count: number): EvalConfig['episodes'] {
  if (selection === 'all') return { sample: count, seed: 0 };
  if (typeof selection === 'number') return Math.min(selection, count);
  if ('sample' in selection) return { ...selection, sample: Math.min(selection.sample, count) };
  return 'ids' in selection
    ? { ids: selection.ids.slice(0, count) }
    : { indices: selection.indices.slice(0, count) };
}
