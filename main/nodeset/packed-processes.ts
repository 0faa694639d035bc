// The processes that environments of one session share, so many workers to each. A process that somebody left or that
// ended takes nobody any more: whoever comes next starts a new one, which the others join.
import { abortedError } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { toStudioError } from '../base/errors.ts';
import { SharedHost } from '../process/packed-host.ts';
import type { HostProcess } from '../process/ports.ts';

/** Which part of which process a worker has. */
export interface PackedPlace {
  readonly group: number;
  readonly channel: number;
  /** Environments the process is started for. */
  readonly channelCount: number;
  /** `gymnasium#0+2+4`, for logs and lists. */
  readonly label: string;
}

/** Even shares: five workers at up to four to a process are three and two. Undefined: a process of its own. */
export function packedPlace(
  nodeset: string,
  slot: number,
  pack: { readonly workerCount: number; readonly envsPerProcess: number },
): PackedPlace | undefined {
  const { workerCount, envsPerProcess } = pack;
  const processCount = Math.ceil(workerCount / envsPerProcess);
  const group = slot % processCount;
  const slots = Array.from({ length: workerCount }, (_, index) => index).filter(
    (index) => index % processCount === group,
  );
  if (slot >= workerCount || slots.length < 2) return undefined;
  const label = `${nodeset}#${slots.join('+')}`;
  return { group, channel: slots.indexOf(slot), channelCount: slots.length, label };
}

export class PackedProcesses {
  readonly #clock: Clock;
  readonly #current = new Map<string, Promise<SharedHost>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** This worker's part of the current process, which `launch` starts where there is none. */
  async join(
    place: PackedPlace,
    launch: () => Promise<HostProcess>,
    signal: AbortSignal | undefined,
  ): Promise<HostProcess> {
    for (;;) {
      if (signal?.aborted) throw abortedError(signal);
      const known = this.#current.get(place.label);
      const starting = known ?? this.#start(place.label, launch);
      try {
        const shared = await starting;
        if (shared.isWelcoming && !signal?.aborted) return shared.join(place.channel);
        this.#forget(place.label, starting);
        await shared.endIfEmpty();
      } catch (error) {
        this.#forget(place.label, starting);
        // Whoever started it has left; that is no reason for those who waited with it.
        if (!known || toStudioError(error).code !== 'aborted') throw error;
      }
    }
  }

  #forget(label: string, starting: Promise<SharedHost>): void {
    if (this.#current.get(label) === starting) this.#current.delete(label);
  }

  #start(label: string, launch: () => Promise<HostProcess>): Promise<SharedHost> {
    const starting = launch().then((host) => new SharedHost(host, this.#clock));
    this.#current.set(label, starting);
    return starting;
  }
}
