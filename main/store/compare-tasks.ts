// Bulk tasks about several runs. Lists are cut to the asked page here, so that only what is shown crosses over.
import { join } from 'node:path';
import { StudioError } from '../base/errors.ts';
import type { ComparisonGroup } from '../contract/compare.ts';
import type { MetricDefinition } from '../contract/nodeset.ts';
import { summariseGroups, type GroupSummary } from '../stats/aggregate.ts';
import { compareRuns, pairRows, type FlipOutcome, type RunComparison } from '../stats/comparison.ts';
import { episodesNeeded, type EpisodesNeeded } from '../stats/episodes-needed.ts';
import {
  listFlips,
  recordedDifferences,
  type Flip,
  type GroupDifference,
  type RecordedDifference,
} from '../stats/flips.ts';
import { groupingsOf, groupPairs } from '../stats/pair-groups.ts';
import { scatterOf, type ScatterData } from '../stats/scatter.ts';
import { readRecord, runFiles } from './run-folder.ts';
import { headOf, type RunHead } from './run-head.ts';
import type { ReadRun, RunReader } from './run-reader.ts';

interface RunPair {
  readonly baselineFolder: string;
  readonly otherFolder: string;
}

interface PageRequest {
  readonly offset: number;
  readonly limit: number;
}

export interface FlipPage {
  readonly rows: readonly (Flip & { readonly baselineRecorded: boolean; readonly otherRecorded: boolean })[];
  readonly total: number;
  readonly counts: Readonly<Record<FlipOutcome, number>>;
}

export interface CompareTasks {
  recordHeads: { input: { readonly folders: readonly string[] }; output: readonly RunHead[] };
  /** The same numbers as summary.json, per scene. */
  summariseScenes: { input: { readonly folder: string }; output: GroupSummary[] };
  compare: {
    input: {
      readonly baselineFolder: string;
      readonly otherFolders: readonly string[];
      readonly metricNames?: readonly string[] | undefined;
      readonly commonOnly?: boolean;
    };
    output: RunComparison;
  };
  flips: {
    input: RunPair & PageRequest & { readonly metric: string; readonly outcomes: readonly FlipOutcome[] };
    output: FlipPage;
  };
  scatter: { input: RunPair & { readonly metric: string }; output: ScatterData };
  groups: {
    input: RunPair & PageRequest & { readonly metric: string; readonly by: ComparisonGroup };
    output: {
      readonly rows: readonly GroupDifference[];
      readonly total: number;
      readonly groupings: readonly ComparisonGroup[];
    };
  };
  parallelDifferences: {
    input: RunPair & PageRequest;
    output: {
      readonly pairs: number;
      readonly rows: readonly RecordedDifference[];
      readonly total: number;
      readonly episodesPerSecond: { readonly baseline: number | null; readonly other: number | null };
    };
  };
  episodesNeeded: {
    input: {
      readonly folder: string;
      readonly otherFolder?: string | undefined;
      readonly metric: string;
      readonly difference: number;
      readonly power: number;
      readonly alpha: number;
    };
    output: EpisodesNeeded;
  };
}

type Performers<Tasks> = {
  readonly [Name in keyof Tasks]: (
    runs: RunReader,
    input: Tasks[Name] extends { input: infer Input } ? Input : never,
  ) => Promise<Tasks[Name] extends { output: infer Output } ? Output : never>;
};

export const compareTasks: Performers<CompareTasks> = {
  recordHeads: ({ fileSystem }, { folders }) =>
    Promise.all(folders.map(async (folder) => headOf((await readRecord(fileSystem, folder)).record))),
  async summariseScenes(runs, { folder }) {
    const { record, finals } = await runs.read(folder);
    return summariseGroups({ rows: finals, definitions: record.metrics });
  },
  async compare(runs, { baselineFolder, otherFolders, metricNames, commonOnly = false }) {
    const baseline = await runs.read(baselineFolder);
    const others: ReadRun[] = [];
    for (const folder of otherFolders) others.push(await runs.read(folder));
    for (const name of metricNames ?? []) metricNamed(baseline, name);
    return compareRuns({ baseline, others, commonOnly, ...(metricNames ? { metricNames } : {}) });
  },
  async flips(runs, input) {
    const { flips, pair } = await flipsOf(runs, input);
    const counts = { won: 0, lost: 0, same: 0 };
    for (const { outcome } of flips) counts[outcome]++;
    const wanted = flips.filter(({ outcome }) => input.outcomes.includes(outcome));
    const [inBaseline, inOther] = [
      await recordedKeys(runs, input.baselineFolder),
      await recordedKeys(runs, input.otherFolder),
    ];
    const keyOf = (run: ReadRun, ordinal: number): string =>
      (run.record.plan[ordinal]?.ordinal === ordinal
        ? run.record.plan[ordinal]
        : run.record.plan.find((planned) => planned.ordinal === ordinal)
      )?.key ?? '';
    const rows = wanted.slice(input.offset, input.offset + input.limit).map((flip) => ({
      ...flip,
      baselineRecorded: inBaseline.has(keyOf(pair.baseline, flip.baselineOrdinal)),
      otherRecorded: inOther.has(keyOf(pair.other, flip.otherOrdinal)),
    }));
    return { rows, total: wanted.length, counts };
  },
  async scatter(runs, input) {
    const { baseline, other } = await readPair(runs, input);
    const metric = metricNamed(baseline, input.metric);
    return scatterOf({ baseline: baseline.finals, other: other.finals, metric });
  },
  async groups(runs, input) {
    const { flips } = await flipsOf(runs, input);
    const groups = groupPairs(flips, input.by);
    const rows = groups.slice(input.offset, input.offset + input.limit);
    return { rows, total: groups.length, groupings: groupingsOf(flips) };
  },
  async parallelDifferences(runs, input) {
    const { baseline, other } = await readPair(runs, input);
    const differences = recordedDifferences(baseline.finals, other.finals);
    return {
      pairs: pairRows(baseline.finals, other.finals).length,
      rows: differences.slice(input.offset, input.offset + input.limit),
      total: differences.length,
      episodesPerSecond: { baseline: rateOf(baseline), other: rateOf(other) },
    };
  },
  async episodesNeeded(runs, { folder, otherFolder, metric: name, ...target }) {
    const run = await runs.read(folder);
    const metric = metricNamed(run, name);
    const otherRows = otherFolder === undefined ? undefined : (await runs.read(otherFolder)).finals;
    return episodesNeeded({ rows: run.finals, metric, ...target, ...(otherRows ? { otherRows } : {}) });
  },
};

async function readPair(
  runs: RunReader,
  { baselineFolder, otherFolder }: RunPair,
): Promise<{ baseline: ReadRun; other: ReadRun }> {
  return { baseline: await runs.read(baselineFolder), other: await runs.read(otherFolder) };
}

async function flipsOf(
  runs: RunReader,
  input: RunPair & { readonly metric: string },
): Promise<{ flips: Flip[]; pair: { baseline: ReadRun; other: ReadRun } }> {
  const pair = await readPair(runs, input);
  const metric = metricNamed(pair.baseline, input.metric);
  const flips = listFlips({ baseline: pair.baseline.finals, other: pair.other.finals, metric });
  return { flips, pair };
}

/** Names of the folders of recorded episodes. */
export async function recordedKeys(runs: RunReader, folder: string): Promise<Set<string>> {
  const entries = await runs.fileSystem.listFolder(join(folder, runFiles.episodes));
  return new Set(entries.filter(({ isFolder }) => isFolder).map(({ name }) => name));
}

function rateOf({ record, finals }: ReadRun): number | null {
  return record.activeMs > 0 && finals.length > 0 ? (finals.length * 1000) / record.activeMs : null;
}

export function metricNamed({ record }: Pick<ReadRun, 'record'>, name: string): MetricDefinition {
  const found = record.metrics.find((definition) => definition.name === name);
  if (found) return found;
  const known = record.metrics.map((definition) => definition.name).join(', ');
  throw new StudioError('not_found', `The run has no metric "${name}". It has: ${known}`);
}
