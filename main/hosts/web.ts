// The web host: the same contract in a browser. HTTP for requests, one event stream. Binds to 127.0.0.1 unless told
// otherwise; nobody without this start's token gets anything but the interface's public files and typed refusals.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { StudioError, toStudioError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { describeError } from '../dispatch.ts';
import type { Engine } from './engine.ts';
import { streamEvents } from './web/event-stream.ts';
import { answerMedia, isMediaPath } from './web/media-routes.ts';
import { readJson, sendJson, sendRefusal, statusOf } from './web/replies.ts';
import {
  isJson,
  isPageVisit,
  refuseByOrigin,
  refuseByToken,
  sameSecret,
  type GuardPolicy,
  type Refusal,
} from './web/request-guard.ts';
import { sendFile } from './web/static-files.ts';

export interface WebHostOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Folder of the built interface. */
  readonly rendererFolder: string;
  readonly host?: string;
  /** 0 = any free one. */
  readonly port?: number;
  readonly allowedHosts?: readonly string[];
}

export interface WebHost extends AsyncDisposable {
  readonly port: number;
  readonly token: string;
  /** With the token in the fragment, which browsers do not send. */
  readonly address: string;
}

const requestLimitBytes = 2 ** 20;
const graphLimitBytes = 8 * 2 ** 20 + 2 ** 16;
const maxClients = 64;
/** With the value `envelope`, what was asked for and could not be done is answered with status 200. */
const replyHeader = 'x-agentcanvas-reply';

const refusalTexts: Readonly<Record<Refusal, string>> = {
  host: 'This host name is not allowed. Use 127.0.0.1 or localhost, or start with --allow-host NAME.',
  origin: 'Requests from other pages are refused.',
  fetch_site: 'Requests from other pages are refused.',
  token: 'Open the address that was printed at the start: it carries the token.',
  content_type: 'Requests are JSON (content-type: application/json).',
};

export async function startWebHost(options: WebHostOptions): Promise<WebHost> {
  const { host = '127.0.0.1', port = 0, allowedHosts = [] } = options;
  const token = randomBytes(32).toString('hex');
  const policy: GuardPolicy = {
    token,
    cookieName: `agentcanvas_${randomBytes(4).toString('hex')}`,
    allowedHosts,
  };
  const server = createServer(
    { requestTimeout: 60_000, headersTimeout: 15_000, keepAliveTimeout: 20_000 },
    (request, response) => {
      answer(request, response, options, policy).catch((thrown: unknown) =>
        fail(response, thrown, options.logger),
      );
    },
  );
  server.maxConnections = maxClients;
  await listen(server, host, port);
  const bound = (server.address() as AddressInfo).port;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return {
    port: bound,
    token,
    address: `http://${name}:${bound}/#token=${token}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: WebHostOptions,
  policy: GuardPolicy,
): Promise<void> {
  const head = { method: request.method ?? '', headers: request.headers };
  const url = new URL(request.url ?? '/', 'http://localhost');
  const byOrigin = refuseByOrigin(head, policy);
  const isPublic = !url.pathname.startsWith('/api/') && !isMediaPath(url.pathname);
  const mayVisit = byOrigin === 'fetch_site' && isPublic && isPageVisit(head);
  if (byOrigin && !mayVisit) return sendRefusal(response, 403, refusalTexts[byOrigin]);
  if (isMediaPath(url.pathname) && options.engine.media) {
    if (refuseByToken({ ...head, method: 'GET' }, policy))
      return sendRefusal(response, 401, refusalTexts.token);
    return answerMedia(request, response, { media: options.engine.media, pathname: url.pathname });
  }
  if (!url.pathname.startsWith('/api/')) {
    if (head.method !== 'GET') return sendRefusal(response, 405, 'Files can only be read.');
    return sendFile(response, options.rendererFolder, url.pathname);
  }
  if (url.pathname === '/api/session' && head.method === 'POST')
    return openSession(request, response, policy);
  const byToken = refuseByToken(head, policy);
  if (byToken) return sendRefusal(response, byToken === 'token' ? 401 : 415, refusalTexts[byToken]);
  if (url.pathname === '/api/events' && head.method === 'GET')
    return openStream(request, response, url, options);
  if (head.method !== 'POST') return sendRefusal(response, 405, 'Requests are sent with POST.');
  return answerRequest(request, response, url.pathname.slice('/api/'.length), options);
}

/** Exchanges the token of the printed address for this instance's cookie. */
async function openSession(
  request: IncomingMessage,
  response: ServerResponse,
  policy: GuardPolicy,
): Promise<void> {
  if (!isJson({ method: 'POST', headers: request.headers }))
    return sendRefusal(response, 415, refusalTexts.content_type);
  const body = await readJson(request, 4096);
  const given = body !== null && typeof body === 'object' && 'token' in body ? body.token : undefined;
  if (!sameSecret(given, policy.token)) return sendRefusal(response, 401, refusalTexts.token);
  const cookie = `${policy.cookieName}=${policy.token}; Path=/; HttpOnly; SameSite=Strict`;
  sendJson(response, 200, { ok: true, value: {} }, { 'set-cookie': cookie });
}

function openStream(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  { engine, clock }: WebHostOptions,
): void {
  const last = request.headers['last-event-id'] ?? url.searchParams.get('after');
  const after = last === null || last === '' ? Number.NaN : Number(last);
  streamEvents(response, { feed: engine.feed, clock, after: Number.isSafeInteger(after) ? after : null });
}

async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  { engine }: WebHostOptions,
): Promise<void> {
  const body = await readJson(
    request,
    name === 'graphs.save' || name === 'graphs.import' || name === 'graphs.validate'
      ? graphLimitBytes
      : requestLimitBytes,
  );
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new StudioError('invalid_input', 'The body is {"input": …}.');
  const abort = new AbortController();
  response.once('close', () => abort.abort());
  const reply = await engine.dispatcher.dispatch(name, 'input' in body ? body.input : {}, abort.signal);
  if (response.destroyed) return;
  sendJson(response, reply.ok || wantsEnvelope(request) ? 200 : statusOf(reply.error.code), reply);
}

/**
 * The interface reads the error out of the reply; a browser would write every other status to its console as a fault
 * of the page. Refusals of the guard keep their status for everybody.
 */
const wantsEnvelope = ({ headers }: IncomingMessage): boolean => headers[replyHeader] === 'envelope';

function fail(response: ServerResponse, thrown: unknown, logger: Logger): void {
  const error = toStudioError(thrown);
  if (error.code === 'internal') logger.warn('web request failed', { error: error.message });
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  sendJson(
    response,
    statusOf(error.code),
    { ok: false, error: describeError(error) },
    { connection: 'close' },
  );
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const message =
        cause.code === 'EADDRINUSE'
          ? `Port ${port} is in use. Choose another with --port, or 0 for any.`
          : `Cannot listen on ${host}:${port}: ${cause.message}`;
      reject(new StudioError('invalid_input', message, { cause }));
    });
    server.listen(port, host, () => resolve());
  });
}
