// Errors across the wire. What the other side reports never passes for a state of our own: codes that describe a
// link or a cancellation here become `remote_error`.
import { errorCodes, type ErrorCode } from '../base/error-codes.ts';
import { StudioError } from '../base/errors.ts';

export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly type: string;
  readonly trace: readonly string[];
  readonly fatal: boolean;
}

const linesOfTrace = 40;
const ownStates: ReadonlySet<string> = new Set<ErrorCode>([
  'aborted',
  'timeout',
  'connection_closed',
  'process_died',
  'protocol_error',
  'spawn_failed',
  'handshake_failed',
  'guard_busy',
  'workspace_busy',
  'disk_full',
]);

/** Anything thrown, as it is sent. */
export function toWireError(thrown: unknown): WireError {
  if (!(thrown instanceof Error)) {
    return { code: 'remote_error', message: String(thrown), type: typeof thrown, trace: [], fatal: false };
  }
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : 'remote_error';
  const trace = (thrown.stack ?? '').split('\n').slice(0, linesOfTrace);
  return { code, message: thrown.message, type: thrown.name, trace, fatal: code === 'fatal' };
}

/** The error of a call, from the `e` of its answer. `details` keeps what was reported. */
export function fromWireError(wire: unknown, method: string): StudioError {
  const members =
    typeof wire === 'object' && wire !== null ? (wire as Readonly<Record<string, unknown>>) : {};
  const remoteCode = textOr(members['code'], 'remote_error');
  const type = textOr(members['type'], 'Error');
  const fatal = members['fatal'] === true;
  const message = textOr(members['message'], '') || `${method} failed with ${type} and no message`;
  const trace = Array.isArray(members['trace'])
    ? members['trace'].filter((line) => typeof line === 'string')
    : [];
  const details = { method, remoteCode, type, trace, fatal };
  return new StudioError(fatal ? 'fatal' : passableCode(remoteCode), message, { details });
}

function passableCode(code: string): ErrorCode {
  return isErrorCode(code) && !ownStates.has(code) ? code : 'remote_error';
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}
