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
type TrustFile = z.infer<typeof trustFile>;

/** Kept in `<user folder>/trusted.json`. `always`: the library and the default workspace. */
export function openTrustList(
  options: UserFileOptions,
  folder: string,
  always: readonly string[] = [],
): TrustList {
  const { fileSystem } = options;
  const { read, change } = openTrustFile(options, folder);
  const folders = async (): Promise<readonly string[]> => (await read()).folders;
  const contents = async (): Promise<readonly TrustedContent[]> => (await read()).contents;
  const without = async (known: readonly TrustedContent[], path: string): Promise<TrustedContent[]> => {
    const gone = [resolve(path), await fileSystem.realPath(path)];
    return known.filter((content) => !gone.includes(content.path));
  };
  return {
    folders,
    contents,
    add: (added) =>
      change(async (known) => ({
        folders: [...new Set([...known.folders, await fileSystem.realPath(added)])].sort(),
      })),
    remove: (removed) =>
      change(async (known) => {
        const gone = [resolve(removed), await fileSystem.realPath(removed)];
        return { folders: known.folders.filter((each) => !gone.includes(each)) };
      }),
    async trusts(path) {
      // Links are followed on both sides: a link in a trusted folder does not make its target trusted.
      const real = await fileSystem.realPath(path);
      for (const known of [...always, ...(await folders())]) {
        if (contains(await fileSystem.realPath(known), real)) return true;
      }
      return false;
    },
    addContent: ({ path, hash }) =>
      change(async (known) => {
        const kept = await without(known.contents, path);
        const next = [...kept, { path: await fileSystem.realPath(path), hash }];
        return { contents: next.sort((a, b) => (a.path < b.path ? -1 : 1)) };
      }),
    removeContent: (path) => change(async (known) => ({ contents: await without(known.contents, path) })),
    async trustsContent({ path, hash }) {
      const real = await fileSystem.realPath(path);
      return (await contents()).some((known) => known.path === real && known.hash === hash);
    },
  };
}

interface OpenTrustFile {
  readonly read: () => Promise<TrustFile>;
  /** One after the other: what is trusted no longer must not come back with another change. */
  readonly change: (edit: (known: TrustFile) => Promise<Partial<TrustFile>>) => Promise<void>;
}

function openTrustFile({ fileSystem, now }: UserFileOptions, folder: string): OpenTrustFile {
  const file = createLastGoodFile<TrustFile>({
    fileSystem,
    path: join(folder, 'trusted.json'),
    parse: parserOf(trustFile),
    encode: (value) => value,
    defaults: () => ({ folders: [], contents: [] }),
    stamp: () => String(now()),
  });
  const read = async (): Promise<TrustFile> => (await file.read()).value;
  let lastChange: Promise<unknown> = Promise.resolve();
  return {
    read,
    async change(edit) {
      const changing = lastChange.then(async () => {
        const known = await read();
        await file.write({ ...known, ...(await edit(known)) });
      });
      lastChange = changing.catch(() => undefined);
      await changing;
    },
  };
}
