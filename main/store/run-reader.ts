// Runs as comparisons and exports read them, kept in memory while their files do not change: one question about two
// runs is usually followed by others.
import { join } from 'node:path';
import type { ChatUsage } from '../contract/chat.ts';
import type { EpisodeAttempt, RunRecord } from '../contract/run.ts';
import type { FileSystemPort } from './ports.ts';
import { readRecord, runFiles } from './run-folder.ts';
import { readCountedRows } from './run-rows.ts';

export interface ReadRun {
  readonly record: RunRecord;
  /** Final rows, by ordinal. */
  readonly finals: readonly EpisodeAttempt[];
  /** First attempts of the same episodes. */
  readonly firsts: readonly EpisodeAttempt[];
  /** Of language models, over every attempt. */
  readonly usage: ChatUsage | null;
}

interface Kept {
  readonly stamp: string;
  readonly run: ReadRun;
}

/** Rows of all kept runs together; at about a kilobyte each. */
const mostRows = 250_000;

export class RunReader {
  readonly fileSystem: FileSystemPort;
  readonly #kept = new Map<string, Kept>();

  constructor(fileSystem: FileSystemPort) {
    this.fileSystem = fileSystem;
  }

  /** `not_found` or `corrupt` when the folder holds no readable run. */
  async read(folder: string): Promise<ReadRun> {
    const stamp = await this.#stampOf(folder);
    const known = this.#kept.get(folder);
    this.#kept.delete(folder);
    const kept = known?.stamp === stamp ? known : { stamp, run: await this.#load(folder) };
    this.#kept.set(folder, kept);
    this.#forget();
    return kept.run;
  }

  async #load(folder: string): Promise<ReadRun> {
    const { record } = await readRecord(this.fileSystem, folder);
    return { record, ...(await readCountedRows(this.fileSystem, folder, record.plan)) };
  }

  async #stampOf(folder: string): Promise<string> {
    const stats = await Promise.all(
      [runFiles.record, runFiles.journal].map((name) => this.fileSystem.stat(join(folder, name))),
    );
    return stats.map((stat) => (stat ? `${stat.bytes}:${stat.modifiedMs}` : '')).join(' ');
  }

  /** The last one always stays. */
  #forget(): void {
    let rows = [...this.#kept.values()].reduce((sum, { run }) => sum + run.finals.length, 0);
    for (const [folder, { run }] of this.#kept) {
      if (rows <= mostRows || this.#kept.size === 1) return;
      this.#kept.delete(folder);
      rows -= run.finals.length;
    }
  }
}
