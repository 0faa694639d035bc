import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createInterpreterResolver, type InterpreterResolverOptions } from './interpreter-resolver.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'interpreters 🐍-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function program(...parts: readonly string[]): Promise<string> {
  const file = path.join(folder, ...parts);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, '#!/bin/sh\n', { mode: 0o755 });
  return file;
}

async function resolved(
  wanted: string | undefined,
  options: InterpreterResolverOptions = {},
): Promise<string> {
  const environment = { PATH: path.join(folder, 'bin'), ...options.environment };
  return await createInterpreterResolver({ ...options, environment, homeFolder: folder })({
    wanted,
    baseFolder: path.join(folder, 'nodesets'),
  });
}

describe.skipIf(process.platform === 'win32')('the interpreter of a nodeset', () => {
  it('is python3 on PATH, unless Settings or the nodeset name another', async () => {
    const usual = await program('bin', 'python3');
    const other = await program('bin', 'python3.9');
    expect(await resolved(undefined)).toBe(usual);
    expect(await resolved(undefined, { defaultInterpreter: 'python3.9' })).toBe(other);
    expect(await resolved('python3', { defaultInterpreter: 'python3.9' })).toBe(usual);
  });

  it('is found by absolute, home and relative path', async () => {
    const file = await program('nodesets', 'tools', 'python');
    expect(await resolved(file)).toBe(file);
    expect(await resolved('~/nodesets/tools/python')).toBe(file);
    expect(await resolved('./tools/python')).toBe(file);
  });

  it('is found in a virtual environment beside the nodeset', async () => {
    const file = await program('nodesets', '.venv', 'bin', 'python');
    expect(await resolved('venv:.venv')).toBe(file);
  });

  it('is found in conda environments: usual roots, registered prefixes, the active one', async () => {
    const usual = await program('miniconda3', 'envs', 'vlnce', 'bin', 'python');
    expect(await resolved('conda:vlnce')).toBe(usual);
    const base = await program('miniconda3', 'bin', 'python3');
    expect(await resolved('conda:base')).toBe(base);
    const registered = await program('data', 'envs', 'far', 'bin', 'python');
    await mkdir(path.join(folder, '.conda'), { recursive: true });
    await writeFile(
      path.join(folder, '.conda', 'environments.txt'),
      `${path.join(folder, 'data/envs/far')}\n`,
    );
    expect(await resolved('conda:far')).toBe(registered);
    const sibling = await program('conda', 'envs', 'other', 'bin', 'python');
    expect(
      await resolved('conda:other', {
        environment: { CONDA_PREFIX: path.join(folder, 'conda/envs/active') },
      }),
    ).toBe(sibling);
  });

  it('is refused with the places looked at and a remedy', async () => {
    await expect(resolved('conda:none')).rejects.toMatchObject({
      code: 'interpreter_not_found',
      message: expect.stringMatching(/conda create -n none python.*Looked for .*none/) as string,
    });
    await expect(resolved('python2')).rejects.toThrow(/Looked for .*bin\/python2/);
    await writeFile(path.join(folder, 'not-executable'), '', { mode: 0o644 });
    await expect(resolved('~/not-executable')).rejects.toMatchObject({ code: 'interpreter_not_found' });
  });

  it('of requirements comes from the environment builder', async () => {
    expect(
      await resolved('uv:numpy==2', { managedEnvironment: (wanted) => Promise.resolve(`/envs/${wanted}`) }),
    ).toBe('/envs/numpy==2');
    await expect(resolved('uv:numpy')).rejects.toMatchObject({ code: 'interpreter_not_found' });
  });
});
