// The system's key store for the keys of model providers. Where the system has none (Linux without a keyring: Electron
// then encrypts with a password anybody knows) there is no cipher, and the app says so.

export interface SafeStorage {
  isEncryptionAvailable(): boolean;
  /** Linux only. */
  getSelectedStorageBackend?(): string;
  encryptString(text: string): Buffer;
  decryptString(bytes: Buffer): string;
}

export interface HostKeyCipher {
  readonly name: string;
  encrypt(text: string): Uint8Array;
  decrypt(bytes: Uint8Array): string;
}

/** Undefined where there is nothing better than a file. */
export function keyCipher(storage: SafeStorage, platform: NodeJS.Platform): HostKeyCipher | undefined {
  if (!storage.isEncryptionAvailable()) return undefined;
  if (platform === 'linux' && storage.getSelectedStorageBackend?.() === 'basic_text') return undefined;
  const names: Partial<Record<NodeJS.Platform, string>> = {
    darwin: 'the Keychain',
    win32: 'the Windows data protection of your account',
  };
  return {
    name: names[platform] ?? "your desktop's keyring",
    encrypt: (text) => storage.encryptString(text),
    decrypt: (bytes) => storage.decryptString(Buffer.from(bytes)),
  };
}
