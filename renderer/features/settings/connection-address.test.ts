// Addresses of other engines, as people paste them.
import { describe, expect, it } from 'vitest';
import { addressToOpen, parseConnection, sshCommand } from './connection-address.ts';

const token = 'ab'.repeat(32);

describe('an address', () => {
  it.each([
    [`http://127.0.0.1:8710/#token=${token}`, { url: 'http://127.0.0.1:8710/', token }],
    [' localhost:8710 ', { url: 'http://localhost:8710/', token: '' }],
    ['https://box.example/#/history', { url: 'https://box.example/', token: '' }],
    ['http://[::1]:90/', { url: 'http://[::1]:90/', token: '' }],
  ])('%s is understood', (text, found) => {
    expect(parseConnection(text)).toEqual(found);
  });

  it.each(['', 'not an address', 'file:///etc/passwd', 'javascript:alert(1)', 'http://you:secret@box/'])(
    '"%s" is none',
    (text) => expect(parseConnection(text)).toBeUndefined(),
  );

  it('is opened with its token, when there is one', () => {
    expect(addressToOpen({ url: 'http://127.0.0.1:1/', token })).toBe(`http://127.0.0.1:1/#token=${token}`);
    expect(addressToOpen({ url: 'http://127.0.0.1:1/', token: '' })).toBe('http://127.0.0.1:1/');
  });
});

describe('the tunnel', () => {
  it('brings the same port here', () => {
    expect(sshCommand('http://127.0.0.1:8710/', 'you@box')).toBe('ssh -N -L 8710:127.0.0.1:8710 you@box');
    expect(sshCommand('http://127.0.0.1:8710/', '  ')).toBe('');
  });

  it('quotes what a shell would run', () => {
    expect(sshCommand('http://127.0.0.1:1/', "box; it's")).toBe(`ssh -N -L 1:127.0.0.1:1 'box; it'\\''s'`);
  });
});
