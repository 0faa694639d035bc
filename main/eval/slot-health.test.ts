import { describe, expect, it } from 'vitest';
import { afterDeath, afterFinishedEpisode, healthy } from './slot-health.ts';

describe('crash budget', () => {
  it('restarts at once, then after growing pauses, then never', () => {
    const verdicts: unknown[] = [];
    let health = healthy;
    for (let death = 0; death < 4; death++) {
      const after = afterDeath(health, 4);
      health = after.health;
      verdicts.push(after.verdict === 'restart' ? after.pauseMs : after.verdict);
    }
    expect(verdicts).toEqual([0, 500, 1000, 'down']);
  });

  it('never pauses for more than half a minute', () => {
    expect(afterDeath({ consecutive: 50, total: 50 }, 100)).toMatchObject({ pauseMs: 30_000 });
  });

  it('a finished episode gives the whole budget back, but keeps the count', () => {
    expect(afterFinishedEpisode({ consecutive: 2, total: 5 })).toEqual({ consecutive: 0, total: 5 });
  });

  it('keeps the number of all deaths, and a healthy slot as it is', () => {
    const after = afterDeath({ consecutive: 1, total: 4 }, 9);
    expect(after.health).toEqual({ consecutive: 2, total: 5 });
    const rested = afterFinishedEpisode(after.health);
    expect(rested).toEqual({ consecutive: 0, total: 5 });
    expect(afterFinishedEpisode(rested)).toBe(rested);
  });
});
