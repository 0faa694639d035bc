// An open run: the only writer of its folder. A row counts once it is on the device; then the live numbers, the
// index and the caller learn of it, in this order.
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { EpisodeAttempt, PlannedEpisode, RunRecord, RunStatus, RunSummary } from '../contract/run.ts';
import { createLiveAggregate, type LiveAggregate } from '../stats/live-aggregate.ts';
import { atomicWrite } from './atomic-write.ts';
import { decodeAttempt, encodeAttempt } from './attempt-codec.ts';
import { AttemptLedger } from './attempt-ledger.ts';
import type { BulkWork } from './bulk-work.ts';
import { Journal, scanJournal, type JournalScan } from './journal.ts';
import type {
  AttemptToken,
  FileSystemPort,
  JournalReport,
  RefusalCounts,
  RunHandle,
  RunPatch,
} from './ports.ts';
import { recordText, runFiles, writeRecord, writeSummary } from './run-folder.ts';
import { journalPath, readAttempts, readCountedRows } from './run-rows.ts';

/** Who is told of changes; never makes a write fail. */
export interface RunObserver {
  /** Open for writing, with the journal as long as that. */
  onOpened(runId: string, journalBytes: number): void;
  onAppended(record: RunRecord, row: EpisodeAttempt, numbers: LiveAggregate, journalBytes: number): void;
  onRecord(record: RunRecord, summary: RunSummary, journalBytes: number): Promise<void>;
  onPlan(record: RunRecord): Promise<void>;
  onClosed(runId: string): void;
}

export interface OpenRunOptions {
  readonly fileSystem: FileSystemPort;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bulk: BulkWork;
  readonly observer: RunObserver;
  readonly folder: string;
  readonly record: RunRecord;
  readonly readOnly: boolean;
}

const endStatuses: readonly RunStatus[] = ['completed', 'completed_with_errors', 'cancelled', 'failed'];
const aliveStatuses: readonly RunStatus[] = ['preparing', 'running', 'stopping'];

export async function openRunHandle(options: OpenRunOptions): Promise<RunHandle> {
  const { fileSystem, folder, record, readOnly, logger } = options;
  const ledger = new AttemptLedger(record.plan);
  const aggregate = emptyAggregate(record);
  let surplusFinals = 0;
  const replay = (value: unknown): string | undefined => {
    const decoded = decodeAttempt(value);
    if (!decoded.ok) return decoded.reason;
    const refused = ledger.replay(decoded.attempt);
    if (refused === 'surplus final row') surplusFinals++;
    else if (!refused) {
      aggregate.spend(decoded.attempt.usage);
      if (decoded.attempt.final) aggregate.add(decoded.attempt);
    }
    return refused;
  };
  const path = journalPath(folder);
  const { journal, scan } = readOnly
    ? { journal: undefined, scan: await scanJournal(fileSystem, path, replay) }
    : await Journal.open({ fileSystem, path, logger }, replay);
  const { lines, tornBytes, corruptLines }: JournalScan = scan;
  const report = { lines, tornBytes, corruptLines, surplusFinals };
  if (corruptLines.length > 0)
    logger.error('damaged lines in a journal', { path, lines: corruptLines.slice(0, 20) });
  if (journal) options.observer.onOpened(record.runId, journal.durableBytes);
  return new OpenRun(options, { ledger, aggregate, journal, report });
}

function emptyAggregate(record: RunRecord): LiveAggregate {
  return createLiveAggregate({
    definitions: record.metrics,
    planned: record.plan.length,
    repeated: record.plan.some(({ repeat }) => repeat > 0),
  });
}

interface OpenRunParts {
  readonly ledger: AttemptLedger;
  readonly aggregate: LiveAggregate;
  readonly journal: Journal | undefined;
  readonly report: JournalReport;
}

class OpenRun implements RunHandle {
  readonly #options: OpenRunOptions;
  #parts: OpenRunParts;
  #record: RunRecord;
  /** The last computed summary, until the next row makes it old. */
  #summary: RunSummary | undefined;
  #updates: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: OpenRunOptions, parts: OpenRunParts) {
    this.#options = options;
    this.#parts = parts;
    this.#record = options.record;
  }

  get record(): RunRecord {
    return this.#record;
  }

  get folder(): string {
    return this.#options.folder;
  }

  get readOnly(): boolean {
    return this.#parts.journal === undefined;
  }

  get journalReport(): JournalReport {
    return this.#parts.report;
  }

  get refusals(): RefusalCounts {
    return this.#parts.ledger.refusals;
  }

  episodeFolder(key: string): string {
    return join(this.folder, runFiles.episodes, key);
  }

  beginAttempt(ordinal: number, epoch?: number): AttemptToken {
    this.#writable();
    return this.#parts.ledger.begin(ordinal, epoch);
  }

  recordedAttempts(ordinal: number): number {
    return this.#parts.ledger.attempts(ordinal);
  }

  missing(): PlannedEpisode[] {
    return this.#parts.ledger.missing();
  }

  live(running: number): RunSummary {
    return this.#parts.aggregate.snapshot(running);
  }

  async append(row: EpisodeAttempt): Promise<void> {
    const journal = this.#writable();
    const { ledger, aggregate } = this.#parts;
    const encoded = encodeAttempt(row);
    const reservation = ledger.reserve(row);
    try {
      await journal.append(encoded);
    } catch (error) {
      reservation.failed();
      throw error;
    }
    reservation.written();
    this.#summary = undefined;
    aggregate.spend(row.usage);
    if (row.final) aggregate.add(row);
    this.#options.observer.onAppended(this.#record, row, aggregate, journal.durableBytes);
  }

  attempts(): AsyncGenerator<EpisodeAttempt> {
    return readAttempts(this.#options.fileSystem, this.folder);
  }

  async finals(): Promise<EpisodeAttempt[]> {
    return (await readCountedRows(this.#options.fileSystem, this.folder, this.#record.plan)).finals;
  }

  async update(patch: RunPatch): Promise<RunRecord> {
    const journal = this.#writable();
    return this.#inTurn(() => this.#replaceRecord({ ...this.#record, ...patch }, journal));
  }

  async setPlan(plan: readonly PlannedEpisode[], patch: RunPatch = {}): Promise<RunRecord> {
    const journal = this.#writable();
    return this.#inTurn(async () => {
      const { runId } = this.#record;
      if (this.#record.plan.length > 0)
        throw new StudioError('conflict', `run ${runId} has its plan already`);
      const next = { ...this.#record, ...patch, plan: [...plan] };
      const { fileSystem, observer } = this.#options;
      await atomicWrite(fileSystem, join(this.folder, runFiles.createdRecord), recordText(next));
      // Nothing can have been appended yet: no row fits an empty plan.
      this.#parts = { ...this.#parts, ledger: new AttemptLedger(plan), aggregate: emptyAggregate(next) };
      await this.#replaceRecord(next, journal);
      await observer.onPlan(next);
      return next;
    });
  }

  async #replaceRecord(next: RunRecord, journal: Journal): Promise<RunRecord> {
    const { fileSystem, observer } = this.#options;
    if (!endStatuses.includes(next.status)) await this.#remove(runFiles.done);
    // Rows are about to come. By its time alone an old summary would be taken for theirs once a clock was set back.
    if (aliveStatuses.includes(next.status)) await this.#remove(runFiles.summary);
    await writeRecord(fileSystem, this.folder, next);
    this.#record = next;
    await observer.onRecord(next, this.#summary ?? this.live(0), journal.durableBytes);
    return next;
  }

  /** After the changes before it; one that failed does not stop those behind it, its caller gets the error. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#updates.then(change, change);
    this.#updates = result.catch(() => undefined);
    return result;
  }

  async finish(status: RunStatus, patch: RunPatch = {}): Promise<RunSummary> {
    this.#writable();
    const { fileSystem, bulk, clock } = this.#options;
    const ended = endStatuses.includes(status);
    const finishedAt = ended ? new Date(clock.now()).toISOString() : null;
    const summary = await bulk.run('summarise', { folder: this.folder });
    this.#summary = summary;
    // On a full disk the status matters more than the summary, which can be computed again.
    const [summaryWritten] = await Promise.allSettled([writeSummary(fileSystem, this.folder, summary)]);
    await this.update({ finishedAt, ...patch, status });
    if (summaryWritten.status === 'rejected') throw summaryWritten.reason;
    if (ended) await atomicWrite(fileSystem, join(this.folder, runFiles.done), `${status}\n`);
    return summary;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#updates;
    await this.#parts.journal?.[Symbol.asyncDispose]();
    this.#options.observer.onClosed(this.#record.runId);
  }

  async #remove(name: string): Promise<void> {
    await this.#options.fileSystem.removeFile(join(this.folder, name));
  }

  #writable(): Journal {
    const { journal } = this.#parts;
    if (!journal) throw new StudioError('read_only', `run ${this.#record.runId} is open for reading only`);
    if (this.#closed) throw new StudioError('internal', `run ${this.#record.runId} is closed`);
    return journal;
  }
}
