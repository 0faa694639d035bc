// One engine behind every way in: the dispatcher itself, HTTP, the owner's socket, and Electron's bridge with a
// recording stand-in. Its handlers only count: what reaches them must fit the contract.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { connectBridge } from '../../electron/ipc-bridge.ts';
import { invokeChannel, type ElectronApi } from '../../electron/electron-api.ts';
import { systemClock } from '../../main/base/clock.ts';
import { StudioError } from '../../main/base/errors.ts';
import { silentLogger } from '../../main/base/logger.ts';
import type { RequestName } from '../../main/contract/api.ts';
import { requests } from '../../main/contract/requests.ts';
import { createDispatcher, type Handlers } from '../../main/dispatch.ts';
import { EventFeed } from '../../main/event-feed.ts';
import type { Engine, HostMedia } from '../../main/hosts/engine.ts';
import { connectToOwner, serveOwnerSocket } from '../../main/hosts/owner-socket.ts';
import { startWebHost, type WebHost } from '../../main/hosts/web.ts';

export type Ask = (name: string, input: unknown) => Promise<unknown>;

export interface Transports extends AsyncDisposable {
  readonly asks: ReadonlyMap<string, Ask>;
  readonly web: WebHost;
  readonly socketPath: string;
  /** Requests that reached a handler, and those of them whose payload does not fit the contract. */
  readonly reached: { total: number; invalid: number };
}

export async function openTransports(): Promise<Transports> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'transports-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const reached = { total: 0, invalid: 0 };
  const engine: Engine = {
    feed: new EventFeed(systemClock),
    dispatcher: createDispatcher({ handlers: countingHandlers(reached), logger: silentLogger }),
    media: countingMedia(reached, path.join(folder, 'kept.txt')),
  };
  await writeFile(path.join(folder, 'kept.txt'), 'not for everybody');
  const web = stack.use(
    await startWebHost({ engine, clock: systemClock, logger: silentLogger, rendererFolder: folder }),
  );
  const socketPath = path.join(folder, 'owner.sock');
  stack.use(await serveOwnerSocket(engine, socketPath, 'secret'));
  const owner = stack.use(await connectToOwner(socketPath, 'secret'));
  const asks = new Map<string, Ask>([
    ['dispatcher', (name, input) => engine.dispatcher.dispatch(name, input)],
    ['http', await httpAsk(web)],
    ['socket', (name, input) => owner.request(name as RequestName, input as never)],
    ['electron', electronAsk(engine, stack)],
  ]);
  const resources = stack.move();
  return { asks, web, socketPath, reached, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Parsed once more: what a handler gets has been through the schema, so the schema takes it again. */
function countingHandlers(reached: { total: number; invalid: number }): Handlers {
  const handler =
    (name: RequestName) =>
    async (input: unknown): Promise<never> => {
      reached.total++;
      if (!requests[name].input.safeParse(input).success) reached.invalid++;
      throw new StudioError('unsupported', 'counted');
    };
  const names = Object.keys(requests) as RequestName[];
  return Object.fromEntries(names.map((name) => [name, handler(name)])) as unknown as Handlers;
}

/** Whatever is asked for is there. */
function countingMedia(reached: { total: number }, file: string): HostMedia {
  return {
    async resolve() {
      reached.total++;
      return { file, mimeType: 'text/plain', bytes: 17, immutable: false, downloadName: null };
    },
    async receive() {
      reached.total++;
      return 'upload';
    },
  };
}

async function httpAsk(web: WebHost): Promise<Ask> {
  const post = (route: string, body: string, cookie: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${web.port}/api/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body,
    });
  const session = await post('session', JSON.stringify({ token: web.token }), '');
  const cookie = session.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return async (name, input) => {
    const reply = await post(encodeURIComponent(name), JSON.stringify({ input }), cookie);
    return reply.json();
  };
}

/** As Electron does it: one handler a channel, values cloned both ways. */
function electronAsk(engine: Engine, stack: AsyncDisposableStack): Ask {
  type Handler = (event: unknown, ...values: unknown[]) => Promise<unknown>;
  const handlers = new Map<string, Handler>();
  const ipcMain = {
    handle: (channel: string, handler: Handler) => void handlers.set(channel, handler),
    removeHandler: (channel: string) => void handlers.delete(channel),
  } as unknown as ElectronApi['ipcMain'];
  stack.use(connectBridge({ ipcMain, engine, windows: () => [] }));
  const page = {
    senderFrame: { parent: null, url: 'app://agentcanvas/index.html' },
    sender: { isDestroyed: () => false },
  };
  return async (name, input) =>
    structuredClone(await handlers.get(invokeChannel)?.(page, name, structuredClone(input)));
}
