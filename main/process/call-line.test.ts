import { describe, expect, it } from 'vitest';
import { CallLine } from './call-line.ts';

const timeoutMs = 1000;

function line(...sent: readonly [id: number, channel: number, nowMs: number][]): CallLine {
  const calls = new CallLine();
  for (const [id, channel, nowMs] of sent) calls.sent({ id, channel, timeoutMs, nowMs });
  return calls;
}

describe('a line of calls', () => {
  it("runs a call's time from its turn on", () => {
    const calls = line([1, 0, 0], [2, 1, 10]);
    expect([calls.dueMs(1, 900), calls.dueMs(2, 900)]).toEqual([1000, 1900]);
    calls.answered(1, 950);
    expect(calls.dueMs(2, 1000)).toBe(1950);
    expect(calls.lastChannel).toBe(1);
  });

  it('counts what a channel waits behind others, finished and present, and nothing else', () => {
    const calls = line([1, 0, 0], [2, 1, 10]);
    expect([calls.waitedMs(0, 60), calls.waitedMs(1, 60)]).toEqual([0, 50]);
    calls.answered(1, 100);
    calls.answered(2, 300);
    expect([calls.waitedMs(0, 400), calls.waitedMs(1, 400)]).toEqual([0, 90]);
  });

  it('keeps the one who ran last as the cause of an end while nobody runs', () => {
    const calls = line([1, 3, 0]);
    calls.answered(1, 5);
    expect(calls.lastChannel).toBe(3);
    expect(new CallLine().lastChannel).toBeUndefined();
  });

  it('gives the turn on when a call goes aside, whose own time goes on', () => {
    const calls = line([1, 0, 0], [2, 1, 0]);
    calls.wentAside(1, 100);
    expect([calls.dueMs(1, 150), calls.dueMs(2, 150), calls.lastChannel]).toEqual([1000, 1100, 1]);
    calls.answered(2, 200);
    expect(calls.dueMs(1, 990)).toBe(1000);
  });

  it('does not blame a call that went aside while another one keeps the process', () => {
    const calls = line([1, 0, 0], [2, 1, 0]);
    calls.wentAside(1, 100);
    expect(calls.dueMs(1, 1100)).toBe(2100);
    expect(calls.dueMs(2, 1100)).toBe(1100);
  });

  it('takes calls before one that is answered out of order for gone aside', () => {
    const calls = line([1, 0, 0], [2, 1, 0], [3, 2, 0]);
    calls.answered(2, 50);
    expect([calls.dueMs(1, 60), calls.dueMs(3, 60), calls.lastChannel]).toEqual([1000, 1050, 2]);
  });

  it('believes the host about which call runs, although earlier answers have not come', () => {
    const calls = line([1, 0, 0], [2, 1, 0], [3, 2, 0]);
    calls.seenRunning(3);
    expect(calls.lastChannel).toBe(2);
    expect(calls.dueMs(3, 1000)).toBe(1000);
    expect(calls.dueMs(1, 1000)).toBe(2000);
    calls.seenRunning(99);
    expect(calls.lastChannel).toBe(2);
  });

  it('forgets no call that was given up: its answer may still keep the others waiting', () => {
    const calls = line([1, 0, 0], [2, 1, 0]);
    expect(calls.dueMs(1, 1000)).toBe(1000);
    expect(calls.dueMs(2, 1000)).toBe(2000);
    calls.answered(7, 1000);
    expect(calls.dueMs(2, 1000)).toBe(2000);
  });

  it('gives the turn on when a call that waits to be sent is given up, and forgets it', () => {
    const calls = line([1, 0, 0], [2, 1, 0], [3, 2, 0]);
    calls.withdrawn(2, 100);
    calls.answered(1, 200);
    expect([calls.dueMs(3, 300), calls.lastChannel, calls.waitedMs(1, 300)]).toEqual([1200, 2, 0]);
    calls.withdrawn(3, 400);
    calls.sent({ id: 4, channel: 0, timeoutMs, nowMs: 500 });
    expect(calls.dueMs(4, 600)).toBe(1500);
  });

  it('is stranded once the call whose turn it is had its time and nobody ended the process', () => {
    const calls = line([1, 0, 0], [2, 1, 0]);
    expect([calls.dueMs(2, 5500), calls.isStranded(5999), calls.isStranded(6000)]).toEqual([
      6000,
      false,
      true,
    ]);
    // It is not the one who is late.
    expect(calls.dueMs(2, 6000)).toBe(7000);
    calls.answered(1, 6100);
    expect([calls.dueMs(2, 6200), calls.isStranded(6200)]).toEqual([7100, false]);
    calls.answered(2, 6300);
    expect(calls.isStranded(60_000)).toBe(false);
  });

  it('moves with a machine that slept', () => {
    const calls = line([1, 0, 0]);
    calls.postpone(5000);
    expect(calls.dueMs(1, 5100)).toBe(6000);
  });
});
