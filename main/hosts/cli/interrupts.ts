// The three levels of Ctrl-C while a run is followed, and what a press means that comes when the run has just ended:
// the engine still closes in order, and two presses are a cancellation however quick the first one was done.
import { messageOf } from '../../base/errors.ts';
import type { Client } from './client.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import type { Output } from './output.ts';

export interface FollowedRun {
  readonly runId: string;
  readonly hasEnded: boolean;
}

/** A terminal and npm may each deliver the same key press. */
const samePressMs = 50;
const signals = ['SIGINT', 'SIGTERM'] as const;

/** Signals are the process's, and so is what was pressed. */
let presses = 0;
let listener: (() => void) | null = null;

/** First Ctrl-C finishes what is in flight, second cancels it, third kills. Goes on listening until the process ends. */
export function handleInterrupts(client: Client, output: Output, run: FollowedRun): Disposable {
  let lastMs = Number.NEGATIVE_INFINITY;
  let isClosing = false;
  const ask = (name: 'runs.stop' | 'runs.cancel', what: string): void => {
    if (isClosing || run.hasEnded) return;
    output.note(what);
    client.request(name, { runId: run.runId }).catch((error: unknown) => {
      if (!run.hasEnded) output.note(messageOf(error));
    });
  };
  listenWith(() => {
    if (performance.now() - lastMs < samePressMs) return;
    lastMs = performance.now();
    presses += 1;
    if (presses === 1)
      ask(
        'runs.stop',
        'Stopping: episodes in flight finish, the run can be resumed. Press Ctrl-C again to cancel them.',
      );
    else if (presses === 2)
      ask('runs.cancel', 'Cancelling the episodes in flight. Press Ctrl-C again to kill everything.');
    else {
      client.kill();
      process.exit(exitCodes.cancelled);
    }
  });
  return { [Symbol.dispose]: () => void (isClosing = true) };
}

/** Nothing was in flight: the run had paused before the second press could cancel anything. */
export function exitCodeAfterInterrupts(code: ExitCode): ExitCode {
  return code === exitCodes.resumable && presses >= 2 ? exitCodes.cancelled : code;
}

function listenWith(next: () => void): void {
  presses = 0;
  for (const signal of signals) {
    if (listener) process.off(signal, listener);
    process.on(signal, next);
  }
  listener = next;
}
