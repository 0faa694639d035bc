// Canonical JSON (sorted keys, no white space) and SHA-256 over it: equal values hash equally wherever they came from.
import { createHash } from 'node:crypto';

/** JSON with object keys sorted by code unit; `undefined` members are left out, as JSON.stringify does. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (member === null || typeof member !== 'object' || Array.isArray(member)) return member;
    const entries = Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries);
  });
}

/** Lower-case hex SHA-256 of text or bytes. */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

export function stableHash(value: unknown): string {
  return sha256(canonicalJson(value));
}
