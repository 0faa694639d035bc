// One open run outside React: record, live state and rows. Snapshots and events may cross on the way; a row that an
// event changed after a page was asked for is newer than the page. Listeners are called at most once per frame.
import type { EventMessage, RequestOutput } from '#contract/api.ts';
import type { EpisodeRow, RunListItem, RunStatus, RunSummary } from '#contract/run.ts';
import type { LiveRun } from '#contract/requests.ts';
import type { Client } from '../api/client.ts';
import { isAborted, toRequestError, type RequestError } from '../api/request-error.ts';
import type { Schedule } from './frame-schedule.ts';
import { RowIndex } from './row-index.ts';
import { addSample, type LiveSample } from './throughput.ts';

export type RunRecordView = RequestOutput<'runs.get'>['record'];

export interface RunSessionState {
  readonly record: RunRecordView | null;
  readonly folder: string | null;
  readonly summary: RunSummary | null;
  readonly live: LiveRun | null;
  readonly status: RunStatus | null;
  readonly stage: string | null;
  readonly error: RequestError | null;
  /** Rows asked for and rows there are; null before the first page came. */
  readonly rows: { readonly loaded: number; readonly total: number } | null;
  readonly rowsError: RequestError | null;
  readonly samples: readonly LiveSample[];
  readonly isDeleted: boolean;
}

const pageSize = 1000;
const activeStatuses: ReadonlySet<RunStatus> = new Set(['queued', 'preparing', 'running', 'stopping']);

export const isActive = (status: RunStatus | null): boolean => status !== null && activeStatuses.has(status);

const emptyState: RunSessionState = {
  record: null,
  folder: null,
  summary: null,
  live: null,
  status: null,
  stage: null,
  error: null,
  rows: null,
  rowsError: null,
  samples: [],
  isDeleted: false,
};

export class RunSession {
  readonly runId: string;
  readonly index = new RowIndex();
  #state = emptyState;
  readonly #client: Client;
  readonly #schedule: Schedule;
  readonly #listeners = new Set<() => void>();
  #cancelFrame: (() => void) | null = null;
  #refresh: AbortController | null = null;
  /** Counts questions for the record: only the answer to the latest is taken. */
  #recordRound = 0;
  /** An event came while the record was still on its way, and may be newer than it. */
  #isRecordDated = false;
  /** Counts rows events; `#touched` says at which of them a row last changed. */
  #tick = 0;
  readonly #touched = new Map<number, number>();

  constructor(runId: string, client: Client, schedule: Schedule) {
    this.runId = runId;
    this.#client = client;
    this.#schedule = schedule;
  }

  readonly getState = (): RunSessionState => this.#state;
  readonly getRowsVersion = (): number => this.index.version;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Draws soon; several calls before the next frame count once. */
  readonly touch = (): void => {
    this.#cancelFrame ??= this.#schedule(() => {
      this.#cancelFrame = null;
      this.index.flush();
      for (const listener of this.#listeners) listener();
    });
  };

  /** Loads everything anew, in the background after the first page. Called at opening and after missed events. */
  readonly refresh = async (): Promise<void> => {
    this.#refresh?.abort();
    const controller = new AbortController();
    this.#refresh = controller;
    await Promise.all([this.#loadRecord(controller.signal), this.#loadRows(controller.signal)]);
  };

  apply(message: EventMessage): void {
    switch (message.name) {
      case 'run.live':
        this.#applyLive(message.payload.live);
        break;
      case 'run.episodes':
        this.#applyRows(message.payload.rows);
        break;
      case 'run.changed':
        this.#applyItem(message.payload.item);
        break;
      case 'run.stage':
        this.#change({ stage: message.payload.stage });
        break;
      case 'run.finished':
        this.#applyItem(message.payload.item);
        this.#change({ live: null, stage: null });
        void this.#loadRecord(this.#refresh?.signal ?? new AbortController().signal);
        break;
      case 'run.deleted':
        this.#change({ isDeleted: true });
        break;
      default:
    }
  }

  dispose(): void {
    this.#refresh?.abort();
    this.#cancelFrame?.();
    this.#listeners.clear();
  }

  async #loadRecord(signal: AbortSignal): Promise<void> {
    const round = ++this.#recordRound;
    this.#isRecordDated = false;
    try {
      const [got, live] = await Promise.all([
        this.#client.request('runs.get', { runId: this.runId }, signal),
        this.#client.request('runs.live', { runId: this.runId }, signal),
      ]);
      if (round !== this.#recordRound) return;
      this.#change({
        record: got.record,
        folder: got.folder,
        summary: live?.summary ?? got.summary,
        status: live?.status ?? got.record.status,
        live,
        stage: live?.stage ?? null,
        error: null,
      });
      if (this.#isRecordDated) await this.#loadRecord(signal);
    } catch (thrown) {
      if (round === this.#recordRound && !isAborted(thrown)) this.#change({ error: toRequestError(thrown) });
    }
  }

  async #loadRows(signal: AbortSignal): Promise<void> {
    try {
      let offset = 0;
      let total = 1;
      while (offset < total) {
        const askedAt = this.#tick;
        const page = await this.#client.request(
          'runs.episodes',
          { runId: this.runId, offset, limit: pageSize },
          signal,
        );
        this.index.upsert(page.rows.filter((row) => (this.#touched.get(row.ordinal) ?? 0) <= askedAt));
        total = page.total;
        offset += pageSize;
        this.#change({ rows: { loaded: Math.min(offset, total), total }, rowsError: null });
        if (page.rows.length === 0) break;
      }
    } catch (thrown) {
      if (!isAborted(thrown)) this.#change({ rowsError: toRequestError(thrown) });
    }
  }

  #applyRows(rows: readonly EpisodeRow[]): void {
    this.#tick += 1;
    for (const row of rows) this.#touched.set(row.ordinal, this.#tick);
    this.index.upsert(rows);
    this.touch();
  }

  #applyLive(live: LiveRun): void {
    const { planned, notRun } = live.summary.counts;
    const samples = addSample(this.#state.samples, { elapsedMs: live.elapsedMs, finished: planned - notRun });
    this.#change({ live, summary: live.summary, status: live.status, stage: live.stage, samples });
    if (this.#state.record === null && this.#state.error === null) return;
    if (this.#state.record?.status === 'queued' || this.#state.record?.startedAt === null)
      this.#reloadOnce(live.status);
  }

  /** A run that was queued or preparing learns its metrics, plan and budget when it starts. */
  #reloadOnce(status: RunStatus): void {
    const { record } = this.#state;
    if (!record || status !== 'running') return;
    this.#change({ record: { ...record, status, startedAt: record.startedAt ?? new Date().toISOString() } });
    void this.refresh();
  }

  #applyItem(item: RunListItem): void {
    const { record } = this.#state;
    if (!record) {
      this.#isRecordDated = true;
      return;
    }
    const { name, tags, note, status, finishedAt, activeMs } = item;
    this.#change({ record: { ...record, name, tags, note, status, finishedAt, activeMs }, status });
    if (isActive(status) && this.#state.live === null && status !== 'queued')
      void this.#loadRecord(this.#signal());
  }

  #signal(): AbortSignal {
    return this.#refresh?.signal ?? new AbortController().signal;
  }

  #change(change: Partial<RunSessionState>): void {
    this.#state = { ...this.#state, ...change };
    this.touch();
  }
}
