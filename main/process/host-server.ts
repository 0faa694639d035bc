// The host's side, for hosts written in TypeScript: handshake, lifeline, heartbeats. A host ends when its engine does,
// with its whole group, whatever it is doing at the moment.
import { closeSync, fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { systemClock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import { formatAddress, listenForOne, parseAddress } from './frame-socket.ts';
import { engineProof, handshakeLine, isEqual } from './handshake.ts';
import { listenVariable, nonceVariable } from './owner.ts';
import type { CallHandler, FrameConnection, IncomingCall } from './ports.ts';

const heartbeatEveryMs = 1_000;
const handshakeFile = 3;

export interface HostServerOptions {
  /** Answers the engine's calls; `shutdown` too: the host exits with 0 once that is answered. */
  readonly handle: CallHandler;
  /** Before the first call: the way back to the engine. */
  readonly onConnected?: (connection: FrameConnection) => void;
}

/**
 * Serves until the engine ends the connection, then ends the process; it does not return. Call it before user code is
 * imported: it takes the nonce out of the environment and fd 0 out of the way.
 */
export async function runHostServer(options: HostServerOptions): Promise<never> {
  const nonce = takeVariable(nonceVariable);
  const asked = takeVariable(listenVariable);
  watchLifeline();
  const listener = await listenForOne(parseAddress(asked), systemClock);
  const listen = formatAddress(listener.address);
  writeSync(handshakeFile, `${handshakeLine(nonce, { pid: process.pid, listen })}\n`);
  closeSync(handshakeFile);
  const connection = await listener.connection;
  const proof = 'path' in listener.address ? undefined : engineProof(nonce, listen);
  options.onConnected?.(connection);
  let isAgreed = false;
  const handle = requireProof(connection, proof, options.handle);
  connection.serve(endAfterShutdown(connection, handle, () => (isAgreed = true)));
  const heartbeat = setInterval(
    () => connection.note('heartbeat', { rss: process.memoryUsage.rss() }),
    heartbeatEveryMs,
  );
  heartbeat.unref();
  await connection.closed;
  return isAgreed ? process.exit(0) : endOwnGroup();
}

/** Private folders protect a Unix socket; on TCP the first call must prove that the engine made it. */
function requireProof(
  connection: FrameConnection,
  proof: string | undefined,
  handle: CallHandler,
): CallHandler {
  if (proof === undefined) return handle;
  let isProved = false;
  return (method, params, call) => {
    if (isProved) return handle(method, params, call);
    isProved = method === 'auth' && isEqual(proofIn(params), proof);
    if (isProved) return {};
    const refusal = new StudioError(
      'unauthorized',
      'the first call must prove that it comes from the engine',
    );
    connection.close(refusal);
    throw refusal;
  };
}

/** Answers `shutdown`, sends what is written and calls `onAgreed` before the connection ends. */
function endAfterShutdown(
  connection: FrameConnection,
  handle: CallHandler,
  onAgreed: () => void,
): CallHandler {
  const shutDown = async (params: unknown, call: IncomingCall): Promise<unknown> => {
    const result = await handle('shutdown', params, call);
    onAgreed();
    // The answer is written when this promise settles; the turn after that is the time to leave.
    setImmediate(() => void connection[Symbol.asyncDispose]());
    return result;
  };
  return (method, params, call) =>
    method === 'shutdown' ? shutDown(params, call) : handle(method, params, call);
}

function takeVariable(name: string): string {
  const value = process.env[name];
  delete process.env[name];
  if (value) return value;
  throw new StudioError(
    'invalid_input',
    `${name} is not set: this program is started by the app, not by hand`,
  );
}

/** fd 0 ends when the engine does. User code that reads its standard input gets an empty one. */
function watchLifeline(): void {
  const kind = fstatSync(0);
  if (kind.isSocket() || kind.isFIFO()) {
    const lifeline = new Socket({ fd: 0, readable: true, writable: false });
    for (const event of ['end', 'error', 'close']) lifeline.on(event, endOwnGroup);
    lifeline.resume();
  }
  Object.defineProperty(process, 'stdin', { value: Readable.from([]), configurable: true });
}

/** Every host leads its own group; should it not (started by hand), only it ends. */
function endOwnGroup(): never {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    process.exit(1);
  }
  process.exit(1);
}

function proofIn(params: unknown): string {
  const proof: unknown =
    typeof params === 'object' && params !== null && 'proof' in params ? params.proof : undefined;
  return typeof proof === 'string' ? proof : '';
}
