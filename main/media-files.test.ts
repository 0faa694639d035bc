// Assets, exports and uploads over the real web host: with the token what there is, without it or off the path nothing.
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from './base/clock.ts';
import { silentLogger } from './base/logger.ts';
import { createFakeEngine } from './hosts/testing/fake-engine.ts';
import { startWebHost, type WebHost } from './hosts/web.ts';
import { createMediaFiles, type MediaFiles } from './media-files.ts';

const run = '20261130T120000.000Z-aaaaaa';
const key = '00003-0123abcd';
const name = `${'ab'.repeat(32)}.png`;
let folder: string;
let media: MediaFiles;
let host: WebHost;
let cookie: string;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const { method = 'GET', headers = { cookie }, body } = options;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { host: '127.0.0.1', port: host.port, path: url, method, headers },
      (response) => {
        let text = '';
        response.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'media files '));
  const at = (...parts: string[]): string => path.join(folder, ...parts);
  await mkdir(at('runs', run, 'episodes', key, 'assets'), { recursive: true });
  await mkdir(at('runs', run, 'episodes', key, 'attempt_1', 'assets'), { recursive: true });
  await mkdir(at('exports'));
  await writeFile(at('runs', run, 'episodes', key, 'assets', name), 'PNG');
  await writeFile(
    at('runs', run, 'episodes', key, 'attempt_1', 'assets', `${'cd'.repeat(32)}.txt`),
    'earlier',
  );
  await writeFile(at('runs', run, 'run.json'), 'secret');
  await writeFile(at('secret.csv'), 'secret');
  await writeFile(at('exports', 'a.csv'), 'x,y\n');
  await symlink(at('secret.csv'), at('exports', 'link.csv'));
  await symlink(
    at('runs', run, 'run.json'),
    at('runs', run, 'episodes', key, 'assets', `${'ef'.repeat(32)}.txt`),
  );
  media = createMediaFiles({
    runsFolder: at('runs'),
    exportsFolder: at('exports'),
    uploadsFolder: at('uploads'),
    largestUploadBytes: 1000,
  });
  const engine = { ...createFakeEngine(), media };
  host = await startWebHost({
    engine,
    clock: systemClock,
    logger: silentLogger,
    rendererFolder: at('renderer'),
  });
  const session = await send('/api/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: host.token }),
  });
  cookie = session.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe('files by address', () => {
  it('are assets of any kept attempt and finished exports, never run as a page', async () => {
    const asset = await send(`/assets/${run}/${key}/${name}`);
    expect([asset.status, asset.body, asset.headers['content-type']]).toEqual([200, 'PNG', 'image/png']);
    expect(asset.headers['content-security-policy']).toContain('sandbox');
    expect(asset.headers['x-content-type-options']).toBe('nosniff');
    expect((await send(`/assets/${run}/${key}/${'cd'.repeat(32)}.txt`)).body).toBe('earlier');
    const file = await send('/exports/a.csv');
    expect([file.body, file.headers['content-disposition']]).toEqual([
      'x,y\n',
      'attachment; filename="a.csv"',
    ]);
  });

  it('need the token, the right host and the right origin', async () => {
    const address = `/assets/${run}/${key}/${name}`;
    for (const headers of [
      {},
      { cookie: 'agentcanvas_0=1' },
      { cookie, origin: 'http://evil.example' },
      { cookie, host: 'evil.example' },
      { cookie, 'sec-fetch-site': 'cross-site' },
    ]) {
      const answer = await send(address, { headers });
      expect([401, 403]).toContain(answer.status);
      expect(answer.body).not.toContain('PNG');
    }
    expect((await send('/uploads/x', { method: 'POST', headers: {}, body: 'x' })).status).toBe(401);
  });

  it('lead nowhere else', async () => {
    const tried = [
      `/assets/${run}/${key}/../../run.json`,
      `/assets/${run}/${key}/%2e%2e%2f%2e%2e%2frun.json`,
      `/assets/${run}/${key}/run.json`,
      `/assets/${run}/..%2f..%2f${run}/${name}`,
      `/assets/../${run}/${key}/${name}`,
      `/assets/${run}/${key}/${'ef'.repeat(32)}.txt`,
      `/assets/${run}/${key}/${'00'.repeat(32)}.png`,
      '/exports/link.csv',
      '/exports/../secret.csv',
      '/exports/%2e%2e%2fsecret.csv',
      '/exports/a.csv%00.png',
      '/exports/nothing.zip',
    ];
    for (const address of tried) {
      const answer = await send(address);
      expect([address, answer.status]).toEqual([address, 404]);
      expect(answer.body).not.toContain('secret');
    }
    expect((await send('/exports/a.csv', { method: 'DELETE' })).status).toBe(404);
  });

  it('are taken in up to a size, under a name that nobody chose', async () => {
    const answer = await send('/uploads/..%2f%2e%2e%2fevil%20file.zip', { method: 'POST', body: 'content' });
    const upload = String(JSON.parse(answer.body).value.upload);
    expect(upload).toMatch(/^[0-9a-f]{16}-[A-Za-z0-9._-]+$/);
    expect(await readFile(media.uploadPath(upload), 'utf8')).toBe('content');
    expect(path.dirname(media.uploadPath(upload))).toBe(path.join(folder, 'uploads'));
    await media.dropUpload(upload);
    const tooLarge = await send('/uploads/big.zip', { method: 'POST', body: 'x'.repeat(2000) }).catch(
      () => null,
    );
    expect(tooLarge?.status ?? 400).toBe(400);
    expect(await readdir(path.join(folder, 'uploads'))).toEqual([]);
    expect(() => media.uploadPath('../secret.csv')).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });
});
