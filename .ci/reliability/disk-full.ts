// The disk is full after a random number of bytes of a run: the run pauses and says so, what was acknowledged is there,
// and once there is space it resumes to the results of an undisturbed run.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createRandom } from '../../main/base/random.ts';
import { evalConfig } from '../../main/contract/eval-config.ts';
import {
  makeWorkspace,
  openLiveBench,
  removeWorkspace,
  type LiveBench,
} from '../../main/eval/testing/live-bench.ts';
import { nodeFileSystem } from '../../main/store/node-file-system.ts';
import type { FileHandlePort, FileSystemPort, RunStore } from '../../main/store/ports.ts';
import { openStoreIn } from './pool-scenario.ts';
import { silentLogger } from '../../main/base/logger.ts';
import { StudioError } from '../../main/base/errors.ts';
import { atScale, Faults, type RowOptions, type RowResult } from './row.ts';

const config = evalConfig.parse({
  graph: 'fragile',
  selectors: { split: 'calm' },
  episodes: 12,
  workerCount: 2,
  seed: 7,
});

export async function run({ seed, scale, signal, log }: RowOptions): Promise<RowResult> {
  const points = atScale(scale, 60, 6);
  const random = createRandom(seed);
  const faults = new Faults();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'disk-full-'));
  const benchFolder = await makeWorkspace();
  const disk = createBoundedDisk(nodeFileSystem);
  await using store = await openStoreIn(folder, { fileSystem: disk, logger: silentLogger });
  await using bench = await openLiveBench(benchFolder, { store, withLibrary: false });
  try {
    disk.limit(Number.POSITIVE_INFINITY);
    const expected = await outcomes(store, await evaluate(bench));
    const bytes = disk.written();
    disk.limit(Number.POSITIVE_INFINITY);
    const first = await bench.service.start({ config, whenBusy: 'refuse' });
    const created = disk.written();
    await bench.service.whenEnded(first.runId);
    const counts = { paused: 0, refused: 0, resumed: 0 };
    for (let done = 0; done < points; done++) {
      signal.throwIfAborted();
      // Every sixth is full already when the run is to be made; the others fill up somewhere after that.
      const isAtStart = done % 6 === 5;
      const room = random.integer(isAtStart ? created : bytes - created);
      await onePoint({ bench, store, disk, expected, faults, counts, room, isAtStart });
      if (done % 10 === 9) log(`${done + 1} of ${points}`);
    }
    return {
      name: 'disk-full',
      figures: {
        points,
        'bytes of an undisturbed run': bytes,
        paused: counts.paused,
        'refused before anything was made': counts.refused,
        'resumed to the same results': counts.resumed,
        'lost, doubled or silent': faults.count,
      },
      ok: faults.count === 0 && counts.resumed + counts.refused === points,
      details: faults.stories,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
    await removeWorkspace(benchFolder);
  }
}

interface Point {
  readonly bench: LiveBench;
  readonly store: RunStore;
  readonly disk: BoundedDisk;
  readonly expected: string;
  readonly faults: Faults;
  readonly counts: { paused: number; refused: number; resumed: number };
  /** Bytes until the disk is full. */
  readonly room: number;
  readonly isAtStart: boolean;
}

async function onePoint(point: Point): Promise<void> {
  const { bench, store, disk, expected, faults, counts, room, isAtStart } = point;
  let runId: string;
  try {
    disk.limit(isAtStart ? room : Number.POSITIVE_INFINITY);
    ({ runId } = await bench.service.start({ config, whenBusy: 'refuse' }));
    disk.limit(room);
    await bench.service.whenEnded(runId);
  } catch (error) {
    disk.limit(Number.POSITIVE_INFINITY);
    const isTyped = error instanceof StudioError && error.code === 'disk_full';
    faults.check(isTyped, () => `refused with ${String(error)}`);
    counts.refused++;
    return;
  }
  const told = bench.events.findLast(
    ({ name, payload }) => name === 'run.finished' && 'runId' in payload && payload.runId === runId,
  );
  const status = told?.name === 'run.finished' ? told.payload.status : 'untold';
  faults.check(status === 'paused' || status === 'completed', () => `the run ended ${status}`);
  disk.limit(Number.POSITIVE_INFINITY);
  if (status === 'paused') counts.paused++;
  if ((await store.readRecord(runId)).status !== 'completed') {
    await bench.service.resume(runId, { acceptDifferences: false });
    await bench.service.whenEnded(runId);
  }
  const found = await outcomes(store, runId);
  const { status: after } = await store.readRecord(runId);
  if (found === expected && after === 'completed') counts.resumed++;
  else
    faults.add(`${runId} ended ${status}, then ${after}; its results are not those of the undisturbed run`);
}

async function evaluate(bench: LiveBench): Promise<string> {
  const { runId } = await bench.service.start({ config, whenBusy: 'refuse' });
  await bench.service.whenEnded(runId);
  return runId;
}

async function outcomes(store: RunStore, runId: string): Promise<string> {
  const rows: string[] = [];
  for await (const { final, ordinal, status, steps, seed, metrics } of store.readAttempts(runId))
    if (final) rows.push(JSON.stringify([ordinal, status, steps, seed, metrics]));
  return rows.sort().join('\n');
}

interface BoundedDisk extends FileSystemPort {
  /** Bytes that may still be written. */
  limit(bytes: number): void;
  /** Since the last `limit`. */
  written(): number;
}

/** As the system does it: a write takes what fits and fails with the rest; nothing else fails. */
function createBoundedDisk(inner: FileSystemPort): BoundedDisk {
  let left = Number.POSITIVE_INFINITY;
  let written = 0;
  const full = (): Error => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  const wrap = (handle: FileHandlePort): FileHandlePort => ({
    ...handle,
    async write(bytes) {
      const fits = Math.min(bytes.length, left);
      left -= fits;
      written += fits;
      if (fits > 0) await handle.write(bytes.subarray(0, fits));
      if (fits < bytes.length) throw full();
    },
  });
  return {
    ...inner,
    limit: (bytes) => {
      [left, written] = [bytes, 0];
    },
    written: () => written,
    open: async (file, mode) => wrap(await inner.open(file, mode)),
    // A new folder takes a block.
    async makeFolder(folder) {
      if (left <= 0 && !(await inner.stat(folder))) throw full();
      await inner.makeFolder(folder);
    },
    freeBytes: async (file) => (left === Number.POSITIVE_INFINITY ? inner.freeBytes(file) : 10e9),
  };
}
