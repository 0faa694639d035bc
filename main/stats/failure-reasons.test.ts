import { describe, expect, it } from 'vitest';
import type { EpisodeAttempt } from '../contract/run.ts';
import { FailureReasons } from './failure-reasons.ts';
import { sampleRow } from './testing/sample-rows.ts';

function failed(ordinal: number, message: string): EpisodeAttempt {
  return sampleRow({
    ordinal,
    status: 'error',
    error: { code: 'node_failed', message, scope: {}, details: {} },
  });
}

describe('reasons of failures', () => {
  it('are told where no episode completed: the most frequent one, and where it was met first', () => {
    const reasons = new FailureReasons();
    expect(reasons.flags(0)).toEqual([]);
    reasons.add(failed(0, 'late'));
    for (const ordinal of [1, 2]) reasons.add(failed(ordinal, `no key in step ${ordinal}\ntrace`));
    expect(reasons.flags(0).map(({ message }) => message)).toEqual([
      'no episode completed; most often (2 of 3): no key in step 1 (first in episode episode-1)',
    ]);
    expect(reasons.flags(1)).toEqual([]);
  });

  it('take no more memory with every new text', () => {
    const reasons = new FailureReasons();
    const words = 'abcdefghijklmnopqrstuvwxyz';
    for (const first of words) for (const second of words) reasons.add(failed(0, `${first}${second}`));
    for (let again = 0; again < 5; again++) reasons.add(failed(0, 'zz'));
    expect(reasons.flags(0)[0]?.message).toContain('(1 of 681): aa');
  });
});
