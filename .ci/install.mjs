// Installs the locked packages when they are missing or the lock file changed since. Nothing else decides.
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import process from 'node:process';

const root = fileURLToPath(new URL('..', import.meta.url));
const marker = fileURLToPath(new URL('../node_modules/.installed-lock', import.meta.url));

export async function ensureInstalled() {
  const lock = await readFile(fileURLToPath(new URL('../package-lock.json', import.meta.url)));
  const wanted = createHash('sha256').update(lock).digest('hex');
  const present = await readFile(marker, 'utf8').catch(() => '');
  if (present === wanted) return;
  console.error('Installing packages (once per change of the lock file) …');
  await npmCi();
  await writeFile(marker, wanted);
}

function npmCi() {
  const npm = process.env.npm_execpath;
  const [command, args] = npm
    ? [process.execPath, [npm]]
    : [process.platform === 'win32' ? 'npm.cmd' : 'npm', []];
  // The skipped scripts only download what the packages already contain (CUDA files, a second esbuild) or what is fetched on demand.
  const env = {
    ...process.env,
    ONNXRUNTIME_NODE_INSTALL: 'skip',
    ELECTRON_SKIP_BINARY_DOWNLOAD: '1',
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1',
  };
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: root,
      stdio: ['ignore', 2, 2],
      env,
    });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0
        ? resolve()
        : reject(
            new Error(`npm ci failed (exit code ${code}). Check the network and run the command again.`),
          ),
    );
  });
}
