// Processes that carry a mark in their environment, read from /proc: whatever an engine started, however deep. A zombie
// is not alive.
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

export const markVariable = 'AC_RELIABILITY_MARK';

export interface Living {
  readonly pid: number;
  readonly command: string;
}

export async function livingWith(mark: string): Promise<readonly Living[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => look(Number(pid), mark)));
  return found.filter((each) => each !== undefined);
}

async function look(pid: number, mark: string): Promise<Living | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    if (!environment.split('\0').includes(`${markVariable}=${mark}`)) return undefined;
    if (isDead(await readFile(`/proc/${pid}/stat`, 'utf8'))) return undefined;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
    return { pid, command };
  } catch {
    return undefined;
  }
}

export async function isAlive(pid: number): Promise<boolean> {
  try {
    return !isDead(await readFile(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Zombie or dead, as the third field says. */
function isDead(stat: string): boolean {
  return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

/** Milliseconds until none is left; undefined when some are there after `limitMs`. */
export async function untilNoneLives(
  living: () => Promise<boolean>,
  limitMs: number,
): Promise<number | undefined> {
  const startMs = performance.now();
  for (;;) {
    if (!(await living())) return performance.now() - startMs;
    if (performance.now() - startMs > limitMs) return undefined;
    await delay(25);
  }
}
