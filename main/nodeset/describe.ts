// From a source on disk to a version: compiled or hashed, with a manifest that a short-lived process gave, or the
// cache, when the same content was described before.
import { mkdir, readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import { sha256, stableHash } from '../base/stable-hash.ts';
import { nodesetManifest, type NodesetManifest } from '../contract/nodeset.ts';
import { writeWhole } from './cache-file.ts';
import type { NodesetCompiler } from './compile.ts';
import { describeInProcess, type NodesetRuntime } from './start-live.ts';
import type { NodesetSource, NodesetVersion } from './version.ts';

export interface DescriberOptions {
  readonly cacheFolder: string;
  readonly compiler: NodesetCompiler;
  readonly runtime: NodesetRuntime;
  /** From the handshake to the manifest: imports only. Default 60 s for TypeScript, 10 min for Python. */
  readonly describeMs?: Partial<Readonly<Record<NodesetSource['language'], number>>> | undefined;
}

export interface Describer {
  /** Rejects with `nodeset_failed`, or what befell the process. */
  describe(source: NodesetSource, signal?: AbortSignal): Promise<NodesetVersion>;
}

/** Raise when the same sources would give another manifest. */
const manifestFormat = 1;
const defaultDescribeMs = { typescript: 60_000, python: 600_000 } as const;
const cachedManifest = z.object({
  format: z.literal(manifestFormat),
  hash: z.string(),
  manifest: nodesetManifest,
});

export function createDescriber(options: DescriberOptions): Describer {
  const { compiler, runtime } = options;
  const folder = path.join(options.cacheFolder, 'nodesets');
  const fileOf = (name: string, hash: string): string =>
    path.join(folder, `${name}-${hash.slice(0, 24)}.manifest.json`);

  const artifactOf = async (source: NodesetSource): Promise<Omit<NodesetVersion, 'manifest'>> => {
    if (source.language === 'python')
      return { source, bundlePath: undefined, hash: await hashOfPython(source) };
    const { bundlePath, hash } = await compiler.compile(source);
    return { source, bundlePath, hash };
  };

  const ask = async (
    artifact: Omit<NodesetVersion, 'manifest'>,
    signal: AbortSignal | undefined,
  ): Promise<NodesetManifest> => {
    const { source, hash } = artifact;
    const readyMs = options.describeMs?.[source.language] ?? defaultDescribeMs[source.language];
    const manifest = await describeInProcess(runtime, artifact, { readyMs, signal });
    if (manifest.name !== source.name) {
      throw new StudioError(
        'nodeset_failed',
        `${source.path} serves a nodeset named "${manifest.name}"; its name must be "${source.name}"`,
      );
    }
    await mkdir(folder, { recursive: true });
    await writeWhole(fileOf(source.name, hash), JSON.stringify({ format: manifestFormat, hash, manifest }));
    return manifest;
  };

  return {
    async describe(source, signal) {
      const artifact = await artifactOf(source);
      const cached = await readManifest(fileOf(source.name, artifact.hash), artifact.hash);
      return { ...artifact, manifest: cached ?? (await ask(artifact, signal)) };
    },
  };
}

async function readManifest(file: string, hash: string): Promise<NodesetManifest | undefined> {
  try {
    const cached = cachedManifest.parse(JSON.parse(await readFile(file, 'utf8')));
    return cached.hash === hash ? cached.manifest : undefined;
  } catch {
    return undefined;
  }
}

/** The nodeset's own Python files; packages of its interpreter are not looked at. */
async function hashOfPython(source: NodesetSource): Promise<string> {
  const files = source.path === source.entry ? [source.entry] : await pythonFilesIn(source.path);
  const inputs = await Promise.all(files.map(async (file) => ({ file, hash: sha256(await readFile(file)) })));
  return stableHash({ inputs, className: source.className, interpreter: source.interpreter ?? null });
}

async function pythonFilesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.py'))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}
