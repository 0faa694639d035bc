// Large things by address: assets of recordings and finished exports (GET), files to import (POST). Same token and
// origin rules as requests; what is sent is never run as a page.
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { HostMedia } from '../engine.ts';
import { securityHeaders, sendJson } from './replies.ts';

export function isMediaPath(pathname: string): boolean {
  return /^\/(?:assets\/[^/]+\/[^/]+\/|exports\/|uploads\/)/.test(pathname);
}

export async function answerMedia(
  request: IncomingMessage,
  response: ServerResponse,
  { media, pathname }: { readonly media: HostMedia; readonly pathname: string },
): Promise<void> {
  if (pathname.startsWith('/uploads/')) return takeUpload(request, response, { media, pathname });
  const found = request.method === 'GET' ? await media.resolve(pathname) : null;
  if (!found) return sendNotFound(response);
  response.writeHead(200, {
    ...securityHeaders,
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': found.mimeType,
    'content-length': found.bytes,
    'cache-control': found.immutable ? 'private, max-age=31536000, immutable' : 'no-store',
    ...(found.downloadName === null
      ? {}
      : { 'content-disposition': `attachment; filename="${found.downloadName}"` }),
  });
  await pipeline(createReadStream(found.file), response);
}

async function takeUpload(
  request: IncomingMessage,
  response: ServerResponse,
  { media, pathname }: { readonly media: HostMedia; readonly pathname: string },
): Promise<void> {
  if (request.method !== 'POST') return sendNotFound(response);
  const name = pathname.slice('/uploads/'.length);
  const upload = await media.receive(decodeURIComponent(name), request);
  sendJson(response, 200, { ok: true, value: { upload } });
}

function sendNotFound(response: ServerResponse): void {
  const error = { code: 'not_found', message: 'There is no such file.', scope: {}, details: {} };
  sendJson(response, 404, { ok: false, error }, { connection: 'close' });
}
