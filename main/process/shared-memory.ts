// Arrays in shared memory slots (Linux): one positioned read per array into memory of its own, so that the slot can
// be given back at once.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import path from 'node:path';
import { StudioError } from '../base/errors.ts';
import { allocateReceived } from './received-memory.ts';

/** Slots of the protocol; another number is refused, so that no other file can be named. */
const slotCount = 4;

export class SlotReader implements Disposable {
  readonly folder: string;
  readonly #files = new Map<number, number>();

  constructor(folder: string) {
    this.folder = folder;
  }

  read(slot: number, byteLength: number): Uint8Array {
    const bytes = allocateReceived(byteLength);
    const byteCount = readSync(this.#file(slot), bytes, 0, byteLength, 0);
    if (byteCount < byteLength) {
      throw new StudioError(
        'protocol_error',
        `shared memory slot ${slot} holds ${byteCount} of the announced ${byteLength} bytes`,
      );
    }
    return new Uint8Array(bytes.buffer, 0, byteLength);
  }

  /** The number of the call that the process is working on, or was last; undefined where it does not say. */
  runningCall(): number | undefined {
    try {
      return Number(readFileSync(path.join(this.folder, 'turn')).readBigUInt64LE(0)) || undefined;
    } catch {
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    for (const file of this.#files.values()) closeSync(file);
    this.#files.clear();
  }

  #file(slot: number): number {
    const open = this.#files.get(slot);
    if (open !== undefined) return open;
    if (slot >= slotCount) throw new StudioError('protocol_error', `there is no shared memory slot ${slot}`);
    const file = openSync(path.join(this.folder, String(slot)), 'r');
    this.#files.set(slot, file);
    return file;
  }
}
