// Requests that must get nothing: without or with a wrong token, host, origin, fetch site or content type over HTTP,
// without the secret over the owner's socket, from another page over Electron's bridge.
import { request as httpRequest } from 'node:http';
import { createConnection } from 'node:net';
import { connectBridge } from '../../electron/ipc-bridge.ts';
import { invokeChannel, type ElectronApi } from '../../electron/electron-api.ts';
import { createRandom, type Random } from '../../main/base/random.ts';
import { systemClock } from '../../main/base/clock.ts';
import { EventFeed } from '../../main/event-feed.ts';
import { openTransports, type Transports } from './transports.ts';
import { atScale, Faults, type RowOptions, type RowResult } from './row.ts';

interface Attempt {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export async function run({ seed, scale, signal, log }: RowOptions): Promise<RowResult> {
  const random = createRandom(seed);
  await using transports = await openTransports();
  const faults = new Faults();
  const web = atScale(scale, 4000, 400);
  const other = atScale(scale, 500, 50);
  const good = await openSession(transports);
  for (let done = 0; done < web; done += 20) {
    signal.throwIfAborted();
    await Promise.all(
      Array.from({ length: 20 }, () =>
        refusedOverHttp(transports, { attempt: attemptOf(random, good), faults }),
      ),
    );
  }
  log(`${web} over HTTP`);
  for (let done = 0; done < other; done++) await refusedOverSocket(transports, { random, faults });
  const bridged = await refusedOverBridge(random, { count: other, faults });
  faults.check(
    transports.reached.total === 0,
    () => `${transports.reached.total} requests reached a handler`,
  );
  return {
    name: 'unauthorised',
    figures: {
      'over HTTP': web,
      'over the owner’s socket': other,
      'over Electron’s bridge': other,
      'not refused with a typed error, or with other content': faults.count,
      'reached a handler': transports.reached.total + bridged,
    },
    ok: faults.count === 0 && bridged === 0,
    details: faults.stories,
  };
}

interface Good {
  readonly cookie: string;
  readonly cookieName: string;
}

async function openSession({ web }: Transports): Promise<Good> {
  const reply = await fetch(`http://127.0.0.1:${web.port}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: web.token }),
  });
  const cookie = reply.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { cookie, cookieName: cookie.split('=')[0] ?? '' };
}

const wrongHosts = [
  'evil.example',
  '127.0.0.1.evil.example',
  'localhost.evil',
  '0.0.0.0',
  '10.0.0.1',
  '[::2]',
  '127.0.0.1:99999999',
  'local host',
  ':80',
  'localhost@evil.example',
  '127.1',
  '2130706433',
];
const wrongOrigins = [
  'http://evil.example',
  'null',
  'https://localhost.evil',
  'file://',
  'http://127.0.0.1:1',
  'chrome-extension://x',
  'http://127.0.0.1',
];
const targets = [
  '/api/runs.cancel',
  '/api/runs.delete',
  '/api/guard.get',
  '/api/settings.set',
  '/api/trust.add',
  '/api/events',
  '/api/__proto__',
  '/assets/20260101T000000.000Z-aaaaaa/x/y.png',
  '/exports/report.html',
  '/uploads/bundle.zip',
];

/** A request that is right in everything but one thing. */
function attemptOf(random: Random, { cookie, cookieName }: Good): Attempt {
  const pick = <Item>(items: readonly Item[]): Item => items[random.integer(items.length)] as Item;
  const json = { 'content-type': 'application/json' };
  const wrongCookies = [
    '',
    `${cookie}0`,
    cookie.slice(0, -1),
    `${cookieName}=${'0'.repeat(64)}`,
    `${cookieName}=${cookie}`,
    `x${cookie}`,
    cookie.toUpperCase(),
  ];
  const path = pick(targets);
  const method = path === '/api/events' || /^\/(?:assets|exports)/.test(path) ? 'GET' : 'POST';
  const body =
    method === 'GET' ? '' : pick(['{"input":{"runId":"r"}}', '{}', '', '{"token":"no"}', '[1', '\0']);
  const headers = pick<() => Record<string, string>>([
    () => ({ ...json, cookie: pick(wrongCookies) }),
    () => json,
    () => ({ ...json, authorization: `Bearer ${cookie.split('=')[1]}` }),
    () => ({ ...json, cookie, host: pick(wrongHosts) }),
    () => ({ ...json, cookie, origin: pick(wrongOrigins) }),
    () => ({ ...json, cookie, 'sec-fetch-site': pick(['cross-site', 'same-site', 'x', '']) }),
  ])();
  return { method, path, headers, body };
}

async function refusedOverHttp(
  { web }: Transports,
  { attempt, faults }: { attempt: Attempt; faults: Faults },
): Promise<void> {
  const told = `${attempt.method} ${attempt.path} ${JSON.stringify(attempt.headers)}`;
  const reply = await send(web.port, attempt).catch((error: unknown) => String(error));
  if (typeof reply === 'string') return faults.add(`${reply}: ${told}`);
  faults.check(isRefusal(reply.body) && reply.status >= 400, () => `${reply.status} ${reply.body}: ${told}`);
  faults.check(
    !reply.headers.some((name) => name === 'set-cookie' || name.startsWith('access-control')),
    () => told,
  );
}

/** Typed, and nothing else in it. */
function isRefusal(body: string): boolean {
  const value = JSON.parse(body) as { ok?: unknown; error?: { code?: unknown; details?: object } };
  return (
    value.ok === false &&
    value.error?.code === 'unauthorized' &&
    Object.keys(value).length === 2 &&
    Object.keys(value.error.details ?? {}).length === 0
  );
}

function send(
  port: number,
  { method, path, headers, body }: Attempt,
): Promise<{ readonly status: number; readonly body: string; readonly headers: readonly string[] }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: text, headers: Object.keys(response.headers) }),
      );
    });
    outgoing.setTimeout(5000, () => outgoing.destroy(new Error('no answer')));
    outgoing.on('error', reject).end(body);
  });
}

const firstLines = [
  '{"secret":"wrong"}\n{"id":1,"name":"app.info","input":{}}\n',
  '{"id":1,"name":"app.info","input":{}}\n',
  '{"subscribe":true}\n',
  '{"secret":1}\n',
  '{"secret":"secre"}\n{"subscribe":true}\n',
  'GET / HTTP/1.1\r\n\r\n',
  'null\n',
  '\u0000\u0001\n',
];

/** The peer is cut off and is sent not one byte. */
async function refusedOverSocket(
  { socketPath }: Transports,
  { random, faults }: { random: Random; faults: Faults },
): Promise<void> {
  const line = firstLines[random.integer(firstLines.length)] ?? '';
  const socket = createConnection(socketPath);
  let bytes = 0;
  const closed = new Promise<boolean>((resolve) => {
    socket.on('data', (chunk) => (bytes += chunk.length));
    socket.on('error', () => resolve(true));
    socket.on('close', () => resolve(true));
    setTimeout(() => resolve(false), 5000).unref();
  });
  socket.write(line);
  faults.check(
    (await closed) && bytes === 0,
    () => `the socket answered ${bytes} bytes to ${JSON.stringify(line)}`,
  );
  socket.destroy();
}

const strangers = [
  { senderFrame: { parent: null, url: 'https://evil.example/' } },
  { senderFrame: { parent: null, url: 'app://agentcanvas.evil/index.html' } },
  { senderFrame: { parent: null, url: 'app://other/index.html' } },
  { senderFrame: { parent: {}, url: 'app://agentcanvas/index.html' } },
  { senderFrame: { parent: null, url: 'file:///index.html' } },
  { senderFrame: null },
];

async function refusedOverBridge(
  random: Random,
  { count, faults }: { count: number; faults: Faults },
): Promise<number> {
  type Handler = (event: unknown, ...values: unknown[]) => Promise<unknown>;
  const handlers = new Map<string, Handler>();
  let dispatched = 0;
  const ipcMain = {
    handle: (channel: string, handler: Handler) => void handlers.set(channel, handler),
    removeHandler: (channel: string) => void handlers.delete(channel),
  } as unknown as ElectronApi['ipcMain'];
  const dispatch = async (): Promise<never> => {
    dispatched++;
    throw new Error('reached');
  };
  using _bridge = connectBridge({
    ipcMain,
    engine: { feed: new EventFeed(systemClock), dispatcher: { dispatch } },
    windows: () => [],
  });
  for (let done = 0; done < count; done++) {
    const stranger = strangers[random.integer(strangers.length)];
    const event = { ...stranger, sender: { isDestroyed: () => false } };
    const reply = await handlers.get(invokeChannel)?.(event, 'settings.get', {});
    faults.check(isRefusal(JSON.stringify(reply)), () => `the bridge answered ${JSON.stringify(stranger)}`);
  }
  return dispatched;
}
