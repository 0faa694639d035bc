// Every policy says what it keeps.
import { describe, expect, it } from 'vitest';
import { policyWords } from './policy-words.ts';

describe('recording policies', () => {
  it('say what they keep', () => {
    expect(policyWords('none')).toContain('nothing is kept');
    expect(policyWords('failures')).toContain('success 0');
    expect(policyWords('sample:12')).toContain('sample of 12 episodes');
    expect(policyWords('all')).toContain('“all”');
  });
});
