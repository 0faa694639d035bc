// Work that several callers may wait for: done once per key and kept when it succeeds. A caller who leaves does not end
// it for the others; when the last one has left it is aborted. Failures are not kept: the next question tries again.
import { abortedError, throwIfAborted } from '../base/abort.ts';
import { StudioError } from '../base/errors.ts';

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly controller: AbortController;
  waiting: number;
  isKept: boolean;
}

export class SharedWork<Value> {
  readonly #entries = new Map<string, Entry<Value>>();

  /** Also while it is still being worked on. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Rejects with `aborted` when `signal` is aborted; `work` gets the signal of the work itself. */
  async ask(
    key: string,
    work: (signal: AbortSignal) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    throwIfAborted(signal);
    const entry = this.#entries.get(key) ?? this.#begin(key, work);
    entry.waiting++;
    try {
      return await untilAborted(entry.value, signal);
    } finally {
      entry.waiting--;
      if (entry.waiting === 0 && !entry.isKept) this.#end(key, entry);
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<Value>): Entry<Value> {
    const controller = new AbortController();
    const value = work(controller.signal);
    const entry: Entry<Value> = { value, controller, waiting: 0, isKept: false };
    this.#entries.set(key, entry);
    value.then(
      () => (entry.isKept = true),
      () => this.#forget(key, entry),
    );
    return entry;
  }

  #end(key: string, entry: Entry<Value>): void {
    this.#forget(key, entry);
    entry.controller.abort(new StudioError('aborted', 'nobody waits for it any more'));
  }

  #forget(key: string, entry: Entry<Value>): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}

async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return await work;
  const left = Promise.withResolvers<never>();
  const leave = (): void => left.reject(abortedError(signal));
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, left.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
