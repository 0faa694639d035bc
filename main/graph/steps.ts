// How a run waits: the executor is a generator that yields only what must be awaited, so that everything else happens
// in one turn. The driver resumes it when the promise settles, and throws into it to end the run at once.
import type { CompiledNode } from './compile.ts';
import { fire, type Fired } from './firing.ts';
import type { RunState } from './run-state.ts';

export type Steps<Result> = Generator<Promise<unknown>, Result, undefined>;

/** How pausing, stepping and stopping reach into the loop. */
export interface Gate {
  /** Read before every firing; false costs nothing more. */
  readonly wantsAttention: boolean;
  /** What to wait for before the next firing, if anything. May set `run.ending`. */
  pass(run: RunState): Promise<void> | undefined;
}

/** Waits as long as somebody wants the run to. Afterwards `run.ending` may be set. */
export function* attend(run: RunState, gate: Gate): Steps<void> {
  while (gate.wantsAttention) {
    const wait = gate.pass(run);
    if (!wait) return;
    yield wait;
  }
}

/** Waits for a promise and gives its value; a rejection is thrown here. */
export function* settled<Value>(promise: Promise<Value>): Steps<Value> {
  const values: Value[] = [];
  yield promise.then((value) => void values.push(value));
  for (const value of values) return value;
  throw new Error('resumed before the promise had settled');
}

export function* firedBy(run: RunState, node: CompiledNode): Steps<Fired> {
  const outputs = fire(run, node);
  return outputs instanceof Promise ? yield* settled(outputs) : outputs;
}
