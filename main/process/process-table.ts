// What the system says about processes (Linux: /proc). Elsewhere every question is answered with "unknown".
import { readFileSync } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

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
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const entries = await inSlices(pids, readEntry);
  return entries.filter((entry) => entry !== undefined);
}

/**
 * One variable of the environments that processes were started with, in the order of `pids`; undefined when unset or
 * not ours to read. Not read synchronously: the system may make one wait that asks about a stuck process.
 */
export async function environmentVariables(
  pids: readonly number[],
  name: string,
): Promise<readonly (string | undefined)[]> {
  const values: (string | undefined)[] = [];
  // One buffer for all: a machine has hundreds of processes, and a fresh one for each is garbage of megabytes.
  let buffer: Buffer = Buffer.allocUnsafe(firstBufferBytes);
  for (const pid of pids) {
    const read = await readEnvironment(pid, buffer);
    buffer = read.buffer;
    values.push(variableIn(buffer.subarray(0, read.length), `${name}=`));
  }
  return values;
}

const firstBufferBytes = 64 * 1024;

/** Into the buffer or, where it is too small, a larger one; length 0 when there is nothing to read. */
async function readEnvironment(pid: number, into: Buffer): Promise<{ buffer: Buffer; length: number }> {
  let buffer = into;
  try {
    await using file = await open(`/proc/${pid}/environ`);
    for (let length = 0; ;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (bytesRead === 0) return { buffer, length };
      if (length === buffer.length) buffer = Buffer.concat([buffer], 2 * length);
    }
  } catch {
    return { buffer, length: 0 };
  }
}

/** `start` is the name with its equals sign, in ASCII. */
function variableIn(environment: Buffer, start: string): string | undefined {
  for (let from = 0; from < environment.length;) {
    const end = environment.indexOf(0, from);
    const until = end < 0 ? environment.length : end;
    if (environment.toString('latin1', from, Math.min(until, from + start.length)) === start)
      return environment.toString('utf8', from + start.length, until);
    from = until + 1;
  }
  return undefined;
}

const sliceMs = 2;

/** The calls are synchronous and many: others get their turn every few milliseconds. */
async function inSlices<Item, Result>(
  items: readonly Item[],
  use: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let startMs = performance.now();
  for (const item of items) {
    if (performance.now() - startMs > sliceMs) {
      await nextTurn();
      startMs = performance.now();
    }
    results.push(use(item));
  }
  return results;
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
