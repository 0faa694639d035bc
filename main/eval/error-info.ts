// An error as it is written into a run's record.
import type { StudioError } from '../base/errors.ts';
import type { ErrorInfo } from '../contract/error.ts';

/** No stack, no cause, details as plain JSON. */
export function errorInfoOf(error: StudioError): ErrorInfo {
  const details = JSON.parse(JSON.stringify(error.details)) as Record<string, unknown>;
  return { code: error.code, message: error.message, scope: { ...error.scope }, details };
}
