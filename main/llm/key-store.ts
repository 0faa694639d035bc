// Keys of providers: typed in ones in a file of the user's own folder (encrypted where the host has a cipher, else
// readable by this user alone), otherwise from the environment. A key is never written anywhere else, and every one
// that was seen is known to the redactor.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import type { Redactor } from '../base/redactor.ts';
import type { ChatProvider, ChatStatus, KeySource } from '../contract/chat.ts';
import { keyVariable } from './endpoint.ts';
import type { KeyCipher } from './ports.ts';

const keptKey = z.union([
  z.strictObject({ encrypted: z.string() }),
  z.strictObject({ plain: z.string().min(1) }),
]);
const keyFile = z.object({ version: z.literal(1), keys: z.record(z.string(), keptKey) });
type KeyFile = z.infer<typeof keyFile>;

export interface KeyStoreOptions {
  readonly file: string;
  readonly cipher?: KeyCipher | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly redactor: Redactor;
}

export interface FoundKey {
  readonly source: KeySource;
  readonly key: string | undefined;
}

const onlyThisUser = 0o600;

export class KeyStore {
  readonly #options: KeyStoreOptions;
  #kept: KeyFile | undefined;
  #change: Promise<unknown> = Promise.resolve();

  constructor(options: KeyStoreOptions) {
    this.#options = options;
  }

  get place(): ChatStatus['keyStore'] {
    const { cipher, file } = this.#options;
    return cipher
      ? { kind: 'system', says: `Keys are kept encrypted by ${cipher.name}.` }
      : {
          kind: 'file',
          says: `This host has no key store: a key is kept unencrypted in ${file}, which only your user can read. An environment variable avoids the file.`,
        };
  }

  /** A typed in key goes before the environment. */
  async find(provider: ChatProvider): Promise<FoundKey> {
    const found = (await this.#typedIn(provider.name)) ?? this.#fromEnvironment(provider);
    if (found.key !== undefined) this.#options.redactor.add(found.key);
    return found;
  }

  /** Providers with a typed in key, set up or not. */
  async names(): Promise<readonly string[]> {
    return Object.keys((await this.#read()).keys);
  }

  set(provider: string, key: string): Promise<void> {
    const { cipher, redactor } = this.#options;
    const clean = key.trim();
    if (!/^[\x21-\x7e]+$/.test(clean))
      throw new StudioError(
        'invalid_input',
        'A key has no spaces and no special characters. Paste it again.',
      );
    redactor.add(clean);
    const kept = cipher
      ? { encrypted: Buffer.from(cipher.encrypt(clean)).toString('base64') }
      : { plain: clean };
    return this.#edit((keys) => ({ ...keys, [provider]: kept }));
  }

  clear(provider: string): Promise<void> {
    return this.#edit(({ [provider]: _gone, ...others }) => others);
  }

  async #typedIn(provider: string): Promise<FoundKey | undefined> {
    const { keys } = await this.#read();
    const kept = Object.hasOwn(keys, provider) ? keys[provider] : undefined;
    if (!kept) return undefined;
    if ('plain' in kept) return { source: 'file', key: kept.plain };
    try {
      const key = this.#options.cipher?.decrypt(Buffer.from(kept.encrypted, 'base64'));
      return key === undefined ? { source: 'locked', key } : { source: 'system', key };
    } catch {
      return { source: 'locked', key: undefined };
    }
  }

  #fromEnvironment(provider: ChatProvider): FoundKey {
    const key = this.#options.environment[keyVariable(provider)]?.trim();
    if (key) return { source: 'environment', key };
    return { source: provider.needsKey ? 'none' : 'unneeded', key: undefined };
  }

  #edit(change: (keys: KeyFile['keys']) => KeyFile['keys']): Promise<void> {
    const work = async (): Promise<void> => {
      const { keys } = await this.#read();
      const next: KeyFile = { version: 1, keys: change(keys) };
      await writePrivately(this.#options.file, `${JSON.stringify(next, null, 1)}\n`);
      this.#kept = next;
    };
    const result = this.#change.then(work, work);
    this.#change = result.catch(() => undefined);
    return result;
  }

  async #read(): Promise<KeyFile> {
    this.#kept ??= await readKeys(this.#options.file);
    return this.#kept;
  }
}

async function readKeys(file: string): Promise<KeyFile> {
  const none: KeyFile = { version: 1, keys: {} };
  let content: string;
  try {
    content = await readFile(file, 'utf8');
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return none;
    throw new StudioError('io_failed', `The keys in ${file} cannot be read.`, { cause });
  }
  try {
    return keyFile.parse(JSON.parse(content));
  } catch (cause) {
    // Not the parser's words: they may quote a key.
    void cause;
    throw new StudioError('corrupt', `${file} is damaged. Move it away and set the keys again.`);
  }
}

async function writePrivately(file: string, content: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(temporary, content, { mode: onlyThisUser, flag: 'wx', flush: true });
    await rename(temporary, file);
  } catch (cause) {
    throw new StudioError('io_failed', `The keys could not be written to ${file}.`, { cause });
  }
}
