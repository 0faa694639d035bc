// Builds the named targets when their sources changed: engine (bundles for plain Node), electron (shell), renderer
// (vite). A stamp of paths, sizes and times under dist/ says what was built from what.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';
import { buildDocs } from './docs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => path.join(root, ...parts);

// Only a build that is going to be signed may look for updates.
const signedBuild = String(process.env.AGENTCANVAS_SIGNED === '1');

const nodeBundle = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  sourcemap: true,
  splitting: true,
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunk-[hash]',
  // jsonc-parser's CommonJS build hides its own files from a bundler.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  external: ['electron', 'esbuild', 'onnxruntime-node'],
  // Some bundled packages are CommonJS and call require for builtins.
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
  },
  logLevel: 'warning',
};

const targets = {
  engine: {
    sources: ['main', 'package.json', '.ci/build.mjs'],
    async make() {
      const entries = {
        cli: 'main/hosts/cli.ts',
        studio: 'main/studio.ts',
        'node-host': 'main/nodeset/hosts/node-host.ts',
        'model-host': 'main/inference/model-host-main.ts',
        'reaper-main': 'main/process/reaper-main.ts',
        'bulk-worker': 'main/store/bulk-worker.ts',
        agentcanvas: 'main/nodeset/author/agentcanvas.ts',
      };
      await replaceFolder('dist/engine', [
        await build({ ...nodeBundle, entryPoints: entries, outdir: 'dist/engine', write: false }),
      ]);
    },
  },
  electron: {
    sources: ['electron', 'main', 'package.json', '.ci/build.mjs'],
    stampedWith: signedBuild,
    async make() {
      if (!existsSync(at('electron/main.ts'))) return;
      const { splitting: _splitting, banner: _banner, outExtension: _extension, ...script } = nodeBundle;
      const shell = {
        ...nodeBundle,
        entryPoints: { main: 'electron/main.ts' },
        outdir: 'dist/electron',
        // The updater is imported late but lies in the same file.
        splitting: false,
        define: { __SIGNED_BUILD__: signedBuild },
        write: false,
      };
      const preload = {
        ...script,
        entryPoints: { preload: 'electron/preload.ts' },
        outdir: 'dist/electron',
        format: 'cjs',
        outExtension: { '.js': '.cjs' },
        write: false,
      };
      await replaceFolder('dist/electron', [await build(shell), await build(preload)]);
    },
  },
  renderer: {
    sources: ['renderer', 'main/contract', 'main/base/error-codes.ts', 'vite.config.ts', 'package.json'],
    async make() {
      if (!existsSync(at('renderer/index.html'))) return;
      await program(process.execPath, [at('node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn']);
    },
  },
  docs: {
    sources: ['docs', '.ci/docs.mjs'],
    async make() {
      // A start is not refused for a wrong link; the tests are.
      await buildDocs({ onProblems: (problems) => console.error(problems.join('\n')) });
    },
  },
};

for (const name of process.argv.slice(2)) {
  const target = targets[name];
  if (!target) throw new Error(`Unknown build target "${name}".`);
  const stampFile = at('dist', `.${name}.stamp`);
  const stamp = await stampOf(target);
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === stamp) continue;
  await target.make();
  await mkdir(at('dist'), { recursive: true });
  await writeFile(stampFile, stamp);
}

/** Only when everything was built: a build that fails leaves the last good one. */
async function replaceFolder(folder, results) {
  await rm(at(folder), { recursive: true, force: true });
  await mkdir(at(folder), { recursive: true });
  for (const { outputFiles } of results)
    for (const file of outputFiles) await writeFile(file.path, file.contents);
}

async function stampOf({ sources, stampedWith = '' }) {
  const hash = createHash('sha256').update(stampedWith);
  for (const source of sources) await addTo(hash, at(source));
  return hash.digest('hex');
}

async function addTo(hash, file) {
  const info = await stat(file).catch(() => null);
  if (!info) return;
  if (!info.isDirectory()) {
    hash.update(`${path.relative(root, file)}\0${info.size}\0${info.mtimeMs}\n`);
    return;
  }
  for (const entry of (await readdir(file)).sort()) await addTo(hash, path.join(file, entry));
}

function program(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${path.basename(args[0])} failed (exit code ${code}).`)),
    );
  });
}
