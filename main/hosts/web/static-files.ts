// The built interface, served from one folder and nowhere else. File names carry hashes, so they may be kept for ever;
// the page itself is always asked for again.
import { createReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ServerResponse } from 'node:http';
import { securityHeaders, sendJson } from './replies.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};

const docsPrefix = '/docs/';

export function contentTypeOf(extension: string): string {
  return types[extension] ?? 'application/octet-stream';
}

/** The file a URL path names inside `folder`, or null: no traversal, no links out, no dot files, known types only. */
export async function resolveFile(folder: string, urlPath: string): Promise<string | null> {
  let decoded: string;
  try {
    decoded = decodeURIComponent(urlPath);
  } catch {
    return null;
  }
  const relative = decoded === '/' ? 'index.html' : decoded.slice(1);
  const parts = relative.split('/');
  if (/[\\\0:]/.test(relative) || parts.some((part) => part === '' || part.startsWith('.'))) return null;
  if (!Object.hasOwn(types, path.extname(relative))) return null;
  const base = await realpath(folder).catch(() => null);
  const file = await realpath(path.join(folder, ...parts)).catch(() => null);
  if (base === null || file === null || !file.startsWith(base + path.sep)) return null;
  return (await stat(file)).isFile() ? file : null;
}

/** The folder beside the interface that answers a path, and the path in it: `/docs/…` is the documentation. */
export function publicFolder(
  rendererFolder: string,
  urlPath: string,
): { readonly folder: string; readonly urlPath: string } {
  if (!urlPath.startsWith(docsPrefix)) return { folder: rendererFolder, urlPath };
  const inside = urlPath.slice(docsPrefix.length - 1);
  const page = inside.endsWith('/') ? `${inside}index.html` : inside;
  return { folder: path.join(path.dirname(rendererFolder), 'docs'), urlPath: page };
}

export async function sendFile(
  response: ServerResponse,
  rendererFolder: string,
  asked: string,
): Promise<void> {
  const { folder, urlPath } = publicFolder(rendererFolder, asked);
  const file = await resolveFile(folder, urlPath);
  if (file === null) {
    const built = (await readFile(path.join(folder, 'index.html')).catch(() => null)) !== null;
    const message = built
      ? 'There is no such file.'
      : folder === rendererFolder
        ? 'The interface is not built. Run `npm start`, or `npm run -s build`.'
        : 'The documentation is not built. Run `npm run docs`.';
    return sendJson(response, 404, {
      ok: false,
      error: { code: 'not_found', message, scope: {}, details: {} },
    });
  }
  const immutable = path.basename(path.dirname(file)) === 'assets';
  response.writeHead(200, {
    ...securityHeaders,
    'content-type': contentTypeOf(path.extname(file)),
    'cache-control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
  await pipeline(createReadStream(file), response);
}
