import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../base/fake-clock.ts';
import { StudioError } from '../base/errors.ts';
import { createExecutionGuard } from './execution-guard.ts';

const run = { kind: 'eval', id: 'run-1', label: 'minivln_expert' } as const;
const play = { kind: 'canvas', id: 'minivln', label: 'minivln' } as const;

function refusal(act: () => unknown): StudioError {
  try {
    act();
  } catch (error) {
    if (error instanceof StudioError) return error;
  }
  throw new Error('was not refused');
}

describe('execution guard', () => {
  it('refuses a second holder with the first one in the details', async () => {
    const clock = createFakeClock(1000);
    const guard = createExecutionGuard(clock);
    guard.acquire(run);
    await clock.advance(5);
    const error = refusal(() => guard.acquire(play));
    expect(error.code).toBe('guard_busy');
    expect(error.details).toEqual({ holder: { ...run, sinceMs: 1000 } });
    expect(error.message).toContain('minivln_expert');
  });

  it('names Play by its graph and a run by its name', () => {
    for (const [holder, text] of [
      [play, 'Play of minivln is executing'],
      [run, 'Run minivln_expert is executing'],
    ] as const) {
      const guard = createExecutionGuard(createFakeClock());
      guard.acquire(holder);
      expect(refusal(() => guard.acquire(run)).message).toContain(text);
    }
  });

  it('is free again after the lease is disposed', () => {
    const guard = createExecutionGuard(createFakeClock());
    guard.acquire(play)[Symbol.dispose]();
    expect(guard.holder).toBeNull();
    expect(guard.acquire(run).holder.id).toBe('run-1');
  });

  it('is not released by disposing an old lease a second time', () => {
    const guard = createExecutionGuard(createFakeClock());
    const old = guard.acquire(run);
    old[Symbol.dispose]();
    guard.acquire(run);
    old[Symbol.dispose]();
    expect(guard.holder?.id).toBe('run-1');
  });

  it('tells listeners who holds it, until they unsubscribe', () => {
    const guard = createExecutionGuard(createFakeClock());
    const seen: (string | null)[] = [];
    const subscription = guard.onChange((holder) => seen.push(holder?.kind ?? null));
    const lease = guard.acquire(play);
    lease[Symbol.dispose]();
    lease[Symbol.dispose]();
    subscription[Symbol.dispose]();
    guard.acquire(run);
    expect(seen).toEqual(['canvas', null]);
  });
});
