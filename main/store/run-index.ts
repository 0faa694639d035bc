// Writes of the index: one row per run with its stored aggregates, one per planned episode. Synchronous and small;
// whoever fills it in bulk does so in slices.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EpisodeAttempt, MetricSummary, PlannedEpisode, RunCounts, RunRecord } from '../contract/run.ts';
import { StudioError } from '../base/errors.ts';
import { metricColumns } from './index-database.ts';

export interface IndexedNumbers {
  readonly counts: RunCounts;
  readonly headline: MetricSummary | null;
}

export interface RunStamp {
  /** Size and time of run.json. */
  readonly record: string;
  readonly journalBytes: number;
}

const clearSlice = 500;

type Bound = string | number | null;

export class RunIndex {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #ids = new Map<string, number>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#statements = prepareStatements(database);
  }

  /** What is indexed, to be compared with the folders. */
  stamps(): Map<string, RunStamp> {
    const rows = this.#database.prepare('SELECT run_id, record_stamp, journal_bytes FROM runs').all();
    return new Map(
      rows.map((row) => [
        String(row['run_id']),
        { record: String(row['record_stamp']), journalBytes: Number(row['journal_bytes']) },
      ]),
    );
  }

  /** How much of a run's journal is indexed; undefined when the run is not. */
  journalBytesOf(runId: string): number | undefined {
    const found = this.#database.prepare('SELECT journal_bytes FROM runs WHERE run_id = ?').get(runId);
    return found && Number(found['journal_bytes']);
  }

  putJournalBytes(runId: string, journalBytes: number): void {
    this.#database.prepare('UPDATE runs SET journal_bytes = ? WHERE run_id = ?').run(journalBytes, runId);
  }

  /** Adds or replaces a run's line; its episodes stay. */
  putRun(record: RunRecord, numbers: IndexedNumbers, stamp: RunStamp): void {
    const { headline, counts } = numbers;
    this.#statements.putRun.run(
      record.runId,
      record.name,
      record.graphName,
      record.envName,
      record.split,
      record.status,
      record.createdAt,
      record.finishedAt,
      record.activeMs,
      record.config.workerCount,
      record.parentRun,
      JSON.stringify(record.tags),
      record.note,
      counts.planned,
      counts.planned - counts.notRun,
      headlineMean(headline),
      JSON.stringify(counts),
      JSON.stringify(headline),
      JSON.stringify(record.metrics.map(({ name }) => name)),
      stamp.record,
      stamp.journalBytes,
    );
    // Pending rows of a cancelled run are shown as cancelled, and as pending again once it is resumed.
    const [from, to] = record.status === 'cancelled' ? ['pending', 'cancelled'] : ['cancelled', 'pending'];
    this.#statements.renameStatus.run(to, this.#idOf(record.runId), from);
  }

  /** Planned episodes as pending rows. */
  putPlan(runId: string, plan: readonly PlannedEpisode[]): void {
    const id = this.#idOf(runId);
    this.transaction(() => {
      for (const { ordinal, key, episodeIndex, episodeId, repeat } of plan) {
        this.#statements.putPlanned.run(id, ordinal, key, episodeIndex, episodeId, repeat);
      }
    });
  }

  /** An attempt, in the order of the journal; the same one twice changes nothing. A row that is not final leaves its episode pending. */
  putAttempt(runId: string, row: EpisodeAttempt, metricNames: readonly string[]): void {
    const id = this.#idOf(runId);
    const values: Bound[] = Array.from({ length: metricColumns }, (_, i) => {
      const name = metricNames[i];
      return name === undefined ? null : sqlNumber(row.metrics[name]);
    });
    this.#statements.putAttempt.run(
      id,
      row.ordinal,
      row.key,
      row.episodeIndex,
      row.episodeId,
      row.sceneId,
      row.repeat,
      row.final ? row.status : 'pending',
      row.status,
      row.steps,
      row.durationMs,
      row.startedAt,
      row.worker,
      row.limit,
      row.error?.code ?? null,
      row.error?.message ?? null,
      row.usage?.calls ?? null,
      tokensOf(row),
      row.usage?.costUsd ?? null,
      ...values,
      row.attempt,
    );
    const usage = row.usage ? JSON.stringify(row.usage) : null;
    this.#statements.putDetails.run(id, row.ordinal, JSON.stringify(row.metrics), row.instruction, usage);
  }

  putNumbers(runId: string, numbers: IndexedNumbers, journalBytes: number): void {
    const { counts, headline } = numbers;
    this.#statements.putNumbers.run(
      counts.planned - counts.notRun,
      headlineMean(headline),
      JSON.stringify(counts),
      JSON.stringify(headline),
      journalBytes,
      runId,
    );
  }

  /** Drops a slice of a run's episodes; false when none are left. */
  clearSome(runId: string): boolean {
    const found = this.#statements.findId.get(runId);
    if (!found) return false;
    const id = Number(found['id']);
    let dropped = 0;
    this.transaction(() => {
      dropped = Number(this.#statements.clearEpisodes.run(id, id, clearSlice).changes);
      this.#statements.clearDetails.run(id, id, clearSlice);
    });
    return dropped === clearSlice;
  }

  /** The run's line; its episodes must be gone. */
  removeRun(runId: string): void {
    this.#database.prepare('DELETE FROM runs WHERE run_id = ?').run(runId);
    this.#ids.delete(runId);
  }

  /** All or nothing; nested calls join the outer one. */
  transaction(work: () => void): void {
    if (this.#database.isTransaction) return work();
    this.#database.exec('BEGIN');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #idOf(runId: string): number {
    const known = this.#ids.get(runId);
    if (known !== undefined) return known;
    const found = this.#statements.findId.get(runId);
    if (!found) throw new StudioError('not_found', `run ${runId} is not indexed yet`);
    const id = Number(found['id']);
    this.#ids.set(runId, id);
    return id;
  }
}

function headlineMean(headline: MetricSummary | null): number | null {
  return (headline?.headline === 'started' ? headline.started : headline?.completed)?.mean ?? null;
}

function tokensOf({ usage }: EpisodeAttempt): number | null {
  if (!usage || usage.inputTokens === null || usage.outputTokens === null) return null;
  return usage.inputTokens + usage.outputTokens;
}

/** NaN has no place in SQL and is null there; the true value stays in the details. */
function sqlNumber(value: EpisodeAttempt['metrics'][string] | undefined): number | null {
  if (value === 'inf') return Infinity;
  if (value === '-inf') return -Infinity;
  return typeof value === 'number' ? value : null;
}

interface Statements {
  readonly putRun: StatementSync;
  readonly renameStatus: StatementSync;
  readonly putPlanned: StatementSync;
  readonly putAttempt: StatementSync;
  readonly putDetails: StatementSync;
  readonly putNumbers: StatementSync;
  readonly findId: StatementSync;
  readonly clearEpisodes: StatementSync;
  readonly clearDetails: StatementSync;
}

const runColumns = [
  'run_id',
  'name',
  'graph_name',
  'env_name',
  'split',
  'status',
  'created_at',
  'finished_at',
  'active_ms',
  'worker_count',
  'parent_run',
  'tags',
  'note',
  'planned',
  'finished',
  'headline_mean',
  'counts',
  'headline',
  'metric_names',
  'record_stamp',
  'journal_bytes',
];

const attemptColumns = [
  'key',
  'episode_index',
  'episode_id',
  'scene_id',
  'repeat',
  'status',
  'first_status',
  'steps',
  'duration_ms',
  'started_at',
  'worker',
  'limit_hit',
  'error_code',
  'error_message',
  'chat_calls',
  'tokens',
  'cost_usd',
  ...Array.from({ length: metricColumns }, (_, i) => `m${i}`),
];

function prepareStatements(database: DatabaseSync): Statements {
  const marks = (count: number): string => Array.from({ length: count }, () => '?').join(', ');
  const replaced = (columns: readonly string[]): string =>
    columns.map((column) => `${column} = excluded.${column}`).join(', ');
  const updated = attemptColumns.filter((column) => column !== 'first_status');
  return {
    putRun: database.prepare(
      `INSERT INTO runs (${runColumns.join(', ')}) VALUES (${marks(runColumns.length)})
       ON CONFLICT (run_id) DO UPDATE SET ${replaced(runColumns.slice(1))}`,
    ),
    renameStatus: database.prepare('UPDATE episodes SET status = ? WHERE run = ? AND status = ?'),
    putPlanned: database.prepare(
      `INSERT OR IGNORE INTO episodes (run, ordinal, key, episode_index, episode_id, repeat, status, attempts, retried)
       VALUES (?, ?, ?, ?, ?, ?, 'pending', 0, 0)`,
    ),
    putAttempt: database.prepare(
      `INSERT INTO episodes (run, ordinal, ${attemptColumns.join(', ')}, attempts, retried)
       VALUES (${marks(attemptColumns.length + 3)}, 0)
       ON CONFLICT (run, ordinal) DO UPDATE SET ${replaced(updated)}, attempts = max(attempts, excluded.attempts),
         retried = coalesce(first_status, excluded.first_status) <> excluded.first_status,
         first_status = coalesce(first_status, excluded.first_status)`,
    ),
    putDetails: database.prepare(
      `INSERT INTO episode_details (run, ordinal, metrics, instruction, usage) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (run, ordinal) DO UPDATE SET
         metrics = excluded.metrics, instruction = excluded.instruction, usage = excluded.usage`,
    ),
    putNumbers: database.prepare(
      `UPDATE runs SET finished = ?, headline_mean = ?, counts = ?, headline = ?, journal_bytes = ? WHERE run_id = ?`,
    ),
    findId: database.prepare('SELECT id FROM runs WHERE run_id = ?'),
    clearEpisodes: database.prepare(clearSql('episodes')),
    clearDetails: database.prepare(clearSql('episode_details')),
  };
}

function clearSql(table: string): string {
  return `DELETE FROM ${table} WHERE run = ? AND ordinal IN
    (SELECT ordinal FROM ${table} WHERE run = ? ORDER BY ordinal LIMIT ?)`;
}
