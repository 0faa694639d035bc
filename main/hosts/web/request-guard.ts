// Who may talk to the web host: a pure decision over a request's head. Everything refused gets the same typed answer
// and nothing else.
import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';

export interface RequestHead {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface GuardPolicy {
  readonly token: string;
  readonly cookieName: string;
  /** Host names besides 127.0.0.1, localhost and [::1]. Any port: tunnels renumber. */
  readonly allowedHosts: readonly string[];
}

export type Refusal = 'host' | 'origin' | 'fetch_site' | 'token' | 'content_type';

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

/** Host, origin and fetch-site rules; they hold for every request, files included. */
export function refuseByOrigin({ headers }: RequestHead, policy: GuardPolicy): Refusal | null {
  const host = single(headers['host']);
  const name = host === undefined ? undefined : hostName(host);
  if (host === undefined || name === undefined || ![...loopbackNames, ...policy.allowedHosts].includes(name))
    return 'host';
  const origin = headers['origin'];
  if (origin !== undefined && single(origin) !== `http://${host}` && single(origin) !== `https://${host}`)
    return 'origin';
  const site = headers['sec-fetch-site'];
  if (site !== undefined && single(site) !== 'same-origin' && single(site) !== 'none') return 'fetch_site';
  return null;
}

/**
 * Somebody follows a link to a page, from wherever: the window then shows that page alone, no other page can read it,
 * and a public file of ours says nothing.
 */
export function isPageVisit({ method, headers }: RequestHead): boolean {
  return (
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  );
}

/** What the interface's own requests need besides: the cookie of this instance, and JSON bodies. */
export function refuseByToken(head: RequestHead, policy: GuardPolicy): Refusal | null {
  if (!sameSecret(cookieOf(head, policy.cookieName), policy.token)) return 'token';
  return isJson(head) ? null : 'content_type';
}

/** A body is JSON and says so: forms and plain text, which other pages may send unasked, do not pass. */
export function isJson({ method, headers }: RequestHead): boolean {
  return method === 'GET' || /^application\/json(?:\s*;.*)?$/i.test(single(headers['content-type']) ?? '');
}

/** Compares without telling by time how much of it was right. */
export function sameSecret(given: unknown, secret: string): boolean {
  const [a, b] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function cookieOf({ headers }: RequestHead, name: string): string | undefined {
  for (const part of (single(headers['cookie']) ?? '').split(';')) {
    const at = part.indexOf('=');
    if (part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** The name without the port, lower case; undefined when it is not of the form of a Host header. */
function hostName(host: string): string | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::\d{1,5})?$/.exec(host);
  const name = match?.[1]?.toLowerCase();
  if (name?.startsWith('[') && isIP(name.slice(1, -1)) !== 6) return undefined;
  return name;
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
