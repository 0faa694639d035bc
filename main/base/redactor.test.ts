// Secrets are taken out by their value, wherever they stand.
import { describe, expect, it } from 'vitest';
import { createRedactor } from './redactor.ts';

const secret = 'sk-"quoted"/and+more';

describe('a redactor', () => {
  it('leaves everything as it is while it knows no secret', () => {
    const { value, text } = createRedactor();
    const thing = { a: [1, { b: secret }] };
    expect(value(thing)).toBe(thing);
    expect(text(secret)).toBe(secret);
  });

  it('takes a secret out of texts, also as JSON and addresses write it', () => {
    const { add, text } = createRedactor();
    add(secret);
    expect(text(`a ${secret} b ${secret}`)).toBe('a [redacted] b [redacted]');
    expect(text(JSON.stringify({ key: secret }))).toBe('{"key":"[redacted]"}');
    expect(text(`http://x/?key=${encodeURIComponent(secret)}`)).toBe('http://x/?key=[redacted]');
  });

  it('takes it out of members and names at any depth, and copies only what changes', () => {
    const { add, value } = createRedactor();
    add(secret);
    const clean = { numbers: [1, 2], bytes: new Uint8Array(3) };
    const thing = { clean, dirty: [{ [`name ${secret}`]: ['x', secret] }], none: null };
    const result = value(thing);
    expect(result).toEqual({ clean, dirty: [{ 'name [redacted]': ['x', '[redacted]'] }], none: null });
    expect(result.clean).toBe(clean);
    expect(thing.dirty[0]?.[`name ${secret}`]).toEqual(['x', secret]);
  });

  it('takes a longer secret out before the one it contains', () => {
    const { add, text } = createRedactor();
    add('abcdefgh');
    add('abcdefgh-long');
    expect(text('abcdefgh-long')).toBe('[redacted]');
  });

  it('does not look for what could be an ordinary word', () => {
    const { add, text } = createRedactor();
    add('test');
    expect(text('a test')).toBe('a test');
  });
});
