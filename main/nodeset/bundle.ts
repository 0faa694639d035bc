// One nodeset through esbuild. Own files are bundled and hashed exactly as read; packages stay where they are
// installed (they may carry native code) and are identified by their package.json; `agentcanvas` is the app's module,
// shared with the engine so that a Tensor is the same class on both sides.
import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type {
  BuildFailure,
  Loader,
  Message,
  OnLoadArgs,
  OnResolveArgs,
  OnResolveResult,
  Plugin,
  PluginBuild,
} from 'esbuild';
import { StudioError, messageOf } from '../base/errors.ts';
import { sha256 } from '../base/stable-hash.ts';

export interface BundledInput {
  readonly file: string;
  readonly hash: string;
}

export interface BundleRequest {
  readonly name: string;
  readonly entry: string;
  readonly authorUrl: string;
  /** Where the bundle will lie: its source map points from there. */
  readonly outFolder: string;
}

export interface Bundle {
  readonly code: string;
  /** Sorted by file. */
  readonly inputs: readonly BundledInput[];
}

let openBuilds = 0;

/** Rejects with `nodeset_failed` and file:line:column of each problem. */
export async function bundleNodeset(request: BundleRequest): Promise<Bundle> {
  const { build, stop } = await import('esbuild');
  const inputs = new Map<string, string>();
  openBuilds++;
  try {
    const result = await build({
      entryPoints: [request.entry],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      sourcemap: 'inline',
      sourcesContent: false,
      outfile: path.join(request.outFolder, `${request.name}.mjs`),
      logLevel: 'silent',
      // The nearest tsconfig.json is not ours to follow, and would be an input nobody hashes.
      tsconfigRaw: '{}',
      define: sourceLocation(request.entry),
      plugins: [nodesetPlugin(request.authorUrl, inputs)],
    });
    const [output] = result.outputFiles;
    if (!output) throw new StudioError('internal', `esbuild wrote nothing for ${request.entry}`);
    return {
      code: output.text,
      inputs: [...inputs].map(([file, hash]) => ({ file, hash })).sort((a, b) => (a.file < b.file ? -1 : 1)),
    };
  } catch (error) {
    throw compileError(request, error);
  } finally {
    // The compiler is a process of its own; it goes when nobody needs it.
    if (--openBuilds === 0) await stop();
  }
}

/** A nodeset finds its data files beside its entry, though its bundle lies in a cache. */
function sourceLocation(entry: string): Record<string, string> {
  return {
    'import.meta.url': JSON.stringify(pathToFileURL(entry).href),
    'import.meta.filename': JSON.stringify(entry),
    'import.meta.dirname': JSON.stringify(path.dirname(entry)),
  };
}

const loaders: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.json': 'json',
  '.txt': 'text',
};

function nodesetPlugin(authorUrl: string, inputs: Map<string, string>): Plugin {
  return {
    name: 'nodeset',
    setup(build) {
      build.onResolve({ filter: /^agentcanvas$/ }, () => ({ path: authorUrl, external: true }));
      build.onResolve({ filter: /^[^./\\]/ }, (args) => resolvePackage(build, args, inputs));
      build.onLoad({ filter: /./, namespace: 'file' }, (args) => loadFile(args, inputs));
    },
  };
}

async function loadFile(
  args: OnLoadArgs,
  inputs: Map<string, string>,
): Promise<{ contents: Uint8Array; loader: Loader } | undefined> {
  const loader = loaders[path.extname(args.path)];
  if (loader === undefined) return undefined;
  const contents = await readFile(args.path);
  inputs.set(args.path, sha256(contents));
  return { contents, loader };
}

const inResolution = Symbol('in resolution');

async function resolvePackage(
  build: PluginBuild,
  args: OnResolveArgs,
  inputs: Map<string, string>,
): Promise<OnResolveResult | undefined> {
  if (
    args.kind === 'entry-point' ||
    args.pluginData === inResolution ||
    path.isAbsolute(args.path) ||
    args.path.startsWith('node:')
  )
    return undefined;
  const { importer, kind, namespace, resolveDir } = args;
  const found = await build.resolve(args.path, {
    importer,
    kind,
    namespace,
    resolveDir,
    pluginData: inResolution,
  });
  if (found.errors.length > 0) return { errors: [notInstalled(args)] };
  if (found.external || !found.path.includes(`${path.sep}node_modules${path.sep}`)) return undefined;
  const description = descriptionOf(found.path);
  if (description) inputs.set(description, sha256(await readFile(description)));
  return { path: pathToFileURL(found.path).href, external: true };
}

function notInstalled(args: OnResolveArgs): { text: string } {
  return {
    text: `the package "${args.path}" is not installed; run \`npm install ${args.path}\` in ${args.resolveDir} or above`,
  };
}

/** The nearest package.json above a file inside node_modules. */
function descriptionOf(file: string): string | undefined {
  for (
    let folder = path.dirname(file);
    path.basename(folder) !== 'node_modules';
    folder = path.dirname(folder)
  ) {
    const candidate = path.join(folder, 'package.json');
    if (existsSync(candidate)) return candidate;
    if (folder === path.dirname(folder)) return undefined;
  }
  return undefined;
}

function compileError(request: BundleRequest, error: unknown): StudioError {
  if (error instanceof StudioError) return error;
  const lines = isBuildFailure(error) ? error.errors.map((message) => lineOf(message)) : [messageOf(error)];
  return new StudioError(
    'nodeset_failed',
    `nodeset "${request.name}" does not compile:\n${lines.join('\n')}`,
    {
      cause: error,
      details: { problems: lines },
    },
  );
}

function lineOf(message: Message): string {
  const { location, text } = message;
  return location ? `${path.resolve(location.file)}:${location.line}:${location.column + 1}: ${text}` : text;
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}
