// The rows of a run's folder: every attempt, or only those that count. Computes a run's summary from them.
import { join } from 'node:path';
import type { EpisodeAttempt, RunRecord, RunSummary } from '../contract/run.ts';
import { summarise } from '../stats/aggregate.ts';
import { decodeAttempt } from './attempt-codec.ts';
import { AttemptLedger } from './attempt-ledger.ts';
import { readJournal } from './journal.ts';
import type { FileSystemPort } from './ports.ts';
import { readRecord, runFiles } from './run-folder.ts';

export function journalPath(folder: string): string {
  return join(folder, runFiles.journal);
}

/** Durable rows in the order they were appended; damaged lines are passed over (opening reports them). */
export async function* readAttempts(
  fileSystem: FileSystemPort,
  folder: string,
): AsyncGenerator<EpisodeAttempt> {
  for await (const { value } of readJournal(fileSystem, journalPath(folder))) {
    const decoded = decodeAttempt(value);
    if (decoded.ok) yield decoded.attempt;
  }
}

export interface CountedRows {
  /** By ordinal. */
  readonly finals: EpisodeAttempt[];
  /** First attempts of the same episodes, by ordinal. */
  readonly firsts: EpisodeAttempt[];
}

/** Planned rows only, and of surplus final rows the first one. */
export async function readCountedRows(
  fileSystem: FileSystemPort,
  folder: string,
  plan: RunRecord['plan'],
): Promise<CountedRows> {
  const ledger = new AttemptLedger(plan);
  const firstOf = new Map<number, EpisodeAttempt>();
  const finals: EpisodeAttempt[] = [];
  for await (const row of readAttempts(fileSystem, folder)) {
    if (ledger.replay(row) !== undefined) continue;
    if (!firstOf.has(row.ordinal)) firstOf.set(row.ordinal, row);
    if (row.final) finals.push(row);
  }
  finals.sort((a, b) => a.ordinal - b.ordinal);
  return { finals, firsts: finals.map((row) => firstOf.get(row.ordinal) ?? row) };
}

/** The summary of what is durable in a folder. */
export async function summariseFolder(fileSystem: FileSystemPort, folder: string): Promise<RunSummary> {
  const { record } = await readRecord(fileSystem, folder);
  const { finals, firsts } = await readCountedRows(fileSystem, folder, record.plan);
  return summarise({
    rows: finals,
    planned: record.plan.length,
    definitions: record.metrics,
    firstAttempts: firsts,
  });
}
