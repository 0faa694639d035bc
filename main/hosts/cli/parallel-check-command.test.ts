import { expect, it } from 'vitest';
import { exitCodes } from './exit-codes.ts';
import { exitCodeOf } from './parallel-check-command.ts';

it('a check that compared nothing does not say that the numbers are right', () => {
  expect(exitCodeOf([{ pairs: 20, total: 0 }])).toBe(exitCodes.ok);
  expect(exitCodeOf([{ pairs: 20, total: 1 }])).toBe(exitCodes.someWithoutVerdict);
  expect(
    exitCodeOf([
      { pairs: 20, total: 0 },
      { pairs: 0, total: 0 },
    ]),
  ).toBe(exitCodes.someWithoutVerdict);
});
