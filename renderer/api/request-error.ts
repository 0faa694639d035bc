// A failed request in the renderer: the contract's error with its code, so that places can react to it.
import type { ErrorInfo } from '#contract/error.ts';

export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: ErrorInfo['code'];
  readonly scope: ErrorInfo['scope'];
  readonly details: ErrorInfo['details'];

  constructor(info: ErrorInfo) {
    super(info.message);
    this.code = info.code;
    this.scope = info.scope;
    this.details = info.details;
  }
}

export const errorInfoOf = (code: ErrorInfo['code'], message: string): ErrorInfo => ({
  code,
  message,
  scope: {},
  details: {},
});

/** Any thrown value as a RequestError; an abort keeps its own code. */
export function toRequestError(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  if (thrown instanceof DOMException && thrown.name === 'AbortError')
    return new RequestError(errorInfoOf('aborted', 'Stopped.'));
  return new RequestError(errorInfoOf('internal', thrown instanceof Error ? thrown.message : String(thrown)));
}

export const isAborted = (thrown: unknown): boolean => toRequestError(thrown).code === 'aborted';
