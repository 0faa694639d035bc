// Opens frame connections: the engine connects and reads into one reused buffer; a host listens, accepts exactly
// one connection and stops listening. Nothing ever listens on a public address unless the caller names one.
import {
  connect,
  createServer,
  Socket,
  type AddressInfo,
  type OnReadOpts,
  type SocketConstructorOpts,
} from 'node:net';
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import { SocketFrameConnection } from './frame-connection.ts';
import { FrameParser } from './frame-parser.ts';
import type { FrameConnection } from './ports.ts';

/** `unix:<path>`, or `tcp:<host>:<port>` where port 0 stands for one that the system picks. */
export type SocketAddress = { readonly path: string } | { readonly host: string; readonly port: number };

export function parseAddress(text: string): SocketAddress {
  if (text.startsWith('unix:') && text.length > 5) return { path: text.slice(5) };
  const match = /^tcp:(?:\[([^\]]+)\]|([^:\]]+))(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  if (!match || !host) {
    throw new StudioError(
      'invalid_input',
      `"${text.slice(0, 200)}" is no address; expected unix:<path> or tcp:<host>:<port>`,
    );
  }
  return { host, port: Number(match[3] ?? 0) };
}

export function formatAddress(address: SocketAddress): string {
  if ('path' in address) return `unix:${address.path}`;
  return `tcp:${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
}

export interface ConnectOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/** Rejects with `connection_closed` when nobody listens there, with `aborted` when the signal ends the attempt. */
export function connectFrames(address: SocketAddress, options: ConnectOptions): Promise<FrameConnection> {
  const { signal, clock } = options;
  return new Promise((resolve, reject) => {
    const parser = new FrameParser();
    const socket = connect({
      ...address,
      noDelay: true,
      onread: readInto(parser, (byteCount) => connection.bytesArrived(byteCount)),
    });
    const connection = new SocketFrameConnection(socket, parser, clock);
    const onAbort = (): void => connection.close(new StudioError('aborted', 'stopped while connecting'));
    const settle = (): void => signal?.removeEventListener('abort', onAbort);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    void connection.closed.then(settle).then(async () => reject(await connection.closed));
    socket.once('connect', () => {
      settle();
      socket.resume();
      resolve(connection);
    });
  });
}

export interface FrameListener extends Disposable {
  /** Where it listens, with the port the system picked. */
  readonly address: SocketAddress;
  /** The one connection it accepts; it stops listening then. Rejects when disposed before. */
  readonly connection: Promise<FrameConnection>;
}

/** Binds; rejects with `io_failed` when it cannot. */
export function listenForOne(address: SocketAddress, clock: Clock): Promise<FrameListener> {
  return new Promise((resolve, reject) => {
    const accepted = Promise.withResolvers<FrameConnection>();
    accepted.promise.catch(ignoreWhenUnused);
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      server.close();
      accepted.resolve(serveSocket(socket, clock));
    });
    server.maxConnections = 1;
    server.once('error', (error) =>
      reject(new StudioError('io_failed', `cannot listen on ${formatAddress(address)}: ${error.message}`)),
    );
    server.listen(address, () => {
      resolve({
        address: 'path' in address ? address : { host: address.host, port: portOf(server.address()) },
        connection: accepted.promise,
        [Symbol.dispose]: () => {
          server.close();
          accepted.reject(new StudioError('aborted', 'stopped listening'));
        },
      });
    });
  });
}

/**
 * Node offers the reused read buffer to sockets it makes itself, not to accepted ones, which hand out a new buffer per
 * chunk: 3 of 18 µs of a ping. So the accepted socket's handle is moved to a socket made here. That is no documented
 * interface; where it is missing, chunks it is.
 */
function serveSocket(socket: Socket, clock: Clock): FrameConnection {
  socket.setNoDelay(true);
  const parser = new FrameParser();
  const handle: unknown = Reflect.get(socket, '_handle');
  if (!isHandle(handle)) {
    const connection = new SocketFrameConnection(socket, parser, clock);
    socket.on('data', (chunk: Buffer) => connection.bytesArrived(chunk.length, chunk));
    return connection;
  }
  Reflect.set(socket, '_handle', null);
  const options = { handle, onread: readInto(parser, (byteCount) => connection.bytesArrived(byteCount)) };
  const connection = new SocketFrameConnection(new Socket(options).resume(), parser, clock);
  return connection;
}

type SocketHandle = NonNullable<SocketConstructorOpts['handle']>;

function isHandle(value: unknown): value is SocketHandle {
  return typeof value === 'object' && value !== null;
}

function readInto(parser: FrameParser, arrived: (byteCount: number) => void): OnReadOpts {
  return {
    buffer: () => parser.target,
    callback: (byteCount) => {
      arrived(byteCount);
      return true;
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function ignoreWhenUnused(): void {}
