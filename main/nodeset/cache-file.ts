// Writes a cache file whole or not at all: readers see the old content, none, or the new. Writers may race; equal
// content makes the winner irrelevant. Durability is not promised: a lost cache file is made again.
import { rename, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { StudioError, messageOf } from '../base/errors.ts';

export async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.part`;
  try {
    await writeFile(temporary, content);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new StudioError(
      'io_failed',
      `cannot write ${file}: ${messageOf(error)}; check that the folder is writable and has space`,
      { cause: error },
    );
  }
}
