// The one error class. A message says what to do next; `scope` says where it happened; cancellation has its
// own code ('aborted') and is never reported as a failure.
import type { ErrorCode } from './error-codes.ts';

/** Where an error happened. `nodePath` reads `composite > inner`; `step` is the root iteration, from 0. */
export interface ErrorScope {
  readonly runId?: string;
  readonly episodeId?: string;
  readonly nodePath?: string;
  readonly step?: number;
  readonly phase?: string;
}

export interface ErrorOptionsWithScope {
  readonly cause?: unknown;
  readonly scope?: ErrorScope;
  /** Structured facts a host may show: holder of a guard, exit code, last stderr lines. JSON values only. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export class StudioError extends Error {
  override readonly name = 'StudioError';
  readonly code: ErrorCode;
  readonly scope: ErrorScope;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptionsWithScope = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.scope = options.scope ?? {};
    this.details = options.details ?? {};
  }

  /** The same error with more scope; what is already known is not overwritten. */
  within(scope: ErrorScope): StudioError {
    return new StudioError(this.code, this.message, {
      cause: this.cause,
      scope: { ...scope, ...this.scope },
      details: this.details,
    });
  }
}

/** Any thrown value as a StudioError; unknown things become `fallback`. Abort reasons become `aborted`. */
export function toStudioError(thrown: unknown, fallback: ErrorCode = 'internal'): StudioError {
  if (thrown instanceof StudioError) return thrown;
  if (isAbort(thrown)) return new StudioError('aborted', messageOf(thrown), { cause: thrown });
  return new StudioError(fallback, messageOf(thrown), { cause: thrown });
}

export function isAbort(thrown: unknown): boolean {
  if (thrown instanceof StudioError) return thrown.code === 'aborted';
  return thrown instanceof Error && thrown.name === 'AbortError';
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
