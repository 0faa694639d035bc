// Tells whether the process that wrote its identity down is still the one that runs under that pid: pid, start time
// in clock ticks and boot id on Linux; elsewhere only whether the pid is alive.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { systemCode } from './storage-error.ts';

export const processIdentity = z.object({
  pid: z.number().int().positive(),
  startTicks: z.number().nullable(),
  bootId: z.string().nullable(),
});
export type ProcessIdentity = z.infer<typeof processIdentity>;

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTicks: startTicksOf(process.pid), bootId: bootId() };
}

/** Zombies are not alive. */
export function isSameProcessAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== null && identity.bootId !== bootId()) return false;
  if (!isAlive(identity.pid)) return false;
  if (identity.startTicks === null) return true;
  return startTicksOf(identity.pid) === identity.startTicks;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/** Field 22 of /proc/<pid>/stat, counted after the command name, which may hold spaces and brackets. */
function startTicksOf(pid: number): number | null {
  const text = readOrNull(`/proc/${pid}/stat`);
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? null : Number(fields[19]);
}

function bootId(): string | null {
  return readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
