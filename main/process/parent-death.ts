// Linux: a child that the kernel kills when its parent dies, by starting it through `setpriv --pdeathsig KILL`. The
// parent is the thread that spawned it, so spawning happens on the main thread only.
import { execFile } from 'node:child_process';

const candidates = ['/usr/bin/setpriv', '/bin/setpriv'];
let found: Promise<string | null> | undefined;

/** Path of a setpriv that knows the option, or null. Looked for once. */
export function findSetpriv(): Promise<string | null> {
  found ??= probe();
  return found;
}

/** The command as given, or wrapped so that it dies with this thread. The pid stays the command's own. */
export async function withParentDeathSignal(
  command: string,
  args: readonly string[],
): Promise<{ readonly command: string; readonly args: readonly string[] }> {
  const setpriv = await findSetpriv();
  return setpriv
    ? { command: setpriv, args: ['--pdeathsig', 'KILL', '--', command, ...args] }
    : { command, args };
}

async function probe(): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  for (const candidate of candidates) {
    const works = await new Promise<boolean>((resolve) => {
      execFile(
        candidate,
        ['--pdeathsig', 'KILL', '--', candidate, '--version'],
        { timeout: 5_000 },
        (error) => resolve(!error),
      );
    });
    if (works) return candidate;
  }
  return null;
}
