// What the engine tells its reaper: one JSON line per fact. The end of the pipe is the message that matters.
import type { ProcessIdentity } from './kill-tree.ts';

export type ReaperMessage =
  | { readonly kind: 'owner'; readonly marker: string }
  | { readonly kind: 'started'; readonly identity: ProcessIdentity }
  | { readonly kind: 'ended'; readonly pid: number };

export function encodeReaperMessage(message: ReaperMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/** Lines come from our own engine over a private pipe; a torn last line (it was killed while writing) is undefined. */
export function decodeReaperMessage(line: string): ReaperMessage | undefined {
  try {
    return JSON.parse(line) as ReaperMessage;
  } catch {
    return undefined;
  }
}
