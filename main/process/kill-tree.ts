// Ends a process and everything it started. Nothing is signalled without a full identity match: pid and start
// ticks, and for what is no longer linked to its parent, the owner marker in its environment.
import { execFile } from 'node:child_process';
import { belongsTo, isOwnerDead, ownerVariable, parseMarker } from './owner.ts';
import {
  environmentVariables,
  isRunning,
  listProcesses,
  readEntry,
  type ProcessEntry,
} from './process-table.ts';

/** A child that was started as leader of its own process group. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Undefined where the system does not tell. */
  readonly startTicks: number | undefined;
  /** Value of AGENTCANVAS_OWNER given to it. */
  readonly marker: string;
}

type KillSignal = 'SIGTERM' | 'SIGKILL';

/** Signals the group only. False when the leader is gone, or its pid is somebody else's by now. */
export function signalGroup(identity: ProcessIdentity, signal: KillSignal): boolean {
  if (process.platform === 'win32') return signalOne(identity.pid, signal);
  if (identity.startTicks !== undefined && readEntry(identity.pid)?.startTicks !== identity.startTicks)
    return false;
  return signalOne(-identity.pid, signal);
}

/**
 * KILL to the group, to its descendants and to all that carry its marker. Returns how many were found running
 * beyond the group. Linux sees everything; elsewhere what left the group on purpose is not found.
 */
export async function killTree(identity: ProcessIdentity): Promise<number> {
  if (process.platform === 'win32') return killTreeOnWindows(identity.pid);
  const before = await listProcesses();
  signalGroup(identity, 'SIGKILL');
  const byTree = descendantsOf(identity, before);
  const byMarker = await carriersOf((marker) => marker === identity.marker, before);
  return killEntries([...byTree, ...byMarker]);
}

/** KILL to all that carry the owner's marker or a child's of it. Returns how many were found. */
export async function sweepOwner(ownerMarker: string): Promise<number> {
  return killEntries(await carriersOf((marker) => belongsTo(marker, ownerMarker), await listProcesses()));
}

/** The same for every owner that no longer runs: what a killed engine left behind. */
export async function sweepDeadOwners(): Promise<number> {
  return killEntries(await carriersOf(isOfDeadOwner, await listProcesses()));
}

function isOfDeadOwner(marker: string): boolean {
  const owner = parseMarker(marker);
  return owner !== undefined && isOwnerDead(owner);
}

function descendantsOf(identity: ProcessIdentity, entries: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const root = entries.find(
    (entry) => entry.pid === identity.pid && entry.startTicks === identity.startTicks,
  );
  const found: ProcessEntry[] = root ? [root] : [];
  for (const parent of found) {
    for (const entry of entries)
      if (entry.parentPid === parent.pid && !found.includes(entry)) found.push(entry);
  }
  return found;
}

async function carriersOf(
  matches: (marker: string) => boolean,
  entries: readonly ProcessEntry[],
): Promise<readonly ProcessEntry[]> {
  const candidates = entries.filter((entry) => isRunning(entry) && entry.pid !== process.pid);
  const pids = candidates.map((entry) => entry.pid);
  const markers = await environmentVariables(pids, ownerVariable);
  return candidates.filter((_entry, index) => matches(markers[index] ?? ''));
}

function killEntries(entries: readonly ProcessEntry[]): number {
  let killed = 0;
  for (const { pid, startTicks } of new Set(entries)) {
    const now = readEntry(pid);
    if (!now || now.startTicks !== startTicks || !isRunning(now)) continue;
    if (signalOne(pid, 'SIGKILL')) killed++;
  }
  return killed;
}

function signalOne(pid: number, signal: KillSignal): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // gone already, or not ours: both mean that there is nothing to do here
  }
}

function killTreeOnWindows(pid: number): Promise<number> {
  return new Promise((resolve) => {
    execFile('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true, timeout: 3_000 }, () =>
      resolve(0),
    );
  });
}
