// Who a process belongs to. An owner marker names one engine for all time: boot, pid namespace, pid, start ticks,
// random. Every child carries it (with a number of its own at the end) in AGENTCANVAS_OWNER, and so do descendants.
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { startTicksOf } from './process-table.ts';

export const ownerVariable = 'AGENTCANVAS_OWNER';
export const nonceVariable = 'AGENTCANVAS_NONCE';
export const listenVariable = 'AGENTCANVAS_LISTEN';
/** A file for the handshake line, where fd 3 leads nowhere. */
export const handshakeVariable = 'AGENTCANVAS_HANDSHAKE';

export interface Owner {
  readonly bootId: string;
  /** Pids mean something only within one; engines in containers have others. */
  readonly pidNamespace: string;
  readonly pid: number;
  readonly startTicks: number;
  readonly random: string;
}

const shape = /^ac1-([0-9a-f]{1,12})-(\d{1,20})-(\d{1,10})-(\d{1,20})-([0-9a-f]{8})(?:-\d+)?$/;

/** This process as an owner. Letters, digits and hyphens only: the marker also names files. */
export function createOwnerMarker(): string {
  const startTicks = startTicksOf(process.pid) ?? 0;
  return `ac1-${readBootId()}-${readPidNamespace()}-${process.pid}-${startTicks}-${randomBytes(4).toString('hex')}`;
}

export function childMarker(ownerMarker: string, number: number): string {
  return `${ownerMarker}-${number}`;
}

/** The owner in an owner's or child's marker; undefined for any other text. */
export function parseMarker(marker: string): Owner | undefined {
  const [, bootId, pidNamespace, pid, startTicks, random] = shape.exec(marker) ?? [];
  if (!bootId || !pidNamespace || !pid || !startTicks || !random) return undefined;
  return { bootId, pidNamespace, pid: Number(pid), startTicks: Number(startTicks), random };
}

/**
 * Dead only when that is certain. An owner of another boot or pid namespace (an engine in a container) is not ours to
 * judge; where start ticks are unknown a living pid is believed.
 */
export function isOwnerDead(owner: Owner): boolean {
  if (owner.bootId !== readBootId() || owner.pidNamespace !== readPidNamespace()) return false;
  const startTicks = startTicksOf(owner.pid);
  if (startTicks !== undefined) return startTicks !== owner.startTicks;
  return owner.startTicks > 0 || !isPidAlive(owner.pid);
}

/** True when `marker` is the owner's own or one of its children's. */
export function belongsTo(marker: string, ownerMarker: string): boolean {
  return marker === ownerMarker || marker.startsWith(`${ownerMarker}-`);
}

function isPidAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').replaceAll('-', '').slice(0, 12);
  } catch {
    return '0';
  }
}

function readPidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}
