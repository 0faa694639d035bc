// Run folders that AgentCanvas left among the runs (its `outputs/eval_runs` is this app's too): each is read into a
// finished run of its own, shown in History beside the others. The folder itself is only ever read; it is read again
// when its results change.
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Clock } from './base/clock.ts';
import { messageOf } from './base/errors.ts';
import type { Logger } from './base/logger.ts';
import { importEpisodes } from './run-import.ts';
import { atomicWrite } from './store/atomic-write.ts';
import type { BulkWork } from './store/bulk-work.ts';
import { nodeFileSystem } from './store/node-file-system.ts';
import type { RunStore } from './store/ports.ts';

export interface AgentCanvasRunsOptions {
  readonly store: RunStore;
  readonly bulk: Pick<BulkWork, 'run'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly runsFolder: string;
  readonly workspaceFolder: string;
  /** The graph's text, or null when this app cannot read it. */
  readonly readableGraph: (text: string | null) => string | null;
  readonly onRun: (runId: string) => Promise<void>;
}

/** Beside the runs, so that it goes where they go. */
const memoryName = '.agentcanvas-folders.json';
const seenFolder = z.object({
  /** Size and time of summary.json. */
  stamp: z.string(),
  /** Null when it could not be read. */
  runId: z.string().nullable(),
});
const memory = z.record(z.string(), seenFolder);
type Seen = z.infer<typeof seenFolder>;

const lookEveryMs = 5000;

export class AgentCanvasRuns {
  readonly #options: AgentCanvasRunsOptions;
  #looking: Promise<void> | undefined;
  #lookedAtMs = -Infinity;

  constructor(options: AgentCanvasRunsOptions) {
    this.#options = options;
  }

  /** Before a list is shown: the first one has them, later ones do not wait. */
  async beforeListing(): Promise<void> {
    const looked = this.look();
    if (this.#lookedAtMs === -Infinity) await looked;
  }

  /** Takes in what is new or has changed. Never rejects; soon after the last look it does nothing. */
  look(): Promise<void> {
    const { clock, logger } = this.#options;
    if (this.#looking) return this.#looking;
    if (clock.monotonic() - this.#lookedAtMs < lookEveryMs) return Promise.resolve();
    this.#looking = this.#look()
      .catch((error: unknown) => {
        logger.warn('folders of AgentCanvas could not be looked at', { error: messageOf(error) });
      })
      .finally(() => {
        this.#looking = undefined;
        this.#lookedAtMs = clock.monotonic();
      });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { runsFolder } = this.#options;
    const file = path.join(runsFolder, memoryName);
    const known = await readMemory(file);
    for (const [name, stamp] of await agentCanvasFolders(runsFolder)) {
      if (known[name]?.stamp === stamp) continue;
      known[name] = { stamp, runId: await this.#take(name, known[name]) };
      await atomicWrite(nodeFileSystem, file, `${JSON.stringify(known, null, 1)}\n`);
    }
  }

  async #take(name: string, before: Seen | undefined): Promise<string | null> {
    const { store, bulk, clock, logger, runsFolder, workspaceFolder, readableGraph, onRun } = this.#options;
    try {
      const imported = await bulk.run('readImport', { path: path.join(runsFolder, name) });
      if (imported.kind !== 'agentcanvas_folder') return null;
      const graphText = readableGraph(imported.graphText);
      const words = { source: name, name: '', environment: '', split: '' };
      const { runId } = await importEpisodes({
        store,
        clock,
        workspaceFolder,
        imported,
        graphText,
        ...words,
      });
      // What it was before is the same run with less in it.
      if (before?.runId) await store.delete(before.runId).catch(() => undefined);
      await onRun(runId);
      return runId;
    } catch (error) {
      logger.warn('a run folder of AgentCanvas cannot be read', { name, error: messageOf(error) });
      return null;
    }
  }
}

async function readMemory(file: string): Promise<Record<string, Seen>> {
  try {
    return memory.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    // None yet, or somebody's edit: then folders are read anew.
    return {};
  }
}

/** Name and stamp of folders with `summary.json` and `episodes`, and none of this app's own files. */
async function agentCanvasFolders(runsFolder: string): Promise<readonly (readonly [string, string])[]> {
  const entries = await readdir(runsFolder, { withFileTypes: true }).catch(() => []);
  const found: [string, string][] = [];
  for (const entry of entries) {
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    const at = (name: string) => stat(path.join(runsFolder, entry.name, name)).catch(() => null);
    // Nearly all are runs of this app: one look each.
    if (await at('run.json')) continue;
    const [summary, episodes] = [await at('summary.json'), await at('episodes')];
    if (summary?.isFile() && episodes?.isDirectory())
      found.push([entry.name, `${summary.size}:${summary.mtimeMs}`]);
  }
  return found;
}
