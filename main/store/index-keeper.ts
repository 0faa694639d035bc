// Keeps the SQLite index in step with the run folders. The index is never the record: an error in it is logged,
// never fails a write of a run, and damage ends in a rebuild that says why.
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { EpisodeAttempt, EpisodeRow, RunListItem, RunRecord, RunSummary } from '../contract/run.ts';
import { headlineMetric } from '../stats/aggregate.ts';
import type { LiveAggregate } from '../stats/live-aggregate.ts';
import type { BulkWork } from './bulk-work.ts';
import { databaseFiles, isDamage, openDatabase, type OpenDatabase } from './index-database.ts';
import { indexRun } from './index-run.ts';
import { episodesByOrdinal, listEpisodes, listRuns, matchingOrdinals } from './index-queries.ts';
import type { EpisodeQuery, FileSystemPort, IndexReport, Page, RunListQuery } from './ports.ts';
import { RunIndex, type IndexedNumbers, type RunStamp } from './run-index.ts';
import { holdsRun, runFiles } from './run-folder.ts';
import { toStorageError } from './storage-error.ts';
import type { RunObserver } from './run-handle.ts';

export interface IndexKeeperOptions {
  readonly fileSystem: FileSystemPort;
  readonly logger: Logger;
  readonly runsFolder: string;
  /** A file, or `:memory:` for a workspace that may not be written to. */
  readonly indexPath: string;
  /** Where runs of many episodes are read. */
  readonly bulk?: Pick<BulkWork, 'run'> | undefined;
  /** Default: SQLite itself. */
  readonly openDatabase?: OpenDatabase | undefined;
  /** It was damaged and is built anew. */
  readonly onDamage?: ((reason: string) => void) | undefined;
}

export class IndexKeeper implements RunObserver {
  readonly #options: IndexKeeperOptions;
  #database: DatabaseSync;
  #index: RunIndex;
  /** Why the next read must look at the folders first. */
  #stale: string | null = 'it was just opened';
  #rebuiltBecause: string | null = null;
  /** Runs whose journal is being read, with its length at the last row that came meanwhile and was not pushed. */
  readonly #reading = new Map<string, number>();
  /**
   * Runs open for writing: how much of the journal is indexed, null when rows are missing. On disk an open run has
   * no length: what a crash leaves is read again.
   */
  readonly #open = new Map<string, number | null>();
  #refreshing: Promise<IndexReport> | undefined;
  /** Refreshes and rebuilds, one after the other; reads wait for those that are going on. */
  #line: Promise<unknown> = Promise.resolve();

  private constructor(options: IndexKeeperOptions, database: DatabaseSync) {
    this.#options = options;
    this.#database = database;
    this.#index = new RunIndex(database);
  }

  static async open(options: IndexKeeperOptions): Promise<IndexKeeper> {
    const { fileSystem, indexPath, logger } = options;
    if (indexPath !== ':memory:') await fileSystem.makeFolder(dirname(indexPath));
    try {
      const { database, isNew } = (options.openDatabase ?? openDatabase)(indexPath);
      const keeper = new IndexKeeper(options, database);
      if (isNew) keeper.#rebuiltBecause = 'there was none, or it was of another version';
      return keeper;
    } catch (error) {
      logger.warn('the index cannot be opened and is built anew', { indexPath, reason: messageOf(error) });
      for (const path of databaseFiles(indexPath)) await fileSystem.removeFile(path);
      const keeper = new IndexKeeper(options, openAnew(options));
      keeper.#rebuiltBecause = messageOf(error);
      options.onDamage?.(messageOf(error));
      return keeper;
    }
  }

  onAppended(record: RunRecord, row: EpisodeAttempt, numbers: LiveAggregate, journalBytes: number): void {
    const { runId } = record;
    if (this.#isBeingRead(runId, journalBytes)) return;
    if (this.#open.get(runId) === null) {
      this.#stale = 'it lacks rows of a run';
      return;
    }
    this.#guarded(runId, () => {
      const metricNames = record.metrics.map(({ name }) => name);
      this.#index.transaction(() => {
        this.#index.putAttempt(runId, row, metricNames);
        this.#index.putNumbers(runId, numbers.headline(), unknownBytes);
      });
      this.#open.set(runId, journalBytes);
    });
  }

  /** A run that was just made: nothing of it can be missing. */
  onCreated(runId: string): void {
    this.#open.set(runId, 0);
  }

  onOpened(runId: string, journalBytes: number): void {
    if (this.#open.has(runId)) return;
    this.#guarded(runId, () => {
      const isInStep = this.#index.journalBytesOf(runId) === journalBytes;
      this.#open.set(runId, isInStep ? journalBytes : null);
      if (isInStep) return;
      this.#stale = 'a run was opened that has other rows';
      this.#index.putJournalBytes(runId, unknownBytes);
    });
  }

  async onRecord(record: RunRecord, summary: RunSummary, journalBytes: number): Promise<void> {
    const { runId } = record;
    if (this.#isBeingRead(runId, journalBytes)) return;
    const { record: stamp } = await this.#stampOf(runId, journalBytes);
    this.#guarded(runId, () => {
      // Of a run that is not open the line alone changed, whatever of its journal is indexed.
      const indexed = this.#open.has(runId) ? unknownBytes : this.#index.journalBytesOf(runId);
      const numbers = numbersOf(summary);
      const known = { record: stamp, journalBytes: indexed ?? unknownBytes };
      this.#index.transaction(() => this.#index.putRun(record, numbers, known));
    });
  }

  /** A run whose plan just became known; its line is there already. */
  async onPlan(record: RunRecord): Promise<void> {
    for (let at = 0; at < record.plan.length; at += planSlice) {
      this.#guarded(record.runId, () =>
        this.#index.putPlan(record.runId, record.plan.slice(at, at + planSlice)),
      );
      await nextTurn();
    }
  }

  onNotOpened(runId: string): void {
    this.#open.delete(runId);
  }

  onClosed(runId: string): void {
    const indexed = this.#open.get(runId) ?? null;
    this.#open.delete(runId);
    if (indexed !== null) this.#guarded(runId, () => this.#index.putJournalBytes(runId, indexed));
  }

  async onDeleted(runId: string): Promise<void> {
    while (this.#index.clearSome(runId)) await nextTurn();
    this.#guarded(runId, () => this.#index.removeRun(runId));
  }

  /** What is not taken now is found by the next look at the folders. */
  #isBeingRead(runId: string, journalBytes: number): boolean {
    if (!this.#reading.has(runId)) return false;
    this.#reading.set(runId, journalBytes);
    this.#stale = 'rows came while it was built';
    return true;
  }

  async list(query?: RunListQuery): Promise<Page<RunListItem>> {
    return this.#read((database) => listRuns(database, query));
  }

  async listEpisodes(runId: string, query?: EpisodeQuery): Promise<Page<EpisodeRow>> {
    return this.#read((database) => listEpisodes(database, runId, query));
  }

  /** Ordinals of the matching episodes in the order of the query, however many. */
  async matchingOrdinals(runId: string, query?: EpisodeQuery): Promise<Uint32Array> {
    return this.#read((database) => matchingOrdinals(database, runId, query));
  }

  async episodesByOrdinal(runId: string, ordinals: Uint32Array): Promise<EpisodeRow[]> {
    return this.#read((database) => episodesByOrdinal(database, runId, ordinals));
  }

  /** Brings the index up to date with the folders; concurrent calls share one pass. */
  refresh(): Promise<IndexReport> {
    this.#refreshing ??= this.#inLine(() => this.#refreshOrRebuild()).finally(
      () => (this.#refreshing = undefined),
    );
    return this.#refreshing;
  }

  rebuild(because: string): Promise<IndexReport> {
    return this.#inLine(async () => {
      await this.#startAnew(because);
      return this.#refresh();
    });
  }

  async close(): Promise<void> {
    await this.#line;
    if (this.#database.isOpen) this.#database.close();
  }

  async #read<T>(query: (database: DatabaseSync) => T): Promise<T> {
    try {
      if (this.#stale !== null) await this.refresh();
      await this.#line;
      return query(this.#database);
    } catch (error) {
      if (!isDamage(error)) throw toStorageError(error, 'read the index');
      this.#options.onDamage?.(messageOf(error));
      await this.rebuild(messageOf(error));
      return query(this.#database);
    }
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#line.then(work);
    // The caller gets the error; whoever stands behind it has its own try.
    this.#line = result.catch(() => undefined);
    return result;
  }

  async #refreshOrRebuild(): Promise<IndexReport> {
    try {
      return await this.#refresh();
    } catch (error) {
      if (!isDamage(error)) throw toStorageError(error, 'bring the index up to date');
      this.#options.onDamage?.(messageOf(error));
      await this.#startAnew(messageOf(error));
      return this.#refresh();
    }
  }

  async #refresh(): Promise<IndexReport> {
    const unreadable: { runId: string; message: string }[] = [];
    this.#stale = null;
    const found = await this.#runIds();
    const stamps = this.#index.stamps();
    for (const runId of stamps.keys()) if (!found.has(runId)) await this.onDeleted(runId);
    for (const runId of found) {
      try {
        await this.#refreshRun(runId, stamps.get(runId));
      } catch (error) {
        if (isDamage(error)) throw error;
        if (!(await holdsRun(this.#options.fileSystem, join(this.#options.runsFolder, runId)))) continue;
        unreadable.push({ runId, message: messageOf(error) });
      }
    }
    const rebuiltBecause = this.#rebuiltBecause;
    this.#rebuiltBecause = null;
    return { ...this.#totals(), rebuiltBecause, unreadable };
  }

  async #refreshRun(runId: string, known: RunStamp | undefined): Promise<void> {
    const folder = join(this.#options.runsFolder, runId);
    const journal = await this.#options.fileSystem.stat(join(folder, runFiles.journal));
    const stamp = await this.#stampOf(runId, journal?.bytes ?? 0);
    const indexed = this.#open.has(runId) ? this.#open.get(runId) : known?.journalBytes;
    if (known?.record === stamp.record && indexed === stamp.journalBytes) return;
    this.#reading.set(runId, 0);
    let readTo: number | null = null;
    try {
      readTo = await this.#indexRun(folder, stamp);
    } finally {
      const cameMeanwhile = this.#reading.get(runId) ?? 0;
      this.#reading.delete(runId);
      if (this.#open.has(runId))
        this.#open.set(runId, readTo !== null && cameMeanwhile <= readTo ? readTo : null);
    }
  }

  async #indexRun(folder: string, stamp: RunStamp): Promise<number> {
    const { fileSystem, indexPath, bulk } = this.#options;
    const bytes = Number(stamp.record.split(':')[0]) + stamp.journalBytes;
    if (bulk && indexPath !== ':memory:' && bytes > largeRunBytes)
      return bulk.run('indexRun', { folder, indexPath, stamp });
    return indexRun({ fileSystem, folder, index: this.#index, stamp, nextTurn });
  }

  async #runIds(): Promise<Set<string>> {
    const { fileSystem, runsFolder } = this.#options;
    const entries = await fileSystem.listFolder(runsFolder);
    return new Set(
      entries.flatMap(({ name, isFolder }) => (isFolder && !name.startsWith('.') ? [name] : [])),
    );
  }

  async #stampOf(runId: string, journalBytes: number): Promise<RunStamp> {
    const path = join(this.#options.runsFolder, runId, runFiles.record);
    const found = await this.#options.fileSystem.stat(path);
    return { record: found ? `${found.bytes}:${found.modifiedMs}` : 'absent', journalBytes };
  }

  async #startAnew(because: string): Promise<void> {
    const { fileSystem, indexPath, logger } = this.#options;
    logger.warn('rebuilding the index', { because });
    if (this.#database.isOpen) this.#database.close();
    for (const path of databaseFiles(indexPath)) await fileSystem.removeFile(path);
    this.#database = openAnew(this.#options);
    this.#index = new RunIndex(this.#database);
    this.#rebuiltBecause = because;
  }

  #totals(): { runs: number; episodes: number } {
    const count = (table: string): number =>
      Number(this.#database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'] ?? 0);
    return { runs: count('runs'), episodes: count('episodes') };
  }

  #guarded(runId: string, write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#stale = messageOf(error);
      if (this.#open.has(runId)) this.#open.set(runId, null);
      this.#options.logger.error('the index could not be written; it will be brought up to date', {
        reason: messageOf(error),
      });
    }
  }
}

function openAnew(options: IndexKeeperOptions): DatabaseSync {
  const { indexPath, openDatabase: open = openDatabase } = options;
  try {
    return open(indexPath).database;
  } catch (error) {
    throw toStorageError(error, `make the index ${indexPath}`);
  }
}

const planSlice = 200;

/** Record and journal; smaller ones are read in less time than it takes to hand them over. */
const largeRunBytes = 2 ** 20;

/** No journal is as long as that. */
const unknownBytes = -1;

/** Lets the engine's other work go on. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function numbersOf(summary: RunSummary): IndexedNumbers {
  return { counts: summary.counts, headline: headlineMetric(summary) };
}
