// What the command line returns to a shell, as pure functions of how a run or a command ended.
import type { ErrorCode } from '../../base/error-codes.ts';
import type { ErrorInfo } from '../../contract/error.ts';
import type { RunStatus } from '../../contract/run.ts';

export const exitCodes = {
  /** Every episode has a verdict. */
  ok: 0,
  /** Some episodes have none. */
  someWithoutVerdict: 1,
  /** Usage or invalid input. */
  invalid: 2,
  /** Paused or interrupted; `resume` goes on. */
  resumable: 3,
  internal: 70,
  cancelled: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Errors that are the product's, not the caller's. */
const ours: readonly ErrorCode[] = [
  'internal',
  'io_failed',
  'corrupt',
  'protocol_error',
  'connection_closed',
];

export function exitCodeOfError({ code }: Pick<ErrorInfo, 'code'>): ExitCode {
  if (code === 'aborted') return exitCodes.cancelled;
  // The run is on disk, or queued: it goes on with the next owner of the workspace.
  if (code === 'disk_full' || code === 'connection_closed') return exitCodes.resumable;
  return ours.includes(code) ? exitCodes.internal : exitCodes.invalid;
}

export function exitCodeOfRun(status: RunStatus, error: ErrorInfo | null): ExitCode {
  switch (status) {
    case 'completed':
    case 'queued':
      return exitCodes.ok;
    case 'completed_with_errors':
      return exitCodes.someWithoutVerdict;
    case 'paused':
    case 'interrupted':
    case 'stopping':
    case 'preparing':
    case 'running':
      return exitCodes.resumable;
    case 'cancelled':
      return exitCodes.cancelled;
    case 'failed':
      return error ? exitCodeOfError(error) : exitCodes.internal;
  }
}
