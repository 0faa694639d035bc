// When the system's key store is used, and when the app must say that there is none.
import { expect, it } from 'vitest';
import { keyCipher, type SafeStorage } from './key-cipher.ts';

const storage = (isAvailable: boolean, backend?: string): SafeStorage => ({
  isEncryptionAvailable: () => isAvailable,
  ...(backend === undefined ? {} : { getSelectedStorageBackend: () => backend }),
  encryptString: (text) => Buffer.from(`<${text}>`),
  decryptString: (bytes) => bytes.toString().slice(1, -1),
});

it('encrypts and decrypts by the system', () => {
  const cipher = keyCipher(storage(true), 'darwin');
  expect(cipher?.name).toBe('the Keychain');
  const bytes = cipher?.encrypt('secret') ?? new Uint8Array();
  expect(Buffer.from(bytes).toString()).toBe('<secret>');
  expect(cipher?.decrypt(Uint8Array.from(bytes))).toBe('secret');
});

it.each([
  ['a system without encryption', storage(false), 'win32', false],
  ['Linux without a keyring, where anybody knows the password', storage(true, 'basic_text'), 'linux', false],
  ['Linux with a keyring', storage(true, 'gnome_libsecret'), 'linux', true],
] as const)('on %s', (_name, safeStorage, platform, isThere) => {
  expect(keyCipher(safeStorage, platform) !== undefined).toBe(isThere);
});
