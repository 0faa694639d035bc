// app://agentcanvas/…: the built interface from one folder, by an allow list of file types, and the files the engine
// gives by address. No other host, method or place.
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { HostMedia } from '../main/hosts/engine.ts';
import { isMediaPath } from '../main/hosts/web/media-routes.ts';
import { securityHeaders } from '../main/hosts/web/replies.ts';
import { contentTypeOf, publicFolder, resolveFile } from '../main/hosts/web/static-files.ts';
import type { ElectronApi } from './electron-api.ts';

/** Before the app is ready: the scheme behaves like https (origin, CSP, fetch), without service workers or CORS. */
export function registerScheme(protocol: ElectronApi['protocol']): void {
  protocol.registerSchemesAsPrivileged([
    {
      scheme: 'app',
      privileges: {
        standard: true,
        secure: true,
        supportFetchAPI: true,
        stream: true,
        allowServiceWorkers: false,
        bypassCSP: false,
        corsEnabled: false,
      },
    },
  ]);
}

export interface SchemeFiles {
  readonly rendererFolder: string;
  readonly media: HostMedia | undefined;
}

export function handleScheme(protocol: ElectronApi['protocol'], files: SchemeFiles): void {
  protocol.handle('app', (request) => answer(request, files));
}

async function answer(request: Request, { rendererFolder, media }: SchemeFiles): Promise<Response> {
  const url = new URL(request.url);
  if (url.host !== 'agentcanvas') return empty(405);
  if (media && isMediaPath(url.pathname)) return answerMedia(request, media, url.pathname);
  if (request.method !== 'GET') return empty(405);
  const { folder, urlPath } = publicFolder(rendererFolder, url.pathname);
  const file = await resolveFile(folder, urlPath);
  if (file === null) return empty(404);
  return streamOf(file, { 'content-type': contentTypeOf(path.extname(file)) });
}

/** Assets of recordings, finished exports, and files to import; never run as a page. */
async function answerMedia(request: Request, media: HostMedia, pathname: string): Promise<Response> {
  if (pathname.startsWith('/uploads/')) {
    if (request.method !== 'POST' || !request.body) return empty(405);
    const name = decodeURIComponent(pathname.slice('/uploads/'.length));
    const upload = await media.receive(name, Readable.fromWeb(request.body as ReadableStream<Uint8Array>));
    return Response.json({ ok: true, value: { upload } }, { headers: securityHeaders });
  }
  const found = request.method === 'GET' ? await media.resolve(pathname) : null;
  if (!found) return empty(404);
  return streamOf(found.file, {
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': found.mimeType,
    ...(found.downloadName === null
      ? {}
      : { 'content-disposition': `attachment; filename="${found.downloadName}"` }),
  });
}

function streamOf(file: string, headers: Readonly<Record<string, string>>): Response {
  const body = Readable.toWeb(createReadStream(file)) as unknown as BodyInit;
  return new Response(body, { headers: { ...securityHeaders, ...headers } });
}

function empty(status: number): Response {
  return new Response(null, { status, headers: securityHeaders });
}
