// Addresses go to text and back; rubbish never throws.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress, home, pages, parseAddress, runViews, takeToken, type Address } from './address.ts';

describe('address', () => {
  it('survives the way to text and back', () => {
    const text = fc.string({ maxLength: 20, unit: 'grapheme' });
    const name = fc.stringMatching(/^[a-z][a-z_.]{0,8}$/);
    const sort = fc.record({ column: name, descending: fc.boolean() });
    const address = fc.record({
      page: fc.constantFrom('evaluate' as const, 'history' as const, 'canvas' as const),
      run: fc.option(fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' })),
      view: fc.constantFrom(...runViews),
      graph: fc.option(fc.string({ minLength: 1, maxLength: 20 })),
      filter: text,
      statuses: fc.subarray(['completed', 'error', 'pending'] as const),
      sort: fc.array(sort, { maxLength: 3 }),
      episode: fc.option(fc.integer({ min: 0, max: 999_999 })),
      group: fc.boolean(),
      search: text,
      runStatuses: fc.subarray(['paused', 'failed']),
      runSort: fc.option(sort),
      runs: fc.array(name, { maxLength: 3 }),
      metric: fc.option(name),
      tab: fc.option(name),
      common: fc.boolean(),
      by: fc.option(name),
      differing: fc.boolean(),
      other: fc.option(name),
      otherEpisode: fc.option(fc.integer({ min: 0, max: 999_999 })),
      attempt: fc.option(fc.integer({ min: 1, max: 9 })),
      otherAttempt: fc.option(fc.integer({ min: 1, max: 9 })),
      step: fc.option(fc.integer({ min: 0, max: 999_999 })),
      level: fc.array(fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(address, (given: Address) => {
        expect(parseAddress(formatAddress(given))).toEqual(given);
      }),
      { seed: 3 },
    );
  });

  it('reads rubbish as the home page', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(pages).toContain(parseAddress(text).page);
      }),
      { seed: 5 },
    );
    expect(parseAddress('')).toEqual(home);
    expect(parseAddress('#/nowhere?episode=-1&status=nonsense')).toEqual(home);
    expect(parseAddress('#/history/%E0%A4%A')).toMatchObject({ page: 'history', run: '%E0%A4%A' });
  });

  it('leaves defaults out', () => {
    expect(formatAddress(home)).toBe('#/evaluate');
    expect(
      formatAddress({ ...home, page: 'history', run: 'r1', sort: [{ column: 'steps', descending: true }] }),
    ).toBe('#/history/r1?sort=-steps');
  });

  it('takes the token out and keeps the rest', () => {
    expect(takeToken('#token=abc')).toEqual({ token: 'abc', rest: '' });
    expect(takeToken('#/history/r1?filter=x&token=a%2Bb')).toEqual({
      token: 'a+b',
      rest: '#/history/r1?filter=x',
    });
    expect(takeToken('#/history?token=abc&filter=x')).toEqual({ token: 'abc', rest: '#/history?filter=x' });
    expect(takeToken('#token=abc&/history')).toEqual({ token: 'abc', rest: '#/history' });
    expect(takeToken('#/history?search=token')).toEqual({ token: null, rest: '#/history?search=token' });
  });
});
