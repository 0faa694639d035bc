// What becomes of a batch whose call failed: pure. One bad sample is found by splitting; a backend that is lost again
// and again is not asked for every sample in turn.
import type { ErrorCode } from '../base/error-codes.ts';
import type { StudioError } from '../base/errors.ts';

/** So many losses of the backend without an answer in between, and what is left of the batch fails with it. */
const lossesUntilGivenUp = 3;

const lossCodes: ReadonlySet<ErrorCode> = new Set([
  'timeout',
  'process_died',
  'connection_closed',
  'protocol_error',
  'handshake_failed',
  'spawn_failed',
  'fatal',
]);

/** The backend was lost, as opposed to having refused what it was given. */
export function isBackendLoss(error: StudioError): boolean {
  return lossCodes.has(error.code);
}

export type FailureDecision<Sample> =
  | { readonly kind: 'reject' }
  | { readonly kind: 'reject_all' }
  | { readonly kind: 'retry'; readonly parts: readonly (readonly Sample[])[] };

export interface Failure<Sample> {
  readonly batch: readonly Sample[];
  readonly error: StudioError;
  /** This one included. */
  readonly lossesInARow: number;
  /** The answer did not fit the batch: no smaller batch would make it right. */
  readonly isMismatch: boolean;
}

/**
 * Halves find the sample a model refuses in few calls. After a loss every sample is tried once more, alone: models keep
 * no state, so a crash that was not the sample's fault costs nobody anything, and one that was kills only itself.
 */
export function decideFailure<Sample>(failure: Failure<Sample>): FailureDecision<Sample> {
  const { batch, error, lossesInARow, isMismatch } = failure;
  if (error.code === 'aborted') return { kind: 'reject_all' };
  if (isBackendLoss(error)) {
    if (lossesInARow >= lossesUntilGivenUp) return { kind: 'reject_all' };
    const isTheCulprit = batch.length === 1 && lossesInARow > 1;
    return isTheCulprit ? { kind: 'reject' } : { kind: 'retry', parts: batch.map((sample) => [sample]) };
  }
  if (isMismatch || batch.length <= 1) return { kind: 'reject' };
  const middle = Math.ceil(batch.length / 2);
  return { kind: 'retry', parts: [batch.slice(0, middle), batch.slice(middle)] };
}
