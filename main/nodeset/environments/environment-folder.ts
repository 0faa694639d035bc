// Built environments on disk: `<key>.json` names the folder that is complete; a folder that no such file names is
// half-built and never used. Folders are built where they stay, because scripts in them carry their path.
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { z } from 'zod';
import { stableHash } from '../../base/stable-hash.ts';
import { writeWhole } from '../cache-file.ts';
import type { EnvironmentSpec } from './requirements.ts';

const record = z.object({
  folder: z.string(),
  interpreter: z.string(),
  requirements: z.array(z.string()),
  requiresPython: z.string(),
  /** The Python it was made from, and its version. */
  base: z.string(),
  pythonVersion: z.string(),
  tool: z.enum(['uv', 'pip']),
  builtAt: z.string(),
});
export type BuiltEnvironment = z.infer<typeof record>;

/** Same packages, same order, same Python asked for: same environment. */
export function environmentKey({ requirements, requiresPython }: EnvironmentSpec): string {
  return stableHash({ requirements, requiresPython, platform: process.platform, arch: process.arch }).slice(
    0,
    20,
  );
}

const sweptAfterMs = 24 * 3600 * 1000;

export class EnvironmentFolder {
  readonly folder: string;
  readonly #now: () => number;

  /** Absolute; made when first needed. */
  constructor(folder: string, now: () => number) {
    this.folder = folder;
    this.#now = now;
  }

  /** The complete environment for this key, if its interpreter still exists. */
  async find(key: string): Promise<BuiltEnvironment | undefined> {
    try {
      const found = record.parse(JSON.parse(await readFile(this.#recordOf(key), 'utf8')));
      return existsSync(found.interpreter) ? found : undefined;
    } catch {
      return undefined;
    }
  }

  /** An own, empty place for one attempt. What dead attempts left is removed first. */
  async makePlace(key: string): Promise<string> {
    await mkdir(this.folder, { recursive: true });
    await this.#sweep();
    return path.join(this.folder, `${key}-${process.pid}-${randomBytes(3).toString('hex')}`);
  }

  /** From now on it is found. The one it replaces may still serve running processes and is left to the sweep. */
  async publish(key: string, built: BuiltEnvironment): Promise<void> {
    await writeWhole(this.#recordOf(key), JSON.stringify(built, null, 2));
  }

  async remove(place: string): Promise<void> {
    if (path.dirname(place) === this.folder) await rm(place, { recursive: true, force: true });
  }

  /** Places of engines that are gone, that no record names and that nobody touched for a day. */
  async #sweep(): Promise<void> {
    for (const name of await readdir(this.folder)) {
      const [, key, pid] = /^([0-9a-f]+)-(\d+)-[0-9a-f]+$/.exec(name) ?? [];
      if (key === undefined || isAlive(Number(pid))) continue;
      const place = path.join(this.folder, name);
      const { mtimeMs } = await stat(place);
      if (this.#now() - mtimeMs > sweptAfterMs && (await this.find(key))?.folder !== place)
        await this.remove(place);
    }
  }

  #recordOf(key: string): string {
    return path.join(this.folder, `${key}.json`);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
