// The one queue all workers share. Handed out in plan order; a retry comes first. Each episode is in exactly one
// of: pending, in flight, finished, or left over (neither finished nor handed out again).
import type { PlannedEpisode } from '../contract/run.ts';

export interface EpisodeQueue {
  /** True when an episode may be taken; false when none will ever come: all are finished, or the queue is closed. */
  available(): Promise<boolean>;
  /** Undefined when another worker was quicker, or the queue is closed. */
  take(worker: number): PlannedEpisode | undefined;
  /** In flight, has its final result. */
  finish(episode: PlannedEpisode): void;
  /** In flight, another attempt is due. */
  retry(episode: PlannedEpisode): void;
  /** In flight, ended without a result: stays missing. */
  leave(episode: PlannedEpisode): void;
  /** Hands out nothing more; those in flight may still finish. */
  close(): void;
}

/** `scene`: a worker goes on with the neighbours of its last episode, so that consecutive episodes stay together. */
export type Affinity = 'none' | 'scene';

export function createEpisodeQueue(episodes: readonly PlannedEpisode[], affinity?: Affinity): EpisodeQueue {
  const retries: PlannedEpisode[] = [];
  const order = createOrder(episodes.length, affinity);
  let inFlight = 0;
  let isClosed = false;
  let waiters: ((isAvailable: boolean) => void)[] = [];

  const pending = (): number => order.left + retries.length;
  const verdict = (): boolean | undefined => {
    if (isClosed) return false;
    if (pending() > 0) return true;
    return inFlight > 0 ? undefined : false;
  };
  const wake = (): void => {
    const isAvailable = verdict();
    if (isAvailable === undefined) return;
    const woken = waiters;
    waiters = [];
    for (const resolve of woken) resolve(isAvailable);
  };
  const leaveFlight = (): void => {
    inFlight--;
    wake();
  };
  return {
    available() {
      const isAvailable = verdict();
      if (isAvailable !== undefined) return Promise.resolve(isAvailable);
      return new Promise((resolve) => waiters.push(resolve));
    },
    take(worker) {
      if (isClosed) return undefined;
      const position = retries.length > 0 ? undefined : order.next(worker);
      const episode = position === undefined ? retries.shift() : episodes[position];
      if (episode) inFlight++;
      return episode;
    },
    finish: leaveFlight,
    retry(episode) {
      retries.push(episode);
      leaveFlight();
    },
    leave: leaveFlight,
    close() {
      isClosed = true;
      wake();
    },
  };
}

interface Order {
  readonly left: number;
  /** The position to hand to this worker, now taken. */
  next(worker: number): number | undefined;
}

function createOrder(count: number, affinity: Affinity | undefined): Order {
  const isTaken = new Uint8Array(count);
  const lastOf = new Map<number, number>();
  let left = count;
  let first = 0;
  const lowest = (): number => {
    while (isTaken[first] === 1) first++;
    return first;
  };
  const neighbour = (worker: number): number => {
    const next = (lastOf.get(worker) ?? count) + 1;
    if (isTaken[next] === 0) return next;
    const gap = longestGap(isTaken);
    // Any gap but the whole plan lies before somebody who goes on into it: the far half is left to the newcomer.
    return gap.start === 0 ? 0 : gap.start + Math.floor(gap.length / 2);
  };
  return {
    get left() {
      return left;
    },
    next(worker) {
      if (left === 0) return undefined;
      const position = affinity === 'scene' ? neighbour(worker) : lowest();
      isTaken[position] = 1;
      lastOf.set(worker, position);
      left--;
      return position;
    },
  };
}

function longestGap(isTaken: Uint8Array): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let position = 0; position <= isTaken.length; position++) {
    if (isTaken[position] === 0) continue;
    if (position - start > best.length) best = { start, length: position - start };
    start = position + 1;
  }
  return best;
}
