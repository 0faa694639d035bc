import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('./node-host.ts', import.meta.url));
const run = promisify(execFile);
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'node-host-'));
  file = path.join(folder, 'toy.mjs');
  await writeFile(
    file,
    `export default { name: 'toy', create: () => ({ nodes: [{ name: 'act', forward: () => ({}) }] }) };`,
  );
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('the host program of TypeScript nodesets', () => {
  it('prints a manifest in the form of the wire', async () => {
    const { stdout } = await run(process.execPath, [
      program,
      '--file',
      file,
      '--name',
      'toy',
      '--manifest-only',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'toy',
      has_env_panel: false,
      nodes: [{ node_type: 'toy__act' }],
    });
  });

  it('exits with 2 on a wrong command line and with 1 on a nodeset that is none', async () => {
    await expect(run(process.execPath, [program, '--file', file])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--name NAME/) as string,
    });
    await expect(
      run(process.execPath, [program, '--file', file, '--name', 'other', '--manifest-only']),
    ).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/calls itself "toy"/) as string });
  });

  it('does not serve when it is started by hand', async () => {
    await expect(run(process.execPath, [program, '--file', file, '--name', 'toy'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/started by the app, not by hand/) as string,
    });
  });
});
