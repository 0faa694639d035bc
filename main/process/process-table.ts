// What the system says about processes (Linux: /proc). Elsewhere every question is answered with "unknown".
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

export interface ProcessEntry {
  readonly pid: number;
  readonly state: string;
  readonly parentPid: number;
  readonly group: number;
  /** Start time in clock ticks since boot: with the pid it names one process for all time. */
  readonly startTicks: number;
}

/** A zombie or dead process runs nothing; only its parent has not looked yet. */
export function isRunning(entry: ProcessEntry): boolean {
  return entry.state !== 'Z' && entry.state !== 'X';
}

export function readEntry(pid: number): ProcessEntry | undefined {
  try {
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

export function startTicksOf(pid: number): number | undefined {
  return readEntry(pid)?.startTicks;
}

/** All processes, in no order; empty where there is no /proc. */
export async function listProcesses(): Promise<readonly ProcessEntry[]> {
  let names: string[];
  try {
    names = await readdir('/proc');
  } catch {
    return [];
  }
  const entries = names.filter((name) => /^\d+$/.test(name)).map((name) => readEntry(Number(name)));
  return entries.filter((entry) => entry !== undefined);
}

/** One variable of the environment a process was started with; undefined when unset or not ours to read. */
export async function environmentVariable(pid: number, name: string): Promise<string | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/environ`, 'utf8');
    const prefix = `${name}=`;
    return text
      .split('\0')
      .find((entry) => entry.startsWith(prefix))
      ?.slice(prefix.length);
  } catch {
    return undefined;
  }
}

/** Resident memory in bytes, or null when the system does not say. */
export async function residentBytes(pid: number): Promise<number | null> {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
}

/** The command is in parentheses and may hold anything; what follows the last one is fixed. */
function parseStat(pid: number, stat: string): ProcessEntry | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parentPid, group] = fields;
  const startTicks = fields[19];
  if (!state || startTicks === undefined) return undefined;
  return { pid, state, parentPid: Number(parentPid), group: Number(group), startTicks: Number(startTicks) };
}
