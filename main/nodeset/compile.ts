// Bundles a TypeScript nodeset to one ES module, cached by the content of everything that went into it. A bundle is
// written once and never changed, so whoever runs an older version keeps it. Nothing of the nodeset is run here.
import { readFile, mkdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';
import { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import { sha256, stableHash } from '../base/stable-hash.ts';
import { bundleNodeset, type BundledInput } from './bundle.ts';
import { writeWhole } from './cache-file.ts';

/** Raise when the same sources would give another bundle. */
const formatVersion = 1;

export interface NodesetEntry {
  readonly name: string;
  /** Absolute path of nodeset.ts, or of the single file. */
  readonly entry: string;
}

export interface CompiledNodeset extends NodesetEntry {
  readonly bundlePath: string;
  /** Hash of every input, in hex. */
  readonly hash: string;
}

export interface NodesetCompiler {
  /** Rejects with `nodeset_failed`; the message carries file:line of each problem. */
  compile(source: NodesetEntry): Promise<CompiledNodeset>;
}

export interface CompilerOptions {
  readonly cacheFolder: string;
  /** The module that `agentcanvas` stands for; default: the app's own. */
  readonly authorModule?: string;
}

const recipeSchema = z.object({
  formatVersion: z.literal(formatVersion),
  bundle: z.string(),
  hash: z.string(),
  inputs: z.array(z.object({ file: z.string(), hash: z.string() })),
});
type Recipe = z.infer<typeof recipeSchema>;

/** `author/agentcanvas.ts` in a checkout; `agentcanvas.mjs` beside the engine's bundle. */
export function defaultAuthorModule(): string {
  const beside = [
    new URL('./author/agentcanvas.ts', import.meta.url),
    new URL('./agentcanvas.mjs', import.meta.url),
  ];
  const found = beside.map((url) => fileURLToPath(url)).find((file) => existsSync(file));
  if (found === undefined)
    throw new StudioError(
      'internal',
      'the module "agentcanvas" is missing from this installation; install the app again',
    );
  return found;
}

export function createNodesetCompiler(options: CompilerOptions): NodesetCompiler {
  const authorUrl = pathToFileURL(options.authorModule ?? defaultAuthorModule()).href;
  const folder = path.join(options.cacheFolder, 'nodesets');
  const running = new Map<string, Promise<CompiledNodeset>>();

  const recipeFile = (source: NodesetEntry): string =>
    path.join(folder, `${sha256(`${authorUrl}\n${source.entry}`).slice(0, 32)}.json`);

  const fromCache = async (source: NodesetEntry): Promise<CompiledNodeset | undefined> => {
    const recipe = await readRecipe(recipeFile(source));
    if (!recipe) return undefined;
    const bundlePath = path.join(folder, recipe.bundle);
    if (!existsSync(bundlePath) || !(await stillTrue(recipe))) return undefined;
    return { ...source, bundlePath, hash: recipe.hash };
  };

  const build = async (source: NodesetEntry): Promise<CompiledNodeset> => {
    const cached = await fromCache(source);
    if (cached) return cached;
    const { code, inputs } = await bundleNodeset({ ...source, authorUrl, outFolder: folder });
    const hash = stableHash({ formatVersion, authorUrl, entry: source.entry, inputs });
    const bundle = `${source.name}-${hash.slice(0, 24)}.mjs`;
    await mkdir(folder, { recursive: true });
    await writeWhole(path.join(folder, bundle), code);
    const recipe: Recipe = { formatVersion, bundle, hash, inputs: [...inputs] };
    await writeWhole(recipeFile(source), JSON.stringify(recipe));
    return { ...source, bundlePath: path.join(folder, bundle), hash };
  };

  return {
    compile(source) {
      const known = running.get(source.entry);
      if (known) return known;
      const compiling = build(source).finally(() => running.delete(source.entry));
      running.set(source.entry, compiling);
      return compiling;
    },
  };
}

/** A cache file that cannot be read or parsed is as good as none. */
async function readRecipe(file: string): Promise<Recipe | undefined> {
  try {
    return recipeSchema.safeParse(JSON.parse(await readFile(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

async function stillTrue(recipe: Recipe): Promise<boolean> {
  const checks = recipe.inputs.map(async (input) => (await hashOf(input)) === input.hash);
  return (await Promise.all(checks)).every(Boolean);
}

async function hashOf(input: BundledInput): Promise<string | undefined> {
  try {
    return sha256(await readFile(input.file));
  } catch {
    return undefined;
  }
}
