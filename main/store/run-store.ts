// The runs of a workspace: folders are the record, the index is derived. One open writer per run.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import { silentLogger, type Logger } from '../base/logger.ts';
import type { RunRecord, RunSummary } from '../contract/run.ts';
import { makeDurableFolder, writeDurably } from './atomic-write.ts';
import { createInThreadBulkWork, type BulkWork } from './bulk-work.ts';
import { guardFileSystem } from './guarded-file-system.ts';
import type { OpenDatabase } from './index-database.ts';
import { IndexKeeper } from './index-keeper.ts';
import type { ExportRequest, FileSystemPort, IndexReport, RunHandle, RunStore } from './ports.ts';
import { recoverRuns, unfinishedPrefix } from './recovery.ts';
import { readRecord, readStoredSummary, readText, recordText, runFiles, writeRecord } from './run-folder.ts';
import { openRunHandle } from './run-handle.ts';
import { assertRunId } from './run-id.ts';
import { readAttempts } from './run-rows.ts';
import { systemCode } from './storage-error.ts';

export interface RunStoreOptions {
  readonly fileSystem: FileSystemPort;
  readonly clock: Clock;
  /** `<workspace>/outputs/eval_runs` */
  readonly runsFolder: string;
  /** On the same device as the runs. */
  readonly trashFolder: string;
  /** `:memory:` when the workspace may not be written to. */
  readonly indexPath: string;
  readonly readOnly?: boolean;
  readonly logger?: Logger;
  /** Default: in this thread. The application gives a worker thread. */
  readonly bulk?: BulkWork;
  /** Of the index; default: SQLite itself. */
  readonly openDatabase?: OpenDatabase;
  /** The index was damaged and is built anew. */
  readonly onIndexDamage?: (reason: string) => void;
}

export async function openRunStore(options: RunStoreOptions): Promise<RunStore> {
  const { runsFolder, readOnly = false, logger = silentLogger } = options;
  const fileSystem = guardFileSystem(options.fileSystem);
  if (!readOnly) await makeDurableFolder(fileSystem, runsFolder);
  const indexPath = readOnly ? ':memory:' : options.indexPath;
  const {
    onIndexDamage: onDamage,
    openDatabase,
    bulk = createInThreadBulkWork(fileSystem),
    ...more
  } = options;
  const index = { fileSystem, logger, runsFolder, indexPath, bulk, onDamage, openDatabase };
  const keeper = await IndexKeeper.open(index);
  return new FolderRunStore({ ...more, fileSystem, readOnly, logger, bulk }, keeper);
}

type StoreParts = Required<Omit<RunStoreOptions, 'onIndexDamage' | 'openDatabase'>>;

/** A plan of 100,000 episodes takes a third of a second to read: those looked at last are kept. */
const recordsKept = 8;

class FolderRunStore implements RunStore {
  readonly #options: StoreParts;
  readonly #keeper: IndexKeeper;
  readonly #records = new Map<string, { readonly stamp: string; readonly record: RunRecord }>();
  /** Runs open for writing; `opening` holds the place. */
  readonly #open = new Map<string, RunHandle | 'opening'>();

  constructor(options: StoreParts, keeper: IndexKeeper) {
    this.#options = options;
    this.#keeper = keeper;
  }

  folderOf(runId: string): string {
    assertRunId(runId);
    return join(this.#options.runsFolder, runId);
  }

  async create({ record, graphText }: { record: RunRecord; graphText: string }): Promise<RunHandle> {
    this.#assertWritable();
    const folder = this.folderOf(record.runId);
    const { fileSystem, runsFolder } = this.#options;
    if (await fileSystem.stat(folder))
      throw new StudioError('conflict', `run ${record.runId} exists already`);
    const temporary = join(
      runsFolder,
      `${unfinishedPrefix}${record.runId}-${randomBytes(4).toString('hex')}`,
    );
    try {
      await fileSystem.makeFolder(temporary);
      await writeDurably(fileSystem, join(temporary, runFiles.graph), graphText);
      await writeDurably(fileSystem, join(temporary, runFiles.createdRecord), recordText(record));
      await writeDurably(fileSystem, join(temporary, runFiles.record), recordText(record));
      await writeDurably(fileSystem, join(temporary, runFiles.journal), '');
      await fileSystem.syncFolder(temporary);
      await fileSystem.rename(temporary, folder);
      await fileSystem.syncFolder(runsFolder);
    } catch (error) {
      // What cannot be removed now is swept at the next start.
      await fileSystem.removeFolder(temporary).catch(() => undefined);
      if (systemCode(error) === 'ENOTEMPTY' || systemCode(error) === 'EEXIST') {
        throw new StudioError('conflict', `run ${record.runId} exists already`, { cause: error });
      }
      throw error;
    }
    this.#keeper.onCreated(record.runId);
    const handle = await this.#openRun(record.runId, false, () => Promise.resolve(record));
    await this.#keeper.onRecord(record, handle.live(0), 0);
    await this.#keeper.onPlan(record);
    return handle;
  }

  async open(runId: string, { readOnly = this.#options.readOnly } = {}): Promise<RunHandle> {
    return this.#openRun(runId, readOnly, async () => (await this.#findRecord(runId)).record);
  }

  async #openRun(runId: string, readOnly: boolean, find: () => Promise<RunRecord>): Promise<RunHandle> {
    const folder = this.folderOf(runId);
    const keeper = this.#keeper;
    if (readOnly) {
      const nobody = { onAppended() {}, onRecord: async () => {}, onPlan: async () => {} };
      const observer = { ...nobody, onOpened() {}, onClosed() {} };
      return openRunHandle({ ...this.#options, folder, record: await find(), readOnly, observer });
    }
    this.#assertWritable();
    if (this.#open.has(runId)) {
      throw new StudioError('conflict', `run ${runId} is open already; wait until it has ended`);
    }
    this.#open.set(runId, 'opening');
    try {
      const observer = {
        onOpened: keeper.onOpened.bind(keeper),
        onAppended: keeper.onAppended.bind(keeper),
        onRecord: keeper.onRecord.bind(keeper),
        onPlan: keeper.onPlan.bind(keeper),
        onClosed: () => {
          keeper.onClosed(runId);
          this.#open.delete(runId);
        },
      };
      const handle = await openRunHandle({
        ...this.#options,
        folder,
        record: await find(),
        readOnly,
        observer,
      });
      this.#open.set(runId, handle);
      return handle;
    } catch (error) {
      keeper.onNotOpened(runId);
      this.#open.delete(runId);
      throw error;
    }
  }

  async readRecord(runId: string): Promise<RunRecord> {
    const open = this.#open.get(runId);
    return typeof open === 'object' ? open.record : (await this.#findRecord(runId)).record;
  }

  async readGraphText(runId: string): Promise<string> {
    return readText(this.#options.fileSystem, join(this.folderOf(runId), runFiles.graph));
  }

  async readSummary(runId: string): Promise<RunSummary> {
    const folder = this.folderOf(runId);
    const { fileSystem, bulk } = this.#options;
    const open = this.#open.get(runId);
    if (typeof open === 'object' && open.record.finishedAt === null) return open.live(0);
    const stored = await readStoredSummary(fileSystem, folder);
    const [summaryFile, journal] = await Promise.all(
      [runFiles.summary, runFiles.journal].map((name) => fileSystem.stat(join(folder, name))),
    );
    if (!journal) throw noRun(runId);
    // Rows that came after it make a summary old.
    if (stored && summaryFile && summaryFile.modifiedMs >= journal.modifiedMs) return stored;
    return bulk.run('summarise', { folder });
  }

  readAttempts(runId: string): ReturnType<RunStore['readAttempts']> {
    return readAttempts(this.#options.fileSystem, this.folderOf(runId));
  }

  list: RunStore['list'] = (query) => this.#keeper.list(query);

  listEpisodes: RunStore['listEpisodes'] = (runId, query) => this.#keeper.listEpisodes(runId, query);

  async delete(runId: string): Promise<{ trashFolder: string }> {
    this.#assertWritable();
    const folder = this.folderOf(runId);
    if (this.#open.has(runId)) throw new StudioError('conflict', `run ${runId} is going on; cancel it first`);
    await this.#findRecordOrFolder(runId);
    const { fileSystem, trashFolder: root } = this.#options;
    const trashFolder = join(root, `${runId}-${randomBytes(3).toString('hex')}`);
    await fileSystem.makeFolder(root);
    await fileSystem.rename(folder, trashFolder);
    await this.#keeper.onDeleted(runId);
    return { trashFolder };
  }

  async annotate(runId: string, patch: Parameters<RunStore['annotate']>[1]): Promise<RunRecord> {
    this.#assertWritable();
    const open = this.#open.get(runId);
    if (typeof open === 'object') return open.update(patch);
    const { fileSystem } = this.#options;
    const folder = this.folderOf(runId);
    const { record } = await this.#findRecord(runId);
    const next = { ...record, ...patch };
    await writeRecord(fileSystem, folder, next);
    const journal = await fileSystem.stat(join(folder, runFiles.journal));
    await this.#keeper.onRecord(next, await this.readSummary(runId), journal?.bytes ?? 0);
    return next;
  }

  /** One part: the text is put together in the bulk thread. */
  async *export(request: ExportRequest): AsyncGenerator<string> {
    const { runId, format, query = {} } = request;
    await this.#findRecord(runId);
    const filter = describeFilter(query);
    const isWhole = filter === null && (query.sort ?? []).length === 0;
    const ordinals = isWhole ? null : await this.matchingOrdinals(runId, query);
    yield await this.#options.bulk.run('exportText', {
      folder: this.folderOf(runId),
      format,
      ordinals,
      filter,
    });
  }

  matchingOrdinals: RunStore['matchingOrdinals'] = (runId, query) =>
    this.#keeper.matchingOrdinals(runId, query);

  async recover({ isQueued = () => false }: Parameters<RunStore['recover']>[0] = {}): ReturnType<
    RunStore['recover']
  > {
    this.#assertWritable();
    const { fileSystem, logger, runsFolder } = this.#options;
    const isOpen = (runId: string): boolean => this.#open.has(runId);
    return recoverRuns({
      fileSystem,
      logger,
      runsFolder,
      isQueued,
      isOpen,
      open: (runId) => this.open(runId),
    });
  }

  refreshIndex(): Promise<IndexReport> {
    return this.#keeper.refresh();
  }

  rebuildIndex(): Promise<IndexReport> {
    return this.#keeper.rebuild('it was asked for');
  }

  async freeBytes(): Promise<number> {
    return this.#options.fileSystem.freeBytes(this.#options.runsFolder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const handle of this.#open.values())
      if (typeof handle === 'object') await handle[Symbol.asyncDispose]();
    await this.#options.bulk[Symbol.asyncDispose]();
    await this.#keeper.close();
  }

  async #findRecord(runId: string): ReturnType<typeof readRecord> {
    const folder = this.folderOf(runId);
    const { fileSystem } = this.#options;
    if (!(await fileSystem.stat(folder))) throw noRun(runId);
    const file = await fileSystem.stat(join(folder, runFiles.record));
    const stamp = file ? `${file.bytes}:${file.modifiedMs}` : '';
    const known = this.#records.get(runId);
    if (known && known.stamp === stamp) return { record: known.record, damage: null };
    const found = await readRecord(fileSystem, folder);
    this.#records.delete(runId);
    if (found.damage === null) this.#records.set(runId, { stamp, record: found.record });
    if (this.#records.size > recordsKept) this.#records.delete(this.#records.keys().next().value ?? '');
    return found;
  }

  /** A run too damaged to read may still be deleted. */
  async #findRecordOrFolder(runId: string): Promise<void> {
    if (!(await this.#options.fileSystem.stat(this.folderOf(runId)))) throw noRun(runId);
  }

  #assertWritable(): void {
    if (this.#options.readOnly) {
      throw new StudioError('read_only', 'The workspace is open read-only: another process owns it');
    }
  }
}

function noRun(runId: string): StudioError {
  return new StudioError('not_found', `There is no run ${runId}; see \`runs list\``);
}

function describeFilter(query: NonNullable<ExportRequest['query']>): string | null {
  const typed = (query.filters ?? []).map((filter) => JSON.stringify(filter));
  const parts = [...(query.expression?.trim() ? [query.expression.trim()] : []), ...typed];
  return parts.length === 0 ? null : parts.join(' && ');
}
