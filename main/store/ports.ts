// What the store offers to others, and the file system it needs. Everything that touches a disk goes through
// FileSystemPort, so that faults can be injected by decorators; a failed call rejects with what the system threw.
import type {
  EpisodeAttempt,
  EpisodeRow,
  PlannedEpisode,
  RunListItem,
  RunRecord,
  RunStatus,
  RunSummary,
} from '../contract/run.ts';

export interface FileStat {
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly isFolder: boolean;
  /** False also of pipes, sockets and devices, which may keep a reader waiting for ever. */
  readonly isFile: boolean;
}

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** `read`: must exist. `append`: made when absent, every write goes to the end. `create`: must not exist. */
export type OpenMode = 'read' | 'append' | 'create';

export interface FileHandlePort {
  /** Writes all of it; a part may be on disk when it rejects. */
  write(bytes: Uint8Array): Promise<void>;
  /** Reads at `position` into `target`; resolves with the number of bytes, 0 at the end. */
  read(target: Uint8Array, position: number): Promise<number>;
  truncate(bytes: number): Promise<void>;
  /** Forces data and length to the device. */
  sync(): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

export interface FileSystemPort {
  open(path: string, mode: OpenMode): Promise<FileHandlePort>;
  readFile(path: string): Promise<Uint8Array>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file; an absent one is not an error. */
  removeFile(path: string): Promise<void>;
  /** Removes a folder and all it holds; an absent one is not an error. */
  removeFolder(path: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** Entries of a folder; empty when it does not exist. */
  listFolder(path: string): Promise<readonly FolderEntry[]>;
  /** Undefined when nothing is there. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Absolute, with links followed; of a path that does not exist, only made absolute. */
  realPath(path: string): Promise<string>;
  /** Forces a folder's entries to the device (a no-op where the system cannot). */
  syncFolder(path: string): Promise<void>;
  /** Bytes a user may still write on the device that holds `path`. */
  freeBytes(path: string): Promise<number>;
}

/** What was wrong with a journal when it was opened. Nothing is dropped without being listed here. */
export interface JournalReport {
  readonly lines: number;
  /** Bytes after the last whole line: a write that never finished, so never acknowledged. */
  readonly tornBytes: number;
  /** Whole lines that fail their checksum or schema, with their 1-based line numbers. */
  readonly corruptLines: readonly { readonly line: number; readonly reason: string }[];
  /** Second final lines of an episode; the first one counts. */
  readonly surplusFinals: number;
}

/** Terminal writes that were refused, by reason. */
export interface RefusalCounts {
  readonly secondFinal: number;
  readonly staleAttempt: number;
  readonly staleEpoch: number;
  readonly notPlanned: number;
}

/** The current (attempt, epoch) of an episode: a row that carries another one is refused. */
export interface AttemptToken {
  readonly attempt: number;
  readonly epoch: number;
}

export type RunPatch = Partial<Omit<RunRecord, 'runId' | 'formatVersion' | 'plan' | 'createdAt'>>;

/** An open run. One writer at a time; reads see what is durable. */
export interface RunHandle extends AsyncDisposable {
  readonly record: RunRecord;
  readonly folder: string;
  readonly readOnly: boolean;
  readonly journalReport: JournalReport;
  readonly refusals: RefusalCounts;
  /** Folder of an episode's recording; not made until somebody writes to it. */
  episodeFolder(key: string): string;
  /** Replaces run.json atomically. Updates are applied in the order of the calls. */
  update(patch: RunPatch): Promise<RunRecord>;
  /**
   * Fixes the list of episodes: once, while the recorded plan is empty, else `conflict`. A run is created (and
   * queued) before its environment is loaded, and only the loaded environment says which episodes exist.
   */
  setPlan(plan: readonly PlannedEpisode[], patch?: RunPatch): Promise<RunRecord>;
  /**
   * Starts an attempt: from now on only a row with this token is accepted for the episode. The attempt is one more
   * than the recorded ones; the epoch is the caller's (of its slot), or else rises with every call. `conflict` when
   * the episode has its final row. Without it, a row only needs the next attempt number.
   */
  beginAttempt(ordinal: number, epoch?: number): AttemptToken;
  /** Rows on record for the episode, over all sessions. */
  recordedAttempts(ordinal: number): number;
  /**
   * Resolves when the row is on the device. Rejects with `conflict` (a second final row, or not the current
   * attempt and epoch; counted in `refusals`), `disk_full` or `io_failed`; a rejected row is not in the journal
   * and may be appended again.
   */
  append(attempt: EpisodeAttempt): Promise<void>;
  /** Durable rows in the order they were appended. */
  attempts(): AsyncIterable<EpisodeAttempt>;
  /** The final rows, by ordinal. */
  finals(): Promise<EpisodeAttempt[]>;
  /** Planned episodes without a final row, in the order of the plan. */
  missing(): readonly PlannedEpisode[];
  /** Numbers of now, cheap enough for several calls a second; intervals of means are Student's t. */
  live(running: number): RunSummary;
  /** Ends a session of the run: summary.json, status, `_DONE` unless the status is `paused` or `interrupted`. */
  finish(status: RunStatus, patch?: RunPatch): Promise<RunSummary>;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Matching items in all pages. */
  readonly total: number;
}

export interface SortKey {
  readonly column: string;
  readonly descending?: boolean;
}

export interface RunListQuery {
  /** Case-insensitive text in id, name, graph, environment, split, note and tags. */
  readonly search?: string;
  readonly statuses?: readonly RunStatus[];
  readonly tag?: string;
  readonly graphName?: string;
  /** Default: newest first. */
  readonly sort?: readonly SortKey[];
  readonly offset?: number;
  /** Default 100, at most 10,000. */
  readonly limit?: number;
}

export type ColumnFilter =
  | { readonly column: string; readonly in: readonly (string | number)[] }
  | { readonly column: string; readonly min?: number; readonly max?: number }
  | { readonly column: string; readonly contains: string }
  | { readonly column: string; readonly isNull: boolean };

export interface EpisodeQuery {
  readonly filters?: readonly ColumnFilter[];
  /** `success == 0 && steps_taken > 400`; see filter-expression.ts for the grammar. */
  readonly expression?: string;
  /** Columns or metric names; default: the order of the plan. */
  readonly sort?: readonly SortKey[];
  readonly offset?: number;
  /** Default 100, at most 10,000. */
  readonly limit?: number;
}

export interface ExportRequest {
  readonly runId: string;
  readonly format: 'csv' | 'tsv' | 'json' | 'jsonl' | 'latex' | 'html';
  /** The filter that was in force; named in the file. */
  readonly query?: Pick<EpisodeQuery, 'filters' | 'expression' | 'sort'>;
}

export interface RecoveryReport {
  readonly interrupted: readonly {
    readonly runId: string;
    readonly was: RunStatus;
    readonly missing: number;
  }[];
  /** Run folders that could not be read, with what to do. */
  readonly unreadable: readonly { readonly runId: string; readonly message: string }[];
  readonly tornRuns: readonly string[];
  /** Runs of which every episode was durable and only the end was not written; it is now. */
  readonly ended: readonly string[];
}

export interface IndexReport {
  readonly runs: number;
  readonly episodes: number;
  /** Why it was built anew; null when it was only brought up to date. */
  readonly rebuiltBecause: string | null;
  readonly unreadable: readonly { readonly runId: string; readonly message: string }[];
}

export interface RunStore extends AsyncDisposable {
  /** Makes the run's folder; `conflict` when the id exists. */
  create(input: { readonly record: RunRecord; readonly graphText: string }): Promise<RunHandle>;
  /** `not_found`, `corrupt`, or `conflict` when it is already open for writing. */
  open(runId: string, options?: { readonly readOnly?: boolean }): Promise<RunHandle>;
  readRecord(runId: string): Promise<RunRecord>;
  readGraphText(runId: string): Promise<string>;
  /** summary.json, or the numbers computed from the journal when it is absent or out of date. */
  readSummary(runId: string): Promise<RunSummary>;
  readAttempts(runId: string): AsyncIterable<EpisodeAttempt>;
  list(query?: RunListQuery): Promise<Page<RunListItem>>;
  listEpisodes(runId: string, query?: EpisodeQuery): Promise<Page<EpisodeRow>>;
  /** Moves the folder to the workspace's trash. `conflict` while it is open for writing. */
  delete(runId: string): Promise<{ readonly trashFolder: string }>;
  /** Name, tags and note of a run that is not open. */
  annotate(runId: string, patch: Pick<RunPatch, 'name' | 'tags' | 'note'>): Promise<RunRecord>;
  export(request: ExportRequest): AsyncIterable<string>;
  /** Ordinals of the episodes that match, in the order of the query. */
  matchingOrdinals(
    runId: string,
    query: Pick<EpisodeQuery, 'filters' | 'expression' | 'sort'>,
  ): Promise<Uint32Array>;
  /**
   * At start, by the owner of the workspace: runs that claim to be alive and are not become `interrupted`.
   * Queued runs for which `isQueued` is true stay queued.
   */
  recover(options?: { readonly isQueued?: (runId: string) => boolean }): Promise<RecoveryReport>;
  /** Brings the index up to date with the folders. */
  refreshIndex(): Promise<IndexReport>;
  rebuildIndex(): Promise<IndexReport>;
  folderOf(runId: string): string;
  freeBytes(): Promise<number>;
}
