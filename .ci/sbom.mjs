// The software bill of materials beside the installers: CycloneDX, from the lock file alone, so nothing is asked of the
// network. What it marks as development is either a tool or bundled into the interface.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { root } from './steps.mjs';

/** Resolves with the file's path. */
export async function writeBillOfMaterials(folder) {
  const npm = process.env.npm_execpath;
  const [command, first] = npm
    ? [process.execPath, [npm]]
    : [process.platform === 'win32' ? 'npm.cmd' : 'npm', []];
  const asked = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--offline'];
  const { stdout } = await promisify(execFile)(command, [...first, ...asked], {
    cwd: root,
    maxBuffer: 64 * 2 ** 20,
    shell: process.platform === 'win32' && !npm,
  });
  const bill = JSON.parse(stdout);
  bill.metadata.component.name = 'agentcanvas-desktop';
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, 'sbom.cdx.json');
  await writeFile(file, `${JSON.stringify(bill, null, 1)}\n`);
  return file;
}
