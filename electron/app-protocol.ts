// app://agentcanvas/…: the built interface from one folder, by an allow list of file types. No other host, method or place.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { securityHeaders } from '../main/hosts/web/replies.ts';
import { contentTypeOf, resolveFile } from '../main/hosts/web/static-files.ts';
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

export function handleScheme(protocol: ElectronApi['protocol'], rendererFolder: string): void {
  protocol.handle('app', (request) => answer(request, rendererFolder));
}

async function answer(request: Request, rendererFolder: string): Promise<Response> {
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.host !== 'agentcanvas')
    return new Response(null, { status: 405, headers: securityHeaders });
  const file = await resolveFile(rendererFolder, url.pathname);
  if (file === null) return new Response(null, { status: 404, headers: securityHeaders });
  const bytes = new Uint8Array(await readFile(file));
  return new Response(bytes, {
    headers: { ...securityHeaders, 'content-type': contentTypeOf(path.extname(file)) },
  });
}
