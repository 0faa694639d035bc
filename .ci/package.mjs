// Packages the app for this system: `npm run package` makes installers, `-- --dir` the unpacked folder. Where the
// Electron binary cannot be had, `-- --dir --stub` packs around a stand-in with a fuse wire, which is enough to prove
// what an installer contains and that the packaged engine runs. Nothing is published from here.
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { build, Platform } from 'electron-builder';
import { writeBillOfMaterials } from './sbom.mjs';
import { root } from './steps.mjs';
import { updateFeed } from './update-feed.mjs';

const asked = process.argv.slice(2);
const stub = asked.includes('--stub');
const electronVersion = (await import('electron/package.json', { with: { type: 'json' } })).default.version;
const feed = updateFeed(process.env);
const config = {
  extends: path.join(root, 'electron-builder.yml'),
  electronVersion,
  publish: feed,
  ...(process.env.AGENTCANVAS_PACKAGE_OUTPUT
    ? { directories: { output: process.env.AGENTCANVAS_PACKAGE_OUTPUT } }
    : {}),
  // An app that looks for updates and is not signed after all must not come about.
  ...(feed && !stub ? { forceCodeSigning: true } : {}),
  ...(stub ? { electronDist: await makeStub() } : {}),
};
const targets = asked.includes('--dir')
  ? Platform.current().createTarget('dir')
  : Platform.current().createTarget();
await build({ projectDir: root, targets, config, publish: 'never' });
await writeBillOfMaterials(path.resolve(root, process.env.AGENTCANVAS_PACKAGE_OUTPUT ?? 'release'));

/** A folder with the files the packer looks for; the program holds Electron's fuse wire and nothing else. */
async function makeStub() {
  const folder = path.join(root, '.cache', 'electron-stub');
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.join(folder, 'resources'), { recursive: true });
  await mkdir(path.join(folder, 'locales'), { recursive: true });
  const fuseCount = 9;
  const wire = Buffer.concat([
    Buffer.from('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'),
    Buffer.from([1, fuseCount]),
    Buffer.from('1'.repeat(fuseCount)),
  ]);
  await writeFile(path.join(folder, 'electron'), Buffer.concat([Buffer.from('#!/bin/sh\nexit 1\n'), wire]));
  await chmod(path.join(folder, 'electron'), 0o755);
  for (const file of ['version', 'LICENSE', 'LICENSES.chromium.html', 'locales/en-US.pak'])
    await writeFile(path.join(folder, file), file === 'version' ? electronVersion : '');
  return folder;
}
