// A small JSON file that a person may edit and a crash may hurt: what does not parse is kept aside, the last good
// content is used, and defaults are never written over anything.
import { dirname } from 'node:path';
import type { z } from 'zod';
import { messageOf } from '../base/errors.ts';
import { atomicWrite } from './atomic-write.ts';
import type { FileSystemPort } from './ports.ts';
import { toStorageError } from './storage-error.ts';

export interface LastGoodFile<T> {
  /** Where it came from: the file, its last good copy, or the defaults (no file yet). */
  read(): Promise<{ value: T; source: 'file' | 'last_good' | 'defaults'; problem: string | null }>;
  write(value: T): Promise<void>;
}

export interface LastGoodFileOptions<T> {
  readonly fileSystem: FileSystemPort;
  readonly path: string;
  readonly parse: (json: unknown) => T;
  readonly encode: (value: T) => unknown;
  readonly defaults: () => T;
  /** Suffix of a damaged file kept aside. */
  readonly stamp: () => string;
}

export function createLastGoodFile<T>(options: LastGoodFileOptions<T>): LastGoodFile<T> {
  const { fileSystem, path, parse, encode, defaults, stamp } = options;
  const copyPath = `${path}.last-good`;
  const tryRead = async (from: string): Promise<Attempted<T>> => {
    try {
      if (!(await fileSystem.stat(from))) return { kind: 'absent' };
      const text = Buffer.from(await fileSystem.readFile(from)).toString('utf8');
      return { kind: 'read', value: parse(JSON.parse(text)), text };
    } catch (error) {
      return { kind: 'bad', problem: messageOf(error).slice(0, 200) };
    }
  };
  return {
    async read() {
      const found = await tryRead(path);
      if (found.kind === 'read') {
        const copy = await tryRead(copyPath);
        if (copy.kind !== 'read' || copy.text !== found.text)
          await keepCopy(fileSystem, copyPath, found.text);
        return { value: found.value, source: 'file', problem: null };
      }
      if (found.kind === 'bad') await fileSystem.rename(path, `${path}.damaged-${stamp()}`);
      const copy = await tryRead(copyPath);
      const problem = found.kind === 'bad' ? `${path} could not be read: ${found.problem}` : null;
      if (copy.kind === 'read') return { value: copy.value, source: 'last_good', problem };
      return { value: defaults(), source: 'defaults', problem };
    },
    async write(value) {
      const text = `${JSON.stringify(encode(value), null, 2)}\n`;
      try {
        await fileSystem.makeFolder(dirname(path));
      } catch (error) {
        throw toStorageError(error, `make ${dirname(path)}`);
      }
      await atomicWrite(fileSystem, path, text);
      await keepCopy(fileSystem, copyPath, text);
    },
  };
}

type Attempted<T> =
  | { readonly kind: 'absent' }
  | { readonly kind: 'bad'; readonly problem: string }
  | { readonly kind: 'read'; readonly value: T; readonly text: string };

/** A copy that cannot be written takes nothing away: the file itself is good. */
async function keepCopy(fileSystem: FileSystemPort, path: string, text: string): Promise<void> {
  await atomicWrite(fileSystem, path, text).catch(() => undefined);
}

/** For `parse`: the schema's own. */
export function parserOf<T>(schema: z.ZodType<T>): (json: unknown) => T {
  return (json) => schema.parse(json);
}
