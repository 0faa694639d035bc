// The crash budget of a slot.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideRestart, defaultRestartLimits, type RestartLimits } from './restart-policy.ts';

describe('a slot whose process died', () => {
  it('restarts at once, then after a pause, and is down after three deaths in a row', () => {
    expect([1, 2, 3, 4].map((deaths) => decideRestart(deaths))).toEqual([
      { action: 'restart', delayMs: 0 },
      { action: 'restart', delayMs: 250 },
      { action: 'down' },
      { action: 'down' },
    ]);
  });

  it('never waits longer than the limit and never shorter than before', () => {
    const limits = { ...defaultRestartLimits, deathsUntilDown: 1000 };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 998 }), (deaths) => {
        const [now, next] = [delayOf(deaths, limits), delayOf(deaths + 1, limits)];
        expect(next).toBeGreaterThanOrEqual(now);
        expect(next).toBeLessThanOrEqual(limits.longestDelayMs);
      }),
    );
  });
});

function delayOf(deaths: number, limits: RestartLimits): number {
  const decision = decideRestart(deaths, limits);
  return decision.action === 'restart' ? decision.delayMs : Number.NaN;
}
