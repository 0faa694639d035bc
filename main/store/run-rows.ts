// The rows of a run's folder: every attempt, or only those that count.
import { join } from 'node:path';
import type { ChatUsage } from '../contract/chat.ts';
import { addedUsage, noUsage } from '../contract/chat-usage.ts';
import type { EpisodeAttempt, RunRecord } from '../contract/run.ts';
import { decodeAttempt } from './attempt-codec.ts';
import { AttemptLedger } from './attempt-ledger.ts';
import { readJournal } from './journal.ts';
import type { FileSystemPort } from './ports.ts';
import { runFiles } from './run-folder.ts';

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
  /** Of language models, over every attempt. */
  readonly usage: ChatUsage | null;
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
  let usage: ChatUsage | null = null;
  for await (const row of readAttempts(fileSystem, folder)) {
    if (ledger.replay(row) !== undefined) continue;
    if (row.usage) usage = addedUsage(usage ?? noUsage, row.usage);
    if (!firstOf.has(row.ordinal)) firstOf.set(row.ordinal, row);
    if (row.final) finals.push(row);
  }
  finals.sort((a, b) => a.ordinal - b.ordinal);
  return { usage, finals, firsts: finals.map((row) => firstOf.get(row.ordinal) ?? row) };
}
