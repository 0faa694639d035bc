// Names on disk: run ids sort by time and cannot collide by chance; episode keys name an episode's folder.
import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { StudioError } from '../base/errors.ts';
import { stableHash } from '../base/stable-hash.ts';

export type RandomHex = (bytes: number) => string;
const systemRandomHex: RandomHex = (bytes) => randomBytes(bytes).toString('hex');

/** `20261130T204312.417Z-3f9a1c`: UTC to the millisecond, then 24 random bits. */
export function createRunId(clock: Clock, randomHex: RandomHex = systemRandomHex): string {
  const time = new Date(clock.now()).toISOString().replaceAll(/[-:]/g, '');
  return `${time}-${randomHex(3)}`;
}

/** Refuses anything that could leave the folder of runs. */
export function assertRunId(runId: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(runId) && !runId.includes('..')) return;
  throw new StudioError('invalid_input', `"${runId.slice(0, 80)}" is not a run id; see \`runs list\``);
}

export interface EpisodeKeyParts {
  readonly ordinal: number;
  readonly episodeId: string | null;
  readonly episodeIndex: number | null;
  readonly repeat: number;
  /** Dataset, split, task. */
  readonly selectors: Readonly<Record<string, string>>;
}

/** `00042-1a2b3c4d`: the ordinal, then 8 hex digits of a hash over what makes the episode distinct. */
export function episodeKey(parts: EpisodeKeyParts): string {
  const { ordinal, ...identity } = parts;
  return `${String(ordinal).padStart(5, '0')}-${stableHash(identity).slice(0, 8)}`;
}
