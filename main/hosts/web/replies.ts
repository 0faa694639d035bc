// Answers of the web host: typed JSON with security headers, and the statuses that error codes map to.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../../base/error-codes.ts';
import { StudioError } from '../../base/errors.ts';

/** No inline script or style, no evaluation, nothing from elsewhere, in nobody's frame. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
};

const statuses: Partial<Record<ErrorCode, number>> = {
  invalid_input: 400,
  graph_invalid: 400,
  graph_too_large: 413,
  unauthorized: 401,
  untrusted: 403,
  read_only: 403,
  not_found: 404,
  guard_busy: 409,
  conflict: 409,
  workspace_busy: 409,
  disk_full: 507,
  internal: 500,
};

/** 422 for what is well-formed but cannot be done. */
export function statusOf(code: ErrorCode): number {
  return statuses[code] ?? 422;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

export function sendRefusal(response: ServerResponse, status: number, message: string): void {
  sendJson(
    response,
    status,
    { ok: false, error: { code: 'unauthorized', message, scope: {}, details: {} } },
    { connection: 'close' },
  );
}

/** The body as JSON, at most `maxBytes`. Throws `invalid_input`. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new StudioError('invalid_input', `The request is larger than ${maxBytes / 2 ** 20} MB.`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (cause) {
    throw new StudioError('invalid_input', 'The request is not JSON.', { cause });
  }
}
