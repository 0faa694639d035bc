// What is worth another try, and how long to wait for it.
import { expect, it } from 'vitest';
import { hintOf, isWorthAnotherTry, waitMs } from './retry-rule.ts';

it.each([
  [429, true],
  [408, true],
  [409, true],
  [500, true],
  [503, true],
  [529, true],
  [400, false],
  [401, false],
  [403, false],
  [404, false],
  [413, false],
  [422, false],
])('a status of %i is worth another try: %s', (status, worth) => {
  expect(isWorthAnotherTry({ kind: 'status', status, message: '' })).toBe(worth);
});

it('waits twice as long each time, up to half a minute, spread by chance, unless the endpoint says', () => {
  const failure = { kind: 'status', status: 500, message: '' } as const;
  expect([1, 2, 3, 4, 9].map((tries) => waitMs(failure, tries, 0))).toEqual([500, 1000, 2000, 4000, 30_000]);
  expect(waitMs(failure, 1, 0.999)).toBeCloseTo(750, 0);
  expect(waitMs({ ...failure, hintMs: 7 }, 9, 0.5)).toBe(7);
});

it('reads hints in milliseconds, in seconds and as a date, and nothing else', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(hintOf({ 'retry-after-ms': '120', 'retry-after': '9' }, now)).toBe(120);
  expect(hintOf({ 'retry-after': '1.5' }, now)).toBe(1500);
  expect(hintOf({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, now)).toBe(30_000);
  expect(hintOf({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, now)).toBe(0);
  expect(hintOf({ 'retry-after': 'soon' }, now)).toBeUndefined();
  expect(hintOf({}, now)).toBeUndefined();
});
