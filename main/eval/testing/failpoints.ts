// Named points along an episode's life at which a test may kill the engine, throw or hang. They sit in decorators around
// ports: nothing of the product knows them, and without an armed point they only count.
import { basename, join } from 'node:path';
import { abortedError } from '../../base/abort.ts';
import type { FileHandlePort, FileSystemPort } from '../../store/ports.ts';
import { recordingFiles, scratchFolderName } from '../../store/recording-format.ts';

export const failpointNames = [
  'run.folder',
  'run.graph',
  'run.record',
  'run.journal',
  'run.rename',
  'run.sync',
  'disk.free',
  'journal.open',
  'plan.write',
  'record.write',
  'record.written',
  'journal.append',
  'journal.appended',
  'journal.sync',
  'journal.synced',
  'journal.cut',
  'summary.write',
  'summary.written',
  'done.write',
  'done.written',
  'queue.write',
  'queue.written',
  'session.open',
  'replica.spawn',
  'replica.ready',
  'replica.replace',
  'panel.info',
  'panel.set',
  'panel.reset',
  'panel.reset.reply',
  'panel.load',
  'step.call',
  'step.reply',
  'verdict.call',
  'verdict.reply',
  'batch.submit',
  'batch.flush',
  'batch.reply',
  'batch.reset',
  'replica.kill',
  'replica.killed',
  'replica.close',
  'replica.closed',
  'session.close',
  'recording.sweep',
  'recording.write',
  'recording.written',
  'recording.keep',
  'recording.kept',
  'recording.order',
  'recording.ordered',
  'index.update',
  'index.updated',
  'feed.begin',
  'feed.tell',
  'feed.told',
] as const;
export type FailpointName = (typeof failpointNames)[number];

export const failpointActions = ['kill', 'throw', 'hang'] as const;
export type FailpointAction = (typeof failpointActions)[number];

export interface Armed {
  readonly name: FailpointName;
  readonly action: FailpointAction;
  /** 1 = the first time it is passed. */
  readonly nth: number;
}

export class Failpoints {
  readonly #hits = new Map<FailpointName, number>();
  readonly #armed: Armed | null;
  readonly #kill: () => void;
  readonly #freeze: () => void;
  /** The armed point has done what it was armed for. */
  hasStruck = false;

  /** `freeze`: the engine's thread never comes back from where it is. */
  constructor(armed: Armed | null, kill: () => void, freeze: () => void) {
    this.#armed = armed;
    this.#kill = kill;
    this.#freeze = freeze;
  }

  get hits(): ReadonlyMap<FailpointName, number> {
    return this.#hits;
  }

  /** Rejects, never settles, or ends everything when the point is armed and due. */
  async pass(name: FailpointName | null, thrown: () => Error, signal?: AbortSignal): Promise<void> {
    if (name === null) return;
    const action = this.#strike(name);
    if (action === null) return;
    if (action === 'throw') throw thrown();
    if (action === 'kill') this.#kill();
    await never(signal);
  }

  /** Where nothing can be waited for. What is thrown besides errors of its own only leads out of a dead engine. */
  passNow(name: FailpointName, thrown: () => Error): void {
    const action = this.#strike(name);
    if (action === null) return;
    if (action === 'kill') this.#kill();
    if (action === 'hang') this.#freeze();
    throw thrown();
  }

  #strike(name: FailpointName): FailpointAction | null {
    const hits = (this.#hits.get(name) ?? 0) + 1;
    this.#hits.set(name, hits);
    if (this.#armed?.name !== name || this.#armed.nth !== hits) return null;
    this.hasStruck = true;
    return this.#armed.action;
  }
}

function never(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) =>
    signal?.addEventListener('abort', () => reject(abortedError(signal)), { once: true }),
  );
}

const diskError = (): Error => Object.assign(new Error('EIO: failpoint'), { code: 'EIO' });

/** Around the disk: runs' folders, records, journal, summary, queue. */
export function failpointFileSystem(inner: FileSystemPort, points: Failpoints): FileSystemPort {
  const around = async <T>(
    before: FailpointName | null,
    after: FailpointName | null,
    act: () => Promise<T>,
  ): Promise<T> => {
    await points.pass(before, diskError);
    const value = await act();
    await points.pass(after, diskError);
    return value;
  };
  const isNew = (path: string): boolean => path.includes('/.new-');
  const ends = (path: string, name: string): boolean => path.endsWith(name);
  const handleOf = (handle: FileHandlePort, path: string): FileHandlePort => {
    if (isNew(path)) {
      const name = ends(path, 'graph.json')
        ? 'run.graph'
        : ends(path, 'episodes.jsonl')
          ? 'run.journal'
          : 'run.record';
      return { ...handle, write: (bytes) => around(name, null, () => handle.write(bytes)) };
    }
    if (path.includes('/scratch/'))
      return {
        ...handle,
        write: (bytes) => around('recording.write', 'recording.written', () => handle.write(bytes)),
      };
    if (!ends(path, 'episodes.jsonl')) return handle;
    return {
      ...handle,
      write: (bytes) => around('journal.append', 'journal.appended', () => handle.write(bytes)),
      sync: () => around('journal.sync', 'journal.synced', () => handle.sync()),
      truncate: (bytes) => around('journal.cut', null, () => handle.truncate(bytes)),
    };
  };
  const renamed = (to: string): readonly [FailpointName | null, FailpointName | null] => {
    if (ends(to, 'run.created.json')) return ['plan.write', null];
    if (ends(to, 'run.json')) return ['record.write', 'record.written'];
    if (ends(to, 'summary.json')) return ['summary.write', 'summary.written'];
    if (ends(to, '_DONE')) return ['done.write', 'done.written'];
    if (ends(to, 'queue.json')) return ['queue.write', 'queue.written'];
    if (scratchFolderName.test(basename(to))) return ['recording.keep', 'recording.kept'];
    if (ends(to, recordingFiles.header)) return ['recording.order', 'recording.ordered'];
    return [null, null];
  };
  return {
    ...inner,
    async open(path, mode) {
      const name = mode === 'append' && ends(path, 'episodes.jsonl') ? 'journal.open' : null;
      return handleOf(await around(name, null, () => inner.open(path, mode)), path);
    },
    removeFolder: (path) =>
      around(ends(path, '/scratch') ? 'recording.sweep' : null, null, () => inner.removeFolder(path)),
    makeFolder: (path) => around(isNew(path) ? 'run.folder' : null, null, () => inner.makeFolder(path)),
    rename: (from, to) => {
      const [before, after] = isNew(from) ? (['run.rename', null] as const) : renamed(to);
      return around(before, after, () => inner.rename(from, to));
    },
    syncFolder: (path) =>
      around(ends(path, join('outputs', 'eval_runs')) || ends(path, '/runs') ? 'run.sync' : null, null, () =>
        inner.syncFolder(path),
      ),
    freeBytes: (path) => around('disk.free', null, () => inner.freeBytes(path)),
  };
}
