// Where keys are kept: encrypted with the host's cipher, else in a file for this user alone, else in the environment.
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRedactor } from '../base/redactor.ts';
import { chatProvider } from '../contract/chat.ts';
import { KeyStore, type KeyStoreOptions } from './key-store.ts';
import type { KeyCipher } from './ports.ts';

const openai = chatProvider.parse({ name: 'gpt', kind: 'openai' });
const local = chatProvider.parse({ name: 'local', needsKey: false });
const key = 'sk-secret-0123456789';
const redactor = createRedactor();
let folder: string;
let file: string;

/** Turns every byte around: enough to tell what is encrypted from what is not. */
const cipher: KeyCipher = {
  name: 'a test',
  encrypt: (text) => Buffer.from(text).map((byte) => 255 - byte),
  decrypt: (bytes) => Buffer.from(bytes.map((byte) => 255 - byte)).toString(),
};

const open = (more: Partial<KeyStoreOptions> = {}): KeyStore =>
  new KeyStore({ file, environment: {}, redactor, ...more });

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'keys-'));
  file = path.join(folder, 'own', 'keys.json');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

it('keeps a key for this user alone where the host has no key store, and says so', async () => {
  const store = open();
  await store.set('gpt', ` ${key}\n`);
  expect(await open().find(openai)).toEqual({ source: 'file', key });
  expect(await readFile(file, 'utf8')).toContain(key);
  const isPosix = process.platform !== 'win32';
  expect((await stat(file)).mode & 0o777).toBe(isPosix ? 0o600 : (await stat(file)).mode & 0o777);
  expect(store.place).toMatchObject({ kind: 'file', says: expect.stringContaining('unencrypted') as string });
  await store.clear('gpt');
  expect(await open().find(openai)).toEqual({ source: 'none', key: undefined });
});

it('keeps a key encrypted where the host has a cipher, and tells others that it is locked', async () => {
  await open({ cipher }).set('gpt', key);
  expect(await readFile(file, 'utf8')).not.toContain(key);
  expect(await open({ cipher }).find(openai)).toEqual({ source: 'system', key });
  expect(await open().find(openai)).toEqual({ source: 'locked', key: undefined });
  const foreign: KeyCipher = {
    ...cipher,
    decrypt: () => {
      throw new Error('another machine');
    },
  };
  expect(await open({ cipher: foreign }).find(openai)).toEqual({ source: 'locked', key: undefined });
});

it('looks at the environment where no key was typed in', async () => {
  const store = open({ environment: { OPENAI_API_KEY: key } });
  expect(await store.find(openai)).toEqual({ source: 'environment', key });
  expect(await store.find({ ...openai, keyEnv: 'OTHER' })).toEqual({ source: 'none', key: undefined });
  expect(await store.find(local)).toEqual({ source: 'unneeded', key: undefined });
  await store.set('gpt', 'typed-in-key');
  expect(await store.find(openai)).toEqual({ source: 'file', key: 'typed-in-key' });
});

it('keeps every key when several are set at once', async () => {
  const store = open();
  const names = Array.from({ length: 20 }, (_item, at) => `provider-${at}`);
  await Promise.all(names.map((name) => store.set(name, `key-of-${name}`)));
  for (const name of names) expect((await open().find({ ...openai, name })).key).toBe(`key-of-${name}`);
});

it('refuses what is no key, and a damaged file without quoting it', async () => {
  expect(() => open().set('gpt', 'two words')).toThrow(/no spaces/);
  await open().set('gpt', key);
  await writeFile(file, `{"keys": {"gpt": {"plain": "${key}"`);
  const damaged = open().find(openai);
  await expect(damaged).rejects.toMatchObject({ code: 'corrupt' });
  await expect(damaged).rejects.not.toThrow(key);
});

it('tells the redactor of every key it saw', async () => {
  const seen = createRedactor();
  await open({ redactor: seen, environment: { OPENAI_API_KEY: 'from-the-environment' } }).find(openai);
  expect(seen.text('it is from-the-environment')).toBe('it is [redacted]');
});
