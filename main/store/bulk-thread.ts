// BulkWork in one worker thread, started with the first task. Every task settles: with its answer, its typed error,
// or `internal` when the thread ends; a later task starts a new thread.
import { Worker } from 'node:worker_threads';
import { abortedError } from '../base/abort.ts';
import type { ErrorCode } from '../base/error-codes.ts';
import { messageOf, StudioError } from '../base/errors.ts';
import type { BulkTaskName, BulkTasks, BulkWork } from './bulk-work.ts';

export interface BulkOrder {
  readonly id: number;
  readonly name: BulkTaskName;
  readonly input: unknown;
}

export type BulkAnswer =
  | { readonly id: number; readonly ok: true; readonly output: unknown }
  | {
      readonly id: number;
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    };

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: StudioError) => void;
}

export interface BulkThreadOptions {
  /** Lower priority of the thread (Linux), for work that nobody waits for. */
  readonly nice?: number;
}

/** `entry`: the worker's file where the engine is bundled. */
export function createBulkThread(
  entry: URL = new URL('./bulk-worker.ts', import.meta.url),
  { nice = 0 }: BulkThreadOptions = {},
): BulkWork {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let nextId = 0;
  const settle = (answer: BulkAnswer): void => {
    const waiter = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) worker?.unref();
    if (answer.ok) waiter?.resolve(answer.output);
    else waiter?.reject(new StudioError(answer.code, answer.message, { details: answer.details }));
  };
  const fail = (reason: string): void => {
    worker = undefined;
    for (const { reject } of waiting.values()) {
      reject(new StudioError('internal', `a computation ended without an answer: ${reason}`));
    }
    waiting.clear();
  };
  const start = (): Worker => {
    const started = new Worker(entry, { name: 'agentcanvas-bulk', workerData: { nice } });
    started.on('message', settle);
    // A thread that was replaced has nothing to say about the tasks of the next one.
    started.on('error', (error) => started === worker && fail(messageOf(error)));
    started.on('exit', (code) => started === worker && fail(`the thread ended with code ${code}`));
    return started;
  };
  return {
    run<Name extends BulkTaskName>(name: Name, input: BulkTasks[Name]['input'], signal?: AbortSignal) {
      return new Promise<BulkTasks[Name]['output']>((resolve, reject) => {
        if (signal?.aborted) return reject(abortedError(signal));
        worker ??= start();
        worker.ref();
        const id = nextId++;
        const onAbort = (): void => {
          waiting.delete(id);
          reject(abortedError(signal as AbortSignal));
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        const done = (): void => signal?.removeEventListener('abort', onAbort);
        waiting.set(id, {
          // The other side answers an order with the output of its own name.
          resolve: (output) => (done(), resolve(output as BulkTasks[Name]['output'])),
          reject: (error) => (done(), reject(error)),
        });
        worker.postMessage({ id, name, input } satisfies BulkOrder);
      });
    },
    async [Symbol.asyncDispose]() {
      const ending = worker;
      fail('the application is closing');
      await ending?.terminate();
    },
  };
}
