// A batched node of one worker: its firings wait in the lane of their key, and it tells the lane when its execution
// begins and ends, so that nobody waits for a worker that is gone.
import { abortedError } from '../base/abort.ts';
import { StudioError } from '../base/errors.ts';
import type { FiringContext, NodeHandler, PortValues } from '../graph/ports.ts';
import type { CallerSide } from '../nodeset/ports.ts';
import type { BatchQueue } from './batch-queue.ts';

interface Execution {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly onAbort: () => void;
}

export class BatchedClient implements NodeHandler {
  readonly #queue: BatchQueue;
  readonly #callerSide: CallerSide | undefined;
  #execution: Execution | undefined;

  constructor(queue: BatchQueue, callerSide: CallerSide | undefined) {
    this.#queue = queue;
    this.#callerSide = callerSide;
  }

  forward(inputs: PortValues, context: FiringContext): Promise<PortValues> {
    const { executionId } = context;
    if (executionId !== this.#execution?.id) this.#enter(context);
    const callerSide = this.#callerSide;
    if (!callerSide) return this.#queue.submit(executionId, inputs);
    const sample = callerSide.sampleOf(inputs, context);
    return this.#queue.submit(executionId, sample).then((answer) => callerSide.outputsOf(answer, context));
  }

  end(executionId: string): void {
    if (this.#execution?.id === executionId) this.#leave('its execution ended');
  }

  /** One worker runs one execution at a time: a new one means that the former is over, whoever forgot to say so. */
  #enter({ executionId, signal }: FiringContext): void {
    this.#leave('its execution was followed by another');
    const onAbort = (): void => this.#queue.leave(executionId, abortedError(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    this.#execution = { id: executionId, signal, onAbort };
    this.#queue.join(executionId);
  }

  #leave(why: string): void {
    if (!this.#execution) return;
    const { id, signal, onAbort } = this.#execution;
    this.#execution = undefined;
    signal.removeEventListener('abort', onAbort);
    this.#queue.leave(id, new StudioError('aborted', why));
  }
}
