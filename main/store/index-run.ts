// Indexes one run from its folder, in slices, so that the engine's other work gets its turns. Rows appended while
// this reads are read by a further pass, from where the last one ended.
import { join } from 'node:path';
import type { EpisodeAttempt, RunSummary } from '../contract/run.ts';
import { headlineMetric } from '../stats/aggregate.ts';
import { createLiveAggregate } from '../stats/live-aggregate.ts';
import { decodeAttempt } from './attempt-codec.ts';
import { AttemptLedger } from './attempt-ledger.ts';
import { readJournal } from './journal.ts';
import type { FileSystemPort } from './ports.ts';
import type { RunIndex, RunStamp } from './run-index.ts';
import { readRecord, readStoredSummary, runFiles } from './run-folder.ts';

export interface IndexRunOptions {
  readonly fileSystem: FileSystemPort;
  readonly folder: string;
  readonly index: RunIndex;
  readonly stamp: RunStamp;
  readonly nextTurn: () => Promise<void>;
}

const slice = 100;

/** Resolves with how much of the journal is indexed. Throws `corrupt` or `not_found` when the folder holds no readable run. */
export async function indexRun(options: IndexRunOptions): Promise<number> {
  const { fileSystem, folder, index, stamp, nextTurn } = options;
  const { record } = await readRecord(fileSystem, folder);
  const ledger = new AttemptLedger(record.plan);
  const aggregate = createLiveAggregate({
    definitions: record.metrics,
    planned: record.plan.length,
    repeated: record.plan.some(({ repeat }) => repeat > 0),
  });
  const metricNames = record.metrics.map(({ name }) => name);
  const numbers = (summary: RunSummary) => ({ counts: summary.counts, headline: headlineMetric(summary) });
  // A line without a stamp is not up to date, should this be interrupted.
  index.putRun(record, numbers(aggregate.snapshot(0)), { record: '', journalBytes: -1 });
  while (index.clearSome(record.runId)) await nextTurn();
  for (let at = 0; at < record.plan.length; at += slice) {
    index.putPlan(record.runId, record.plan.slice(at, at + slice));
    await nextTurn();
  }
  const put = (rows: readonly EpisodeAttempt[]): void => {
    index.transaction(() => {
      for (const row of rows) index.putAttempt(record.runId, row, metricNames);
    });
  };
  const countRow = (row: EpisodeAttempt): boolean => {
    if (ledger.replay(row) !== undefined) return false;
    aggregate.spend(row.usage);
    if (row.final) aggregate.add(row);
    return true;
  };
  const pass = (fromByte: number) => readRows({ ...options, fromByte, countRow, put });
  let readTo = await pass(0);
  const stored = await readStoredSummary(fileSystem, folder);
  const latest = await readRecord(fileSystem, folder);
  for (let before = -1; readTo !== before;) {
    before = readTo;
    readTo = await pass(before);
  }
  const summary = aggregate.snapshot(0);
  // summary.json while it speaks of the same rows, because its intervals are the published ones.
  const best = stored && sameCounts(stored, summary) ? stored : summary;
  const journalBytes = Math.max(stamp.journalBytes, readTo);
  index.transaction(() => index.putRun(latest.record, numbers(best), { ...stamp, journalBytes }));
  return journalBytes;
}

interface ReadRowsOptions extends IndexRunOptions {
  readonly fromByte: number;
  readonly countRow: (row: EpisodeAttempt) => boolean;
  readonly put: (rows: readonly EpisodeAttempt[]) => void;
}

async function readRows(options: ReadRowsOptions): Promise<number> {
  const { fileSystem, folder, fromByte, countRow, put, nextTurn } = options;
  let rows: EpisodeAttempt[] = [];
  let readTo = fromByte;
  for await (const { value, endByte } of readJournal(fileSystem, join(folder, runFiles.journal), fromByte)) {
    readTo = endByte;
    const decoded = decodeAttempt(value);
    if (decoded.ok && countRow(decoded.attempt)) rows.push(decoded.attempt);
    if (rows.length < slice) continue;
    put(rows);
    rows = [];
    await nextTurn();
  }
  put(rows);
  return readTo;
}

export function sameCounts(a: RunSummary, b: RunSummary): boolean {
  const { running: _runningA, ...countsA } = a.counts;
  const { running: _runningB, ...countsB } = b.counts;
  return JSON.stringify(countsA) === JSON.stringify(countsB);
}
