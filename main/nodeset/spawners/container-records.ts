// Which containers were started, by whom: one file per container, written by Docker itself. What a killed engine left
// behind is found here without asking a Docker that perhaps nobody uses any more.
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { isOwnerDead, parseMarker } from '../../process/owner.ts';

export interface ContainerRecords {
  /** Where Docker shall write the id of the container with this name. */
  fileFor(name: string): Promise<string>;
  /** The id, once Docker has written it. */
  idOf(name: string): Promise<string | undefined>;
  forget(name: string): Promise<void>;
  /** Names and ids of containers whose engine is dead for certain. */
  leftBehind(): Promise<readonly { readonly name: string; readonly id: string }[]>;
}

export function containerRecords(folder: string): ContainerRecords {
  const fileOf = (name: string): string => path.join(folder, `${name}.cid`);
  const idOf = async (name: string): Promise<string | undefined> => {
    const text = await readFile(fileOf(name), 'utf8').catch(() => '');
    return /^[0-9a-f]{12,64}$/.test(text.trim()) ? text.trim() : undefined;
  };
  return {
    idOf,
    async fileFor(name) {
      await mkdir(folder, { recursive: true });
      return fileOf(name);
    },
    forget: (name) => rm(fileOf(name), { force: true }),
    async leftBehind() {
      const names = (await readdir(folder).catch(() => []))
        .filter((file) => file.endsWith('.cid'))
        .map((file) => file.slice(0, -4));
      const dead = names.filter((name) => {
        const owner = parseMarker(name);
        return owner !== undefined && isOwnerDead(owner);
      });
      const found = await Promise.all(dead.map(async (name) => ({ name, id: await idOf(name) })));
      // A start that was killed before Docker wrote anything started nothing.
      await Promise.all(
        found.filter(({ id }) => id === undefined).map(({ name }) => rm(fileOf(name), { force: true })),
      );
      return found.flatMap(({ name, id }) => (id === undefined ? [] : [{ name, id }]));
    },
  };
}
