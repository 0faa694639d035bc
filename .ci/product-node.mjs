// The Node the product runs on outside Electron: 24 from the locked platform package, else one on this machine that
// has node:sqlite without a flag (22.13 or newer).
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import process from 'node:process';

const modules = fileURLToPath(new URL('../node_modules', import.meta.url));

export function productNode() {
  const binary = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const packaged = path.join(modules, `node-${system}-${process.arch}`, binary);
  if (existsSync(packaged)) return packaged;
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 13)) return process.execPath;
  throw new Error(
    `This system needs Node 22.13 or newer (found ${process.versions.node}, and there is no packaged Node for ${process.platform} ${process.arch}). Install Node 24 from nodejs.org and run the command again.`,
  );
}

/** The environment with that Node, and the packages' programs, first on PATH. */
export function productEnvironment(node) {
  const entries = [path.dirname(node), path.join(modules, '.bin'), process.env.PATH ?? ''];
  return { ...process.env, PATH: entries.join(path.delimiter), ONNXRUNTIME_NODE_INSTALL: 'skip' };
}
