// The handshake between engine and host: one JSON line over a pipe of its own, proved by the nonce that only the two
// of them know.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { StudioError } from '../base/errors.ts';
import { protocolVersion } from './frame-format.ts';

export interface Handshake {
  readonly pid: number;
  readonly listen: string;
}

/** The line a host writes, without its newline. */
export function handshakeLine(nonce: string, handshake: Handshake): string {
  const { pid, listen } = handshake;
  return JSON.stringify({ protocol: protocolVersion, pid, listen, proof: hostProof(nonce, handshake) });
}

/** Checks version and proof; throws `handshake_failed`. The pid is the process's own, also behind a wrapper. */
export function verifyHandshake(line: string, nonce: string): Handshake {
  const { protocol, pid, listen, proof } = parseLine(line);
  if (protocol !== protocolVersion)
    throw refuse(`it speaks protocol ${String(protocol)}, this app ${protocolVersion}; update the older one`);
  if (!Number.isSafeInteger(pid) || typeof listen !== 'string' || typeof proof !== 'string')
    throw refuse('its handshake lacks members');
  const handshake = { pid: pid as number, listen };
  if (!isEqual(proof, hostProof(nonce, handshake)))
    throw refuse('its proof is wrong: another process answered');
  return handshake;
}

/** What the engine proves on a TCP connection, in its first call. */
export function engineProof(nonce: string, listen: string): string {
  return hmac(nonce, `engine:${listen}`);
}

/** Compares in constant time. */
export function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function hostProof(nonce: string, { pid, listen }: Handshake): string {
  return hmac(nonce, `${protocolVersion}:${pid}:${listen}`);
}

function hmac(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}

function parseLine(line: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>;
  } catch {
    // said below
  }
  throw refuse(`it wrote no handshake to fd 3 but: ${line.slice(0, 200)}`);
}

function refuse(why: string): StudioError {
  return new StudioError('handshake_failed', `the process cannot be used: ${why}`);
}
