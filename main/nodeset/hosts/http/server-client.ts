// Requests to a nodeset server the app does not own: JSON for what describes, MessagePack for calls, JSON where the
// server refuses it. One deadline per request; the token goes into the header and nowhere else.
import http from 'node:http';
import https from 'node:https';
import { abortedError } from '../../../base/abort.ts';
import type { Clock } from '../../../base/clock.ts';
import { StudioError, messageOf } from '../../../base/errors.ts';
import { fromJsonForm, toJsonForm } from './json-values.ts';
import { packMessage, unpackMessage } from './msgpack.ts';

export interface ServerRequestLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ServerClient extends Disposable {
  readonly url: string;
  /** Undefined when the server has no such route. */
  get(route: string, limits: ServerRequestLimits): Promise<unknown>;
  post(route: string, body: unknown, limits: ServerRequestLimits): Promise<unknown>;
  /** As `post`, in MessagePack where the server takes it. */
  postPacked(route: string, body: unknown, limits: ServerRequestLimits): Promise<unknown>;
}

export interface ServerClientOptions {
  readonly url: string;
  /** Empty: none. */
  readonly token: string;
  readonly clock: Clock;
}

const packedType = 'application/msgpack';
const largestAnswerBytes = 2 ** 30;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array;
}

export function createServerClient({ url, token, clock }: ServerClientOptions): ServerClient {
  const base = new URL(url.endsWith('/') ? url : `${url}/`);
  const scheme = base.protocol === 'https:' ? https : http;
  const agent = new scheme.Agent({ keepAlive: true });
  let speaks: 'unknown' | 'msgpack' | 'json' = 'unknown';

  const send = (
    route: string,
    body: { readonly type: string; readonly bytes: Uint8Array } | undefined,
    limits: ServerRequestLimits,
  ): Promise<Answer> => {
    const target = new URL(route.replace(/^\//, ''), base);
    const headers = {
      accept: body?.type === packedType ? `${packedType}, application/json` : 'application/json',
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': body.type, 'content-length': body.bytes.length }),
    };
    const request = scheme.request(target, { method: body ? 'POST' : 'GET', headers, agent });
    return answerOf(request, body?.bytes, {
      ...limits,
      clock,
      what: `${body ? 'POST' : 'GET'} ${target.href}`,
    });
  };

  const postJson: ServerClient['post'] = async (route, body, limits) => {
    const text = Buffer.from(JSON.stringify(toJsonForm(body)));
    return valueOf(await send(route, { type: 'application/json', bytes: text }, limits), base.href, route);
  };

  return {
    url: base.href,
    async get(route, limits) {
      const answer = await send(route, undefined, limits);
      if (answer.status === 404) return undefined;
      return valueOf(answer, base.href, route);
    },
    post: postJson,
    async postPacked(route, body, limits) {
      if (speaks === 'json') return await postJson(route, body, limits);
      const answer = await send(route, { type: packedType, bytes: packMessage(body) }, limits);
      if (speaks === 'unknown' && refusesType(answer)) {
        const value = await postJson(route, body, limits);
        speaks = 'json';
        return value;
      }
      if (answer.status < 400) speaks = 'msgpack';
      return valueOf(answer, base.href, route);
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** The body was not understood, so nothing ran: refused, or its decoder is not installed there. */
function refusesType({ status, type }: Answer): boolean {
  return [400, 406, 415, 422].includes(status) || (status === 500 && type.startsWith('text/'));
}

interface Waiting extends ServerRequestLimits {
  readonly clock: Clock;
  readonly what: string;
}

function answerOf(
  request: http.ClientRequest,
  body: Uint8Array | undefined,
  { timeoutMs, signal, clock, what }: Waiting,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const give = (error: StudioError): void => {
      end();
      request.destroy();
      reject(error);
    };
    const timer = clock.after(timeoutMs, () =>
      give(new StudioError('timeout', `${what} took longer than ${timeoutMs / 1000} s`)),
    );
    const onAbort = (): void => give(abortedError(signal as AbortSignal));
    const end = (): void => {
      timer[Symbol.dispose]();
      signal?.removeEventListener('abort', onAbort);
    };
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    const lost = (error: unknown): void =>
      give(
        new StudioError(
          'connection_closed',
          `${what} failed: ${messageOf(error)}; check that the server runs and that the address is right`,
          { cause: error },
        ),
      );
    request.on('error', lost);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      response.on('data', (part: Buffer) => {
        size += part.length;
        if (size > largestAnswerBytes)
          give(new StudioError('protocol_error', `${what} answered more than 1 GiB`));
        else parts.push(part);
      });
      response.on('error', lost);
      response.on('end', () => {
        end();
        const type = response.headers['content-type'] ?? '';
        resolve({ status: response.statusCode ?? 0, type, bytes: Buffer.concat(parts) });
      });
    });
    request.end(body);
  });
}

function valueOf({ status, type, bytes }: Answer, url: string, route: string): unknown {
  if (status === 401 || status === 403)
    throw new StudioError(
      'unauthorized',
      `${url} refused the request (${status}); name the environment variable that holds its token with --token-env, and start AgentCanvas with that variable set`,
    );
  const value = decoded(type, bytes, url);
  if (status < 400) return value;
  throw remoteError(status, value, `${url}${route.replace(/^\//, '')}`);
}

function decoded(type: string, bytes: Uint8Array, url: string): unknown {
  if (type.includes('msgpack')) return unpackMessage(bytes);
  const text = new TextDecoder().decode(bytes);
  try {
    return fromJsonForm(JSON.parse(text));
  } catch (cause) {
    throw new StudioError(
      'protocol_error',
      `${url} answered with something else than JSON or MessagePack: ${text.slice(0, 120)}; is it a nodeset server?`,
      { cause },
    );
  }
}

/** `detail` is what FastAPI and the app's own host say. */
function remoteError(status: number, value: unknown, place: string): StudioError {
  const said = typeof value === 'object' && value !== null && 'detail' in value ? value.detail : value;
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  return new StudioError('remote_error', text || `${place} answered with status ${status}`, {
    details: { status, place },
  });
}
