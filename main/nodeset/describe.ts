// From a source on disk to a version: compiled or hashed, with a manifest that a short-lived process gave, or the
// cache, when the same content was described before.
import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { StudioError } from '../base/errors.ts';
import { sha256, stableHash } from '../base/stable-hash.ts';
import { nodesetManifest, type NodesetManifest } from '../contract/nodeset.ts';
import { writeWhole } from './cache-file.ts';
import type { NodesetCompiler } from './compile.ts';
import type { ChosenInterpreter, InterpreterChoice } from './interpreter-choice.ts';
import { describeInProcess, type NodesetRuntime } from './start-live.ts';
import type { NodesetSource, NodesetVersion } from './version.ts';

export interface DescriberOptions {
  readonly cacheFolder: string;
  readonly compiler: NodesetCompiler;
  readonly runtime: NodesetRuntime;
  /** From the handshake to the manifest: imports only. Default 60 s for TypeScript, 10 min for Python. */
  readonly describeMs?: Partial<Readonly<Record<NodesetSource['language'], number>>> | undefined;
  /** Fixes the interpreter of each version; without it the launcher resolves what the source names. */
  readonly interpreters?: Pick<InterpreterChoice, 'choose'> | undefined;
  /** Asks a server at a URL what it is. */
  readonly describeAttached?: AttachedDescriber | undefined;
  /** Throws `untrusted`. Asked again once a nodeset is compiled: it may have been edited since its trust was looked at. */
  readonly assertTrusted?: (source: NodesetSource) => Promise<void>;
}

export type AttachedDescriber = (source: NodesetSource, signal?: AbortSignal) => Promise<NodesetManifest>;

export interface Describer {
  /** Rejects with `nodeset_failed`, or what befell the process. */
  describe(
    source: NodesetSource,
    signal?: AbortSignal,
    onInterpreter?: (chosen: ChosenInterpreter) => void,
  ): Promise<NodesetVersion>;
  /** False when the sources, or what would run them, changed since; then it must be described anew. */
  isCurrent(version: NodesetVersion): Promise<boolean>;
  /** The next `describe` tries it, also when the same content was given up before. */
  forgetFailure(source: NodesetSource): Promise<void>;
}

/** Environments and caches beside a nodeset hold thousands of files that are not its own. */
const notOwn = /^\.|^__pycache__$|^node_modules$|^site-packages$|venv$/;

/** Raise when the same sources would give another manifest. */
const manifestFormat = 1;
const defaultDescribeMs = { typescript: 60_000, python: 600_000 } as const;
/** Given up at its deadline; the same content would take as long again. */
const cachedFailure = z.object({ format: z.literal(manifestFormat), hash: z.string(), message: z.string() });
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

  const failureFileOf = (name: string): string => path.join(folder, `${name}.gave-up.json`);

  const artifactOf = async (
    source: NodesetSource,
    onInterpreter?: (chosen: ChosenInterpreter) => void,
  ): Promise<Omit<NodesetVersion, 'manifest'>> => {
    if (source.language === 'python') {
      if (runtime.placeOf?.(source) === 'docker') return await inImage(source);
      const interpreter = await options.interpreters?.choose(source);
      if (interpreter) onInterpreter?.(interpreter);
      const hash = await hashOfPython(source, interpreter?.path);
      return { source, bundlePath: undefined, hash, interpreter };
    }
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
    async describe(source, signal, onInterpreter) {
      if (source.origin === 'attached') return await describeServer(source, options.describeAttached, signal);
      const artifact = await artifactOf(source, onInterpreter);
      // Python is asked about when its process starts.
      if (source.language === 'typescript') await options.assertTrusted?.(source);
      const cached = await readManifest(fileOf(source.name, artifact.hash), artifact.hash);
      if (cached) return { ...artifact, manifest: cached };
      const failureFile = failureFileOf(source.name);
      await refuseGivenUp(failureFile, artifact.hash);
      try {
        return { ...artifact, manifest: await ask(artifact, signal) };
      } catch (error) {
        await keepTimeout(failureFile, artifact.hash, error);
        throw error;
      }
    },
    async isCurrent({ source, hash }) {
      const current = await artifactOf(source).catch(() => undefined);
      return current?.hash === hash;
    },
    forgetFailure: ({ name }) => rm(failureFileOf(name), { force: true }),
  };
}

/** Throws what was thrown the last time, when that was a timeout of the same content. */
async function refuseGivenUp(file: string, hash: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const kept = cachedFailure.safeParse(parsedOrNull(text));
  if (!kept.success || kept.data.hash !== hash) return;
  throw new StudioError(
    'timeout',
    `${kept.data.message}; nothing of it changed since, so it was not waited for again. Mend it, or rescan to try it again`,
  );
}

async function keepTimeout(file: string, hash: string, error: unknown): Promise<void> {
  if (!(error instanceof StudioError) || error.code !== 'timeout') return;
  await mkdir(path.dirname(file), { recursive: true });
  await writeWhole(file, JSON.stringify({ format: manifestFormat, hash, message: error.message }));
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Never cached: what answers at a URL may be another one tomorrow. */
async function describeServer(
  source: NodesetSource,
  describe: AttachedDescriber | undefined,
  signal: AbortSignal | undefined,
): Promise<NodesetVersion> {
  if (!describe)
    throw new StudioError('unsupported', 'this host cannot attach to servers; start it with a workspace');
  const manifest = await describe(source, signal);
  const hash = stableHash({ url: source.path, manifest });
  return { source, bundlePath: undefined, hash, manifest };
}

async function readManifest(file: string, hash: string): Promise<NodesetManifest | undefined> {
  try {
    const cached = cachedManifest.parse(JSON.parse(await readFile(file, 'utf8')));
    return cached.hash === hash ? cached.manifest : undefined;
  } catch {
    return undefined;
  }
}

/** Its interpreter is the image's; this machine's are not looked for. */
async function inImage(source: NodesetSource): Promise<Omit<NodesetVersion, 'manifest'>> {
  const image = `image ${source.needs?.image ?? ''}`;
  return { source, bundlePath: undefined, hash: await hashOfPython(source, image) };
}

/** The nodeset's own Python files; packages of its interpreter are not looked at. */
async function hashOfPython(source: NodesetSource, interpreterPath: string | undefined): Promise<string> {
  const files = source.path === source.entry ? [source.entry] : await pythonFilesIn(source.path);
  const inputs = await Promise.all(files.map(async (file) => ({ file, hash: sha256(await readFile(file)) })));
  const interpreter = interpreterPath ?? source.interpreter ?? null;
  return stableHash({ inputs, className: source.className, interpreter });
}

async function pythonFilesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const inside = entries.filter((entry) => entry.isDirectory() && !notOwn.test(entry.name));
  const deeper = await Promise.all(inside.map((entry) => pythonFilesIn(path.join(folder, entry.name))));
  const here = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.py'));
  return [...here.map((entry) => path.join(folder, entry.name)), ...deeper.flat()].sort();
}
