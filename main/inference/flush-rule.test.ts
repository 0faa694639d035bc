import { describe, expect, it } from 'vitest';
import { StudioError } from '../base/errors.ts';
import { decideFailure, isBackendLoss } from './failure-rule.ts';
import { decideFlush, type FlushPolicy, type WaitingState } from './flush-rule.ts';

const greedy: FlushPolicy = { flushPolicy: 'greedy', flushTimeoutMs: 50, maxBatch: 8 };
const rendezvous: FlushPolicy = { ...greedy, flushPolicy: 'rendezvous' };
const waiting = (state: Partial<WaitingState>): WaitingState => ({
  nowMs: 1_000,
  firstArrivalMs: 1_000,
  lastArrivalMs: 1_000,
  size: 3,
  liveCallers: 6,
  isBackendIdle: true,
  ...state,
});

describe('when waiting samples become a batch', () => {
  it('is never while the backend is busy or nothing waits', () => {
    for (const policy of [greedy, rendezvous]) {
      expect(decideFlush(waiting({ isBackendIdle: false }), policy)).toEqual({ kind: 'wait', untilMs: null });
      expect(decideFlush(waiting({ size: 0 }), policy)).toEqual({ kind: 'wait', untilMs: null });
    }
  });

  it('is at once when greedy, up to the largest batch', () => {
    expect(decideFlush(waiting({}), greedy)).toEqual({ kind: 'flush', size: 3 });
    expect(decideFlush(waiting({ size: 20, liveCallers: 30 }), greedy)).toEqual({ kind: 'flush', size: 8 });
  });

  it('is in a rendezvous when every live caller or a full batch is there', () => {
    expect(decideFlush(waiting({ size: 5 }), rendezvous).kind).toBe('wait');
    expect(decideFlush(waiting({ size: 6 }), rendezvous)).toEqual({ kind: 'flush', size: 6 });
    expect(decideFlush(waiting({ size: 3, liveCallers: 3 }), rendezvous).kind).toBe('flush');
    expect(decideFlush(waiting({ size: 9, liveCallers: 100 }), rendezvous)).toEqual({
      kind: 'flush',
      size: 8,
    });
    expect(decideFlush(waiting({ size: 1, liveCallers: 1 }), rendezvous).kind).toBe('flush');
  });

  it('is in a rendezvous one time-out after the last arrival, four after the first', () => {
    const late = { firstArrivalMs: 900, lastArrivalMs: 990 };
    expect(decideFlush(waiting(late), rendezvous)).toEqual({ kind: 'wait', untilMs: 1_040 });
    expect(decideFlush(waiting({ ...late, nowMs: 1_040 }), rendezvous).kind).toBe('flush');
    const trickle = { firstArrivalMs: 810, lastArrivalMs: 999 };
    expect(decideFlush(waiting(trickle), rendezvous)).toEqual({ kind: 'wait', untilMs: 1_010 });
    expect(decideFlush(waiting({ ...trickle, nowMs: 1_010 }), rendezvous).kind).toBe('flush');
  });
});

describe('what becomes of a failed batch', () => {
  const refusal = new StudioError('node_failed', 'bad image');
  const death = new StudioError('process_died', 'killed');
  const failure = { batch: [1, 2, 3, 4, 5], error: refusal, lossesInARow: 0, isMismatch: false };

  it('halves it to find a sample that is refused', () => {
    expect(decideFailure(failure)).toEqual({
      kind: 'retry',
      parts: [
        [1, 2, 3],
        [4, 5],
      ],
    });
    expect(decideFailure({ ...failure, batch: [3] })).toEqual({ kind: 'reject' });
  });

  it('repeats it one by one after the backend was lost, until that was lost three times in a row', () => {
    expect(decideFailure({ ...failure, error: death, lossesInARow: 1 })).toEqual({
      kind: 'retry',
      parts: [[1], [2], [3], [4], [5]],
    });
    expect(decideFailure({ ...failure, batch: [1], error: death, lossesInARow: 1 })).toEqual({
      kind: 'retry',
      parts: [[1]],
    });
    expect(decideFailure({ ...failure, batch: [1], error: death, lossesInARow: 2 })).toEqual({
      kind: 'reject',
    });
    expect(decideFailure({ ...failure, batch: [2], error: death, lossesInARow: 3 })).toEqual({
      kind: 'reject_all',
    });
  });

  it('takes the end of the process and everything that comes to the same for a loss, and a refusal not', () => {
    const losses = [
      'timeout',
      'process_died',
      'connection_closed',
      'protocol_error',
      'handshake_failed',
      'spawn_failed',
      'fatal',
    ] as const;
    expect(losses.filter((code) => !isBackendLoss(new StudioError(code, '')))).toEqual([]);
    expect(isBackendLoss(refusal)).toBe(false);
  });

  it('repeats a batch one by one also after the second loss in a row', () => {
    expect(decideFailure({ ...failure, batch: [1, 2], error: death, lossesInARow: 2 })).toEqual({
      kind: 'retry',
      parts: [[1], [2]],
    });
  });

  it('rejects it whole when the answer did not fit, and all of it when somebody stopped', () => {
    expect(decideFailure({ ...failure, isMismatch: true })).toEqual({ kind: 'reject' });
    expect(decideFailure({ ...failure, error: new StudioError('aborted', 'over') })).toEqual({
      kind: 'reject_all',
    });
  });
});
