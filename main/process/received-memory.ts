// Memory for arrays that arrive, one block each, so that a receiver may keep it. Most are dropped with the next step,
// but V8 collects such blocks late and all at once: received images then cost more in full collections than in work.
// A young collection after some megabytes frees what was dropped at a hundredth of that (bench python, Breakout).
import v8 from 'node:v8';
import vm from 'node:vm';
import { StudioError } from '../base/errors.ts';

/** V8 begins a full collection when some 10 MB have come since the last one; at 8 MB it was still first. */
const collectAfterBytes = 4 * 2 ** 20;
let receivedBytes = 0;
let collectYoung: (() => void) | undefined;

/** Uninitialised. Throws `protocol_error` where there is no memory for it. */
export function allocateReceived(byteLength: number): Buffer {
  receivedBytes += byteLength;
  if (receivedBytes >= collectAfterBytes) {
    receivedBytes = 0;
    collectYoung ??= youngCollection();
    collectYoung();
  }
  try {
    return Buffer.allocUnsafeSlow(byteLength);
  } catch (error) {
    throw new StudioError('protocol_error', `no memory for a frame of ${byteLength} bytes`, { cause: error });
  }
}

/** Node offers its collector to those who ask by a flag; where it does not, V8 goes on as it likes. */
function youngCollection(): () => void {
  v8.setFlagsFromString('--expose-gc');
  const collect: unknown = vm.runInNewContext('typeof gc === "function" ? gc : undefined');
  if (typeof collect !== 'function') return () => {};
  return () => void collect({ type: 'minor', execution: 'sync' });
}
