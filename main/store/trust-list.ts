// What a person trusts: folders, and contents by their hash. Kept in the user's own folder, never in a workspace: a
// downloaded workspace cannot declare itself trusted.
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { createLastGoodFile, parserOf } from './last-good-file.ts';
import { contains, type UserFileOptions } from './workspace.ts';

const trustedContent = z.object({ path: z.string(), hash: z.string() });
/** A folder or file that may run as long as what would run has this hash. */
export type TrustedContent = z.infer<typeof trustedContent>;

export interface TrustList {
  folders(): Promise<readonly string[]>;
  /** The folder and everything in it. */
  add(folder: string): Promise<void>;
  remove(folder: string): Promise<void>;
  /** True when the path is in a trusted folder. */
  trusts(path: string): Promise<boolean>;
  contents(): Promise<readonly TrustedContent[]>;
  /** Replaces what was trusted at the same path. */
  addContent(content: TrustedContent): Promise<void>;
  removeContent(path: string): Promise<void>;
  /** True when exactly this was trusted at the path. */
  trustsContent(content: TrustedContent): Promise<boolean>;
}

const trustFile = z.object({ folders: z.array(z.string()), contents: z.array(trustedContent).default([]) });

/** Kept in `<user folder>/trusted.json`. `always`: the library and the default workspace. */
export function openTrustList(
  options: UserFileOptions,
  folder: string,
  always: readonly string[] = [],
): TrustList {
  const { fileSystem } = options;
  const file = createLastGoodFile<z.infer<typeof trustFile>>({
    fileSystem,
    path: join(folder, 'trusted.json'),
    parse: parserOf(trustFile),
    encode: (value) => value,
    defaults: () => ({ folders: [], contents: [] }),
    stamp: () => String(options.now()),
  });
  const read = async (): Promise<z.infer<typeof trustFile>> => (await file.read()).value;
  const folders = async (): Promise<readonly string[]> => (await read()).folders;
  const contents = async (): Promise<readonly TrustedContent[]> => (await read()).contents;
  const withoutContent = async (path: string): Promise<TrustedContent[]> => {
    const gone = [resolve(path), await fileSystem.realPath(path)];
    return (await contents()).filter((known) => !gone.includes(known.path));
  };
  return {
    folders,
    contents,
    async add(added) {
      const known = await read();
      const next = [...new Set([...known.folders, await fileSystem.realPath(added)])].sort();
      await file.write({ ...known, folders: next });
    },
    async remove(removed) {
      const gone = [resolve(removed), await fileSystem.realPath(removed)];
      const known = await read();
      await file.write({ ...known, folders: known.folders.filter((each) => !gone.includes(each)) });
    },
    async trusts(path) {
      // Links are followed on both sides: a link in a trusted folder does not make its target trusted.
      const real = await fileSystem.realPath(path);
      for (const known of [...always, ...(await folders())]) {
        if (contains(await fileSystem.realPath(known), real)) return true;
      }
      return false;
    },
    async addContent({ path, hash }) {
      const kept = await withoutContent(path);
      const next = [...kept, { path: await fileSystem.realPath(path), hash }];
      await file.write({ ...(await read()), contents: next.sort((a, b) => (a.path < b.path ? -1 : 1)) });
    },
    async removeContent(path) {
      await file.write({ ...(await read()), contents: await withoutContent(path) });
    },
    async trustsContent({ path, hash }) {
      const real = await fileSystem.realPath(path);
      return (await contents()).some((known) => known.path === real && known.hash === hash);
    },
  };
}
