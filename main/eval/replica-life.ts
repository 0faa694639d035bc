// Starting and ending replica sets with bounded waits. A start that nobody waits for any more is ended as soon as it
// resolves, so that nothing started is ever left.
import { abortedError, withDeadline } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { ReplicaSet } from '../nodeset/ports.ts';
import type { ReplicaSource } from './ports.ts';

const killWaitMs = 5_000;

export interface ReplicaLifePorts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long a replica may take to end by itself. */
  readonly closeMs: number;
}

/** Rejects at once with `aborted` when the signal aborts, whether or not the source listens to it. */
export function startReplicas(
  source: ReplicaSource,
  slot: number,
  signal: AbortSignal,
  ports: ReplicaLifePorts,
): Promise<ReplicaSet> {
  if (signal.aborted) return Promise.reject(abortedError(signal));
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortedError(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    source.start(slot, signal).then(
      (replicas) => {
        signal.removeEventListener('abort', onAbort);
        // Others may share its process; they have a say in its end.
        if (signal.aborted) void (replicas.waitedForMatesMs ? closeReplicas : killReplicas)(replicas, ports);
        else resolve(replicas);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

/** Asks it to end, then kills it. Never rejects. */
export async function closeReplicas(replicas: ReplicaSet, ports: ReplicaLifePorts): Promise<void> {
  const { clock, closeMs, logger } = ports;
  try {
    const closed = replicas[Symbol.asyncDispose]();
    await withDeadline(Promise.resolve(closed), {
      clock,
      timeoutMs: closeMs,
      what: `closing ${replicas.instances[0] ?? 'a replica'}`,
    });
  } catch (error) {
    logger.warn('a replica did not close by itself', {
      instances: replicas.instances,
      error: messageOf(error),
    });
    await killReplicas(replicas, ports);
  }
}

/** Kills it and waits, not for ever. Never rejects. */
export async function killReplicas(replicas: ReplicaSet, { clock, logger }: ReplicaLifePorts): Promise<void> {
  try {
    await withDeadline(replicas.kill(), {
      clock,
      timeoutMs: killWaitMs,
      what: `killing ${replicas.instances[0] ?? 'a replica'}`,
    });
  } catch (error) {
    logger.error('a replica could not be killed', { instances: replicas.instances, error: messageOf(error) });
  }
}
