import { describe, expect, it } from 'vitest';
import { busyMs } from './busy-time.ts';

const attempt = (second: number, durationMs: number) => ({
  startedAt: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
  durationMs,
});

describe('the time a run was at work', () => {
  it('counts workers that overlap once, and no pause between', () => {
    expect(busyMs([attempt(0, 4000), attempt(1, 1000), attempt(2, 3000), attempt(60, 500)])).toBe(5500);
  });

  it('is nothing without attempts, whatever their order', () => {
    expect(busyMs([])).toBe(0);
    expect(busyMs([attempt(5, 1000), attempt(0, 1000)])).toBe(2000);
  });
});
