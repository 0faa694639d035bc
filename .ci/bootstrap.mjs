// Entry of every npm script. Runs on any Node >= 20 before anything is installed: installs what the lock file says,
// finds a Node that has what the product needs, builds what changed, then becomes the asked-for program.
import { spawn } from 'node:child_process';
import process from 'node:process';
import { ensureInstalled } from './install.mjs';
import { productNode, productEnvironment } from './product-node.mjs';

const programs = {
  start: { script: '.ci/start.mjs', build: ['engine', 'renderer', 'electron', 'docs'] },
  cli: { script: 'dist/engine/cli.mjs', build: ['engine'] },
  test: { script: '.ci/test.mjs', build: [] },
  check: { script: '.ci/check.mjs', build: [] },
  bench: { script: '.ci/bench.mjs', build: ['engine'] },
  reliability: { script: '.ci/reliability.mjs', build: ['engine'] },
  mutation: { script: '.ci/mutation.mjs', build: [] },
  docs: { script: '.ci/docs.mjs', build: [] },
  e2e: { script: '.ci/e2e.mjs', build: ['engine', 'renderer', 'electron', 'docs'] },
  package: { script: '.ci/package.mjs', build: ['engine', 'renderer', 'electron', 'docs'] },
};

const [name = '', ...rest] = process.argv.slice(2);
const program = programs[name];
if (!program) {
  console.error(`Unknown script "${name}". Known: ${Object.keys(programs).join(', ')}.`);
  process.exit(2);
}
try {
  await ensureInstalled();
  const node = productNode();
  if (program.build.length > 0) await run(node, ['.ci/build.mjs', ...program.build]);
  become(node, [program.script, ...rest]);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(70);
}

/** Runs to the end; its output goes to stderr, so that stdout stays the program's own. */
function run(node, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { cwd: root(), stdio: ['ignore', 2, 2], env: productEnvironment(node) });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${args[0]} failed (exit code ${code}).`)),
    );
  });
}

/** Replaces this process where the system can; otherwise stands in front of it. A terminal's Ctrl-C reaches both, so it is not forwarded. */
function become(node, args) {
  const script = new URL(`../${args[0]}`, import.meta.url);
  const argv = [decodeURIComponent(script.pathname).replace(/^\/([A-Za-z]:)/, '$1'), ...args.slice(1)];
  const env = productEnvironment(node);
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.removeAllListeners('warning');
    process.on('warning', () => {});
    process.execve(node, [node, ...argv], env);
  }
  const child = spawn(node, argv, { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.once('error', (error) => {
    console.error(error.message);
    process.exit(70);
  });
  child.once('exit', (code, signal) => process.exit(signal ? 130 : (code ?? 70)));
}

function root() {
  return decodeURIComponent(new URL('..', import.meta.url).pathname).replace(/^\/([A-Za-z]:)/, '$1');
}
