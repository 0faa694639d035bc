// Whether a run's processes wait awake for their next call (docs/host-protocol.md, Waiting awake). A core that falls
// asleep for the few microseconds between two steps wakes late and with cold caches, which costs more than it saved.

/** Waiting awake ends after this; the engine answers a small step in a fifth of it. */
export const awakeUs = 100;

/** Only where every process of the run, and the engine, has a core to itself: nobody then waits for the one who waits. */
export function haveCoresToThemselves(processCount: number, coreCount: number): boolean {
  return processCount + 1 <= coreCount;
}

/** Processes of a run with so many workers: replicated nodesets once per worker or group, the others once. */
export function processCountOf(run: {
  readonly workerCount: number;
  readonly envsPerProcess: number;
  readonly replicatedNodesets: number;
  readonly servers: number;
}): number {
  return run.replicatedNodesets * Math.ceil(run.workerCount / run.envsPerProcess) + run.servers;
}
