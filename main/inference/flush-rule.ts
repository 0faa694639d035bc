// When the samples that wait for one model become a batch: pure, so that it can be read, tested and replayed.

export interface FlushPolicy {
  /** `greedy`: whenever the backend is idle. `rendezvous`: when everybody is there, or after a while without arrivals. */
  readonly flushPolicy: 'greedy' | 'rendezvous';
  /** Of rendezvous: since the last arrival; four times that since the first. */
  readonly flushTimeoutMs: number;
  readonly maxBatch: number;
}

export interface WaitingState {
  readonly nowMs: number;
  readonly firstArrivalMs: number;
  readonly lastArrivalMs: number;
  /** Samples that wait. */
  readonly size: number;
  /** Callers that may still bring a sample: executions that are under way. */
  readonly liveCallers: number;
  readonly isBackendIdle: boolean;
}

export type FlushDecision =
  | { readonly kind: 'flush'; readonly size: number }
  /** Look again when something changes, and at this time at the latest (null: only then). */
  | { readonly kind: 'wait'; readonly untilMs: number | null };

const firstArrivalFactor = 4;

export function decideFlush(state: WaitingState, policy: FlushPolicy): FlushDecision {
  const { nowMs, firstArrivalMs, lastArrivalMs, size, isBackendIdle } = state;
  if (size === 0 || !isBackendIdle) return { kind: 'wait', untilMs: null };
  const flush = { kind: 'flush', size: Math.min(size, policy.maxBatch) } as const;
  if (policy.flushPolicy === 'greedy' || isEverybodyThere(state, policy)) return flush;
  const untilMs = Math.min(
    lastArrivalMs + policy.flushTimeoutMs,
    firstArrivalMs + firstArrivalFactor * policy.flushTimeoutMs,
  );
  return nowMs >= untilMs ? flush : { kind: 'wait', untilMs };
}

/** Nobody who could join the batch is missing. */
export function isEverybodyThere(
  { size, liveCallers }: Pick<WaitingState, 'size' | 'liveCallers'>,
  { maxBatch }: Pick<FlushPolicy, 'maxBatch'>,
): boolean {
  return size >= Math.min(maxBatch, liveCallers);
}
