// P-values never read as zero and never round across the line of 0.05.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPValue, isSignificant, testName } from './p-value.ts';

describe('p-values', () => {
  it('read as people write them', () => {
    expect([0.5, 0.032, 0.0004, 1, 0].map(formatPValue)).toEqual([
      '0.50',
      '0.032',
      '< 0.001',
      '1',
      '< 0.001',
    ]);
    expect(formatPValue(null)).toBe('–');
  });

  it('do not hide on which side of 0.05 they are', () => {
    expect(formatPValue(0.0499)).toBe('< 0.05');
    expect(formatPValue(0.0501)).toBe('0.050');
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 0.04999999, noNaN: true }), (value) => {
        const text = formatPValue(value);
        expect(text === '< 0.05' || Number(text) < 0.05).toBe(true);
      }),
      { seed: 2 },
    );
  });

  it('are significant by the adjusted value only', () => {
    expect(isSignificant({ adjustedPValue: 0.049 })).toBe(true);
    expect(isSignificant({ adjustedPValue: 0.05 })).toBe(false);
    expect(isSignificant({ adjustedPValue: null })).toBe(false);
    expect(testName('mcnemar_exact')).toBe('exact McNemar');
  });
});
