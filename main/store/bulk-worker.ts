// Entry of the worker thread that performs bulk tasks, one at a time in the order they came.
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { toStudioError } from '../base/errors.ts';
import type { BulkAnswer, BulkOrder } from './bulk-thread.ts';
import { createPerformer } from './bulk-work.ts';
import { nodeFileSystem } from './node-file-system.ts';

const performBulkTask = createPerformer(nodeFileSystem);
let turn = Promise.resolve();

const { nice } = z.object({ nice: z.number().default(0) }).parse(workerData ?? {});
// Linux alone takes this for the calling thread; elsewhere it would be the whole application. The file system's own
// threads are the engine's already: it has opened its workspace before any bulk thread starts.
if (process.platform === 'linux' && nice > 0) setPriority(0, nice);

parentPort?.on('message', (order: BulkOrder) => {
  turn = turn.then(async () => parentPort?.postMessage(await perform(order)));
});

async function perform({ id, name, input }: BulkOrder): Promise<BulkAnswer> {
  try {
    // The name and its input left `BulkWork.run` together, typed as a pair.
    return { id, ok: true, output: await performBulkTask(name, input as never) };
  } catch (error) {
    const { code, message, details } = toStudioError(error);
    return { id, ok: false, code, message, details };
  }
}
