// The web host over real sockets: who gets in, what everybody else gets, and that events survive a gap.
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { mkdtemp, mkdir, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { createRandom } from '../base/random.ts';
import { silentLogger } from '../base/logger.ts';
import { createFakeEngine, type FakeEngine } from './testing/fake-engine.ts';
import { startWebHost, type WebHost } from './web.ts';
import { securityHeaders } from './web/replies.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let engine: FakeEngine;
let host: WebHost;
let folder: string;
let cookie: string;

function send(options: {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host: '127.0.0.1',
        port: host.port,
        method: options.method ?? 'POST',
        path: options.path,
        headers: options.headers,
        setHost: !options.headers?.['host'],
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        );
        response.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(options.body);
  });
}

const json = { 'content-type': 'application/json' };

beforeAll(async () => {
  engine = createFakeEngine({ 'guard.get': async () => ({ holder: null }), 'runs.cancel': async () => ({}) });
  folder = await mkdtemp(path.join(os.tmpdir(), 'web host '));
  await mkdir(path.join(folder, 'assets'));
  await writeFile(path.join(folder, 'index.html'), '<!doctype html><title>x</title>');
  await writeFile(path.join(folder, 'assets', 'a.js'), 'export {}');
  await writeFile(path.join(folder, '.secret.json'), '{}');
  await symlink('/etc/hostname', path.join(folder, 'link.json'));
  host = await startWebHost({ engine, clock: systemClock, logger: silentLogger, rendererFolder: folder });
  const opened = await send({
    path: '/api/session',
    headers: json,
    body: JSON.stringify({ token: host.token }),
  });
  cookie = String(opened.headers['set-cookie']).split(';')[0] ?? '';
});

afterAll(() => host[Symbol.asyncDispose]());

describe('the web host', () => {
  it('prints an address with a 256-bit token in the fragment and gives a strict cookie for it', async () => {
    expect(host.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[0-9a-f]{64}$/);
    const opened = await send({
      path: '/api/session',
      headers: json,
      body: JSON.stringify({ token: host.token }),
    });
    expect(opened.headers['set-cookie']?.[0]).toMatch(
      /^agentcanvas_[0-9a-f]{8}=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });

  it('answers a request with the cookie, by any name of this machine and any port of a tunnel', async () => {
    for (const name of ['127.0.0.1', 'localhost', `localhost:${host.port}`, 'localhost:1234', '[::1]:99']) {
      const reply = await send({
        path: '/api/guard.get',
        headers: { ...json, cookie, host: name, origin: `http://${name}`, 'sec-fetch-site': 'same-origin' },
        body: '{"input":{}}',
      });
      expect({ name, status: reply.status, body: JSON.parse(reply.body) as unknown }).toEqual({
        name,
        status: 200,
        body: { ok: true, value: { holder: null } },
      });
    }
  });

  it('maps error codes to statuses and keeps invalid payloads away from handlers', async () => {
    const before = engine.reached.length;
    const invalid = await send({
      path: '/api/runs.cancel',
      headers: { ...json, cookie },
      body: '{"input":{"runId":7}}',
    });
    expect([invalid.status, JSON.parse(invalid.body)]).toMatchObject([
      400,
      { ok: false, error: { code: 'invalid_input' } },
    ]);
    const unknown = await send({ path: '/api/nothing.here', headers: { ...json, cookie }, body: '{}' });
    expect(unknown.status).toBe(404);
    const large = await send({
      path: '/api/runs.cancel',
      headers: { ...json, cookie },
      body: JSON.stringify({ input: { runId: 'x'.repeat(2 ** 20) } }),
    });
    expect(large.status).toBe(400);
    expect(engine.reached.length).toBe(before);
  });

  it('answers in an envelope for who asks so, and refuses strangers by status all the same', async () => {
    const asking = { ...json, 'x-agentcanvas-reply': 'envelope' };
    const bad = { path: '/api/runs.cancel', body: '{"input":{"runId":7}}' };
    const reply = await send({ ...bad, headers: { ...asking, cookie } });
    expect([reply.status, JSON.parse(reply.body)]).toMatchObject([
      200,
      { ok: false, error: { code: 'invalid_input' } },
    ]);
    expect((await send({ ...bad, headers: asking })).status).toBe(401);
    const elsewhere = { ...asking, cookie, origin: 'http://elsewhere.example' };
    expect((await send({ ...bad, headers: elsewhere })).status).toBe(403);
  });

  it('serves the interface with its security headers and nothing outside its folder', async () => {
    const page = await send({ method: 'GET', path: '/' });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject(securityHeaders);
    expect((await send({ method: 'GET', path: '/assets/a.js' })).headers['cache-control']).toContain(
      'immutable',
    );
    for (const bad of [
      '/../package.json',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/..%2f..%2fetc/passwd',
      '/.secret.json',
      '/link.json',
      '/assets',
      '/assets/',
      '//etc/passwd',
      '/a%00.js',
      '/C:/x.js',
      '/assets/..%5cindex.html',
      '/%E0%A4%A.js',
      '/nothing.js',
    ]) {
      expect([bad, (await send({ method: 'GET', path: bad })).status]).toEqual([bad, 404]);
    }
  });

  it('may be linked to: a visit from another page sees the public page and nothing else', async () => {
    const visit = {
      'sec-fetch-site': 'same-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    const from = (path: string, headers: object): ReturnType<typeof send> =>
      send({ method: 'GET', path, headers: { cookie, ...headers } });
    expect((await from('/', visit)).status).toBe(200);
    expect((await from('/', { ...visit, 'sec-fetch-dest': 'iframe' })).status).toBe(403);
    expect((await from('/', { ...visit, 'sec-fetch-mode': 'no-cors' })).status).toBe(403);
    for (const path of ['/api/events', '/api/session', '/assets/run/e/frame.png', '/exports/x.csv'])
      expect([path, (await from(path, visit)).status]).toEqual([path, 403]);
  });

  it('refuses 5,000 unauthorised or malformed requests with typed errors and no effect', async () => {
    const random = createRandom(20_261_130);
    const pick = <T>(items: readonly T[]): T => items[random.integer(items.length)] as T;
    const before = engine.reached.length;
    const wrongCookies = [
      '',
      `${cookie}0`,
      cookie.slice(0, -1),
      cookie.replace(/=.*/, `=${'0'.repeat(64)}`),
      `other=${host.token}`,
      'agentcanvas_00000000=x',
    ];
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
    ];
    const wrongOrigins = [
      'http://evil.example',
      'null',
      'https://localhost.evil',
      'file://',
      'http://127.0.0.1:1',
      'chrome-extension://x',
    ];
    const attempts: (() => Record<string, string>)[] = [
      () => ({ ...json, cookie: pick(wrongCookies) }),
      () => ({ ...json, cookie, host: pick(wrongHosts) }),
      () => ({ ...json, cookie, origin: pick(wrongOrigins) }),
      () => ({ ...json, cookie, 'sec-fetch-site': pick(['cross-site', 'same-site', 'x']) }),
      () => ({
        cookie,
        'content-type': pick([
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data',
          'application/jsonp',
          '',
        ]),
      }),
      () => ({ ...json }),
    ];
    let refused = 0;
    const one = async (index: number): Promise<void> => {
      const headers = attempts[index % attempts.length]?.() ?? {};
      const target = pick([
        '/api/runs.cancel',
        '/api/guard.get',
        '/api/settings.set',
        '/api/session',
        '/api/events',
      ]);
      const withCookieOnly =
        target === '/api/session'
          ? { ...headers, ...(headers['content-type'] === json['content-type'] ? json : {}) }
          : headers;
      const reply = await send({
        path: target,
        headers: withCookieOnly,
        body: pick(['{"input":{"runId":"r"}}', '{}', '', '{"token":"no"}']),
      }).catch(() => null);
      const body =
        reply === null ? null : (JSON.parse(reply.body) as { ok: boolean; error?: { code?: string } });
      // A body that is not JSON is refused as such on the one public route.
      const typed = body?.ok === false && ['unauthorized', 'invalid_input'].includes(body.error?.code ?? '');
      if (reply && reply.status >= 400 && typed) refused += 1;
      else if (reply === null) throw new Error(`no answer to ${target} ${JSON.stringify(headers)}`);
      else throw new Error(`not refused: ${reply.status} ${reply.body} ${target} ${JSON.stringify(headers)}`);
      expect(Object.keys(body ?? {}).sort()).toEqual(['error', 'ok']);
    };
    for (let from = 0; from < 5000; from += 20)
      await Promise.all(Array.from({ length: 20 }, (_unused, offset) => one(from + offset)));
    expect(refused).toBe(5000);
    expect(engine.reached.length).toBe(before);
  });
});

describe('the event stream', () => {
  const read = (after: number | null, until: (text: string) => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const outgoing = httpRequest(
        {
          host: '127.0.0.1',
          port: host.port,
          path: `/api/events${after === null ? '' : `?after=${after}`}`,
          headers: { cookie },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
            if (!until(text)) return;
            outgoing.destroy();
            resolve(text);
          });
        },
      );
      outgoing.on('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ECONNRESET' ? undefined : reject(error),
      );
      outgoing.end();
    });

  it('numbers events, goes on after a number, and says when some are missing', async () => {
    for (const runId of ['a', 'b', 'c']) engine.feed.publish('run.deleted', { runId });
    const last = engine.feed.sequence;
    const resumed = await read(last - 2, (text) => text.includes(`id: ${last}\n`));
    expect(resumed).toContain('"runId":"b"');
    expect(resumed).not.toContain('"runId":"a"');
    expect(await read(last + 50, (text) => text.includes('\n\n'))).toContain('event: gap');
    const fresh = read(null, (text) => text.includes('"runId":"d"'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    engine.feed.publish('run.deleted', { runId: 'd' });
    expect(await fresh).toContain(`event: hello\nid: ${last}`);
  });

  it('tells a client that fell behind of the gap once it reads again, also when nothing more happens', async () => {
    const told = Promise.withResolvers<string>();
    const outgoing = httpRequest(
      { host: '127.0.0.1', port: host.port, path: '/api/events', headers: { cookie } },
      (response) => {
        let text = '';
        response.pause();
        setTimeout(() => {
          const message = 'x'.repeat(2 ** 20);
          for (let sent = 0; sent < 12; sent++)
            engine.feed.publish('notice', { level: 'info', message, runId: null });
          setTimeout(() => {
            response.setEncoding('utf8').on('data', (chunk: string) => {
              text = (text + chunk).slice(-200);
              if (text.includes('event: gap')) told.resolve(text);
            });
            response.resume();
          }, 100);
        }, 100);
      },
    );
    outgoing.on('error', () => undefined);
    outgoing.end();
    expect(await told.promise).toContain(`event: gap\nid: ${engine.feed.sequence}\n`);
    outgoing.destroy();
  });

  it('is not for those without the cookie', async () => {
    expect((await send({ method: 'GET', path: '/api/events' })).status).toBe(401);
  });
});
