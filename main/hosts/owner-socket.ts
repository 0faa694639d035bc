// How a second process reaches the owner of a workspace: the contract over a private socket. The first line is the
// secret of the owner's 0600 file; a peer that does not send it gets nothing.
import { createServer, createConnection, type Socket } from 'node:net';
import { mkdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { EventMessage, Reply, RequestInput, RequestName, Transport } from '../contract/api.ts';
import type { ErrorInfo } from '../contract/error.ts';
import { StudioError } from '../base/errors.ts';
import { sha256 } from '../base/stable-hash.ts';
import type { Engine } from './engine.ts';
import { openLineChannel, type LineChannel } from './line-channel.ts';

const toOwner = z.union([
  z.strictObject({ secret: z.string() }),
  z.strictObject({ subscribe: z.literal(true) }),
  z.strictObject({ id: z.number().int(), cancel: z.literal(true) }),
  z.strictObject({ id: z.number().int(), name: z.string(), input: z.unknown() }),
]);
type ToOwner = z.infer<typeof toOwner>;
type FromOwner =
  | { readonly id: number; readonly reply: Reply<RequestName> }
  | { readonly event: EventMessage }
  | { readonly gap: number };

const maxWaitingBytes = 8 * 2 ** 20;

/** A short path only this user can reach: Unix socket paths end at about 100 bytes. */
export function ownerSocketPath(workspace: string): string {
  const name = sha256(path.resolve(workspace)).slice(0, 16);
  if (process.platform === 'win32') return `\\\\.\\pipe\\agentcanvas-${name}`;
  const parent = process.env['XDG_RUNTIME_DIR'] ?? os.tmpdir();
  return path.join(parent, `agentcanvas-${os.userInfo().uid}`, `${name}.sock`);
}

export async function serveOwnerSocket(
  engine: Engine,
  socketPath: string,
  secret: string,
): Promise<AsyncDisposable> {
  if (process.platform !== 'win32') {
    await mkdir(path.dirname(socketPath), { recursive: true, mode: 0o700 });
    await rm(socketPath, { force: true });
  }
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    servePeer(socket, engine, secret);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new StudioError('io_failed', `Cannot listen on ${socketPath}: ${cause.message}`, { cause })),
    );
    server.listen(socketPath, resolve);
  });
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function servePeer(socket: Socket, { dispatcher, feed }: Engine, secret: string): void {
  let known = false;
  let subscription: Disposable | null = null;
  const open = new Map<number, AbortController>();
  const channel = openLineChannel(socket, {
    onClose: () => {
      subscription?.[Symbol.dispose]();
      for (const abort of open.values()) abort.abort();
    },
    onValue: (value) => {
      const message = toOwner.parse(value);
      if (!known) known = 'secret' in message && message.secret === secret;
      else take(message);
      if (!known) channel.close();
    },
  });
  const send = (message: FromOwner): void => channel.send(message);
  const take = (message: ToOwner): void => {
    if ('subscribe' in message) subscription ??= forwardEvents(channel, feed);
    else if ('cancel' in message) open.get(message.id)?.abort();
    else if ('name' in message) void answer(message.id, message.name, message.input);
  };
  const answer = async (id: number, name: string, input: unknown): Promise<void> => {
    const abort = new AbortController();
    open.set(id, abort);
    const reply = await dispatcher.dispatch(name, input, abort.signal);
    open.delete(id);
    send({ id, reply });
  };
}

/** A peer that does not read misses messages and learns of it by a gap once it reads again, whether or not more come. */
function forwardEvents(channel: LineChannel, feed: Engine['feed']): Disposable {
  let missed = false;
  const tellGap = (): void => {
    if (missed) channel.send({ gap: feed.sequence } satisfies FromOwner);
    missed = false;
  };
  channel.onDrain(tellGap);
  return feed.subscribe((event) => {
    if (channel.waitingBytes > maxWaitingBytes) {
      missed = true;
      return;
    }
    tellGap();
    channel.send({ event } satisfies FromOwner);
  });
}

/** The owner behind the interface that every transport has. Rejects with `workspace_busy` when it does not answer. */
export async function connectToOwner(
  socketPath: string,
  secret: string,
  timeoutMs = 3000,
): Promise<Transport & Disposable> {
  const socket = await connect(socketPath, timeoutMs);
  const waiting = new Map<number, (reply: Reply<RequestName>) => void>();
  const listeners = new Set<{
    readonly listener: (message: EventMessage) => void;
    readonly onGap: () => void;
  }>();
  const lost: ErrorInfo = {
    code: 'connection_closed',
    message: 'The process that owns the workspace ended. Run the command again.',
    scope: {},
    details: {},
  };
  let nextId = 1;
  const channel = openLineChannel(socket, {
    onClose: () => {
      for (const settle of waiting.values()) settle({ ok: false, error: lost });
      waiting.clear();
      for (const { onGap } of listeners) onGap();
    },
    onValue: (value) => {
      const message = value as FromOwner;
      if ('reply' in message) waiting.get(message.id)?.(message.reply);
      else if ('event' in message) for (const { listener } of listeners) listener(message.event);
      else for (const { onGap } of listeners) onGap();
    },
  });
  channel.send({ secret });
  return {
    request<Name extends RequestName>(
      name: Name,
      input: RequestInput<Name>,
      signal?: AbortSignal,
    ): Promise<Reply<Name>> {
      if (socket.destroyed) return Promise.resolve({ ok: false, error: lost });
      const id = nextId++;
      signal?.addEventListener('abort', () => channel.send({ id, cancel: true }), { once: true });
      return new Promise((resolve) => {
        waiting.set(id, (reply) => {
          waiting.delete(id);
          resolve(reply as Reply<Name>);
        });
        channel.send({ id, name, input });
      });
    },
    subscribe(listener, onGap) {
      if (listeners.size === 0) channel.send({ subscribe: true });
      const entry = { listener, onGap };
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    [Symbol.dispose]: () => channel.close(),
  };
}

function connect(socketPath: string, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath);
    const fail = (cause?: Error): void => {
      socket.destroy();
      const message =
        'Another process owns this workspace but does not answer. Close it, or wait until it has ended.';
      reject(new StudioError('workspace_busy', message, cause ? { cause } : {}));
    };
    const timer = setTimeout(fail, timeoutMs);
    socket.once('error', (cause) => {
      clearTimeout(timer);
      fail(cause);
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}
