// The index's SQLite file: schema, opening, and telling damage from other errors. Derived data: a file that is
// damaged or of another version is put aside for good and built anew from the run folders.
import { DatabaseSync } from 'node:sqlite';
import { StudioError } from '../base/errors.ts';

/** Metrics with a column of their own; further ones are looked up in the row's JSON. */
export const metricColumns = 24;

/** Raised with every change of the tables; another version is rebuilt. */
const schemaVersion = 3;

const metricColumnList = Array.from({ length: metricColumns }, (_, i) => `m${i}`);

const schema = `
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL, graph_name TEXT NOT NULL, env_name TEXT, split TEXT, status TEXT NOT NULL,
  created_at TEXT NOT NULL, finished_at TEXT, active_ms REAL NOT NULL,
  worker_count INTEGER NOT NULL, parent_run TEXT, tags TEXT NOT NULL, note TEXT NOT NULL,
  planned INTEGER NOT NULL, finished INTEGER NOT NULL, headline_mean REAL,
  counts TEXT NOT NULL, headline TEXT NOT NULL, metric_names TEXT NOT NULL,
  record_stamp TEXT NOT NULL, journal_bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_time ON runs (created_at DESC);
CREATE TABLE episodes (
  run INTEGER NOT NULL, ordinal INTEGER NOT NULL, key TEXT NOT NULL,
  episode_index INTEGER, episode_id TEXT, scene_id TEXT, repeat INTEGER NOT NULL,
  status TEXT NOT NULL, first_status TEXT, attempts INTEGER NOT NULL, retried INTEGER NOT NULL,
  steps INTEGER, duration_ms REAL, started_at TEXT, worker INTEGER, limit_hit TEXT, error_code TEXT, error_message TEXT,
  chat_calls INTEGER, tokens INTEGER, cost_usd REAL,
  ${metricColumnList.map((name) => `${name} REAL`).join(', ')},
  PRIMARY KEY (run, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE episode_details (
  run INTEGER NOT NULL, ordinal INTEGER NOT NULL, metrics TEXT NOT NULL, instruction TEXT, usage TEXT,
  PRIMARY KEY (run, ordinal)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = ${schemaVersion};
`;

export interface OpenedDatabase {
  readonly database: DatabaseSync;
  /** True when the tables were just made. */
  readonly isNew: boolean;
}

export type OpenDatabase = (path: string) => OpenedDatabase;

/** `:memory:` works too. Throws SQLite's error when the file is damaged. */
export function openDatabase(path: string, readOnly = false): OpenedDatabase {
  const database = new DatabaseSync(path, { readOnly, timeout: 2000 });
  try {
    // Durability is the journal's business; NORMAL keeps the file consistent through a power cut.
    if (!readOnly) database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    // A larger one fills while a long run adds rows, and saves 10 ms when 100,000 episodes are sorted.
    database.exec('PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY;');
    const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
    if (version === schemaVersion) return { database, isNew: false };
    if (readOnly) throw new Error('the index is of another version');
    database.exec('BEGIN');
    dropAll(database);
    database.exec(schema);
    database.exec('COMMIT');
    return { database, isNew: true };
  } catch (error) {
    database.close();
    throw error;
  }
}

function dropAll(database: DatabaseSync): void {
  for (const table of ['runs', 'episodes', 'episode_details']) database.exec(`DROP TABLE IF EXISTS ${table}`);
}

/** A file cut short reads as an input error. */
const sqliteInputOutput = 10;
const sqliteCorrupt = 11;
const sqliteNotADatabase = 26;

/** The file itself is bad (not: busy, full, wrong SQL). */
export function isDamage(error: unknown): boolean {
  if (error instanceof StudioError) return error.details['isIndexDamage'] === true;
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false;
  const primary = error.errcode & 0xff;
  return primary === sqliteInputOutput || primary === sqliteCorrupt || primary === sqliteNotADatabase;
}

/** The database and what SQLite keeps beside it. */
export function databaseFiles(path: string): string[] {
  return [path, `${path}-wal`, `${path}-shm`];
}
