import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createProcessRegistry } from '../../process/process-registry.ts';
import type { ProcessRegistry } from '../../process/ports.ts';
import { pythonInterpreter } from '../testing/test-registry.ts';
import { usablePythons, writeWheel } from '../testing/python-bench.ts';
import { createPythonEnvironments, type PythonEnvironments } from './python-environments.ts';
import { createPythonProbe } from './python-probe.ts';

let root: string;
let processes: ProcessRegistry;
const pythons = usablePythons();

beforeAll(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'environments ☂ '));
  processes = await createProcessRegistry({ clock: systemClock });
  await writeWheel(path.join(root, 'wheels'), 'ac_sample', '1.0');
  vi.stubEnv('PIP_NO_INDEX', '1');
  vi.stubEnv('PIP_FIND_LINKS', new URL(`file://${path.join(root, 'wheels')}`).href);
  vi.stubEnv('PIP_CONSTRAINT', '');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await processes[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

function environments(name: string, environment?: Record<string, string>): PythonEnvironments {
  const probe = createPythonProbe({ processes, clock: systemClock });
  return createPythonEnvironments({
    processes,
    clock: systemClock,
    probe,
    folder: path.join(root, name),
    preferred: () => Promise.resolve(pythons.at(-1)?.executable ?? pythonInterpreter()),
    environment: environment ?? { PATH: '/nowhere' },
  });
}

function watcher(): {
  stages: string[];
  lines: string[];
  onStage: (stage: string) => void;
  onLine: (line: string) => void;
} {
  const stages: string[] = [];
  const lines: string[] = [];
  return { stages, lines, onStage: (stage) => stages.push(stage), onLine: (line) => lines.push(line) };
}

const spec = { requirements: ['ac_sample==1.0'], requiresPython: '>=3.8' };

// Each makes an environment or two: seconds alone, much longer on a machine that does other things.
describe.skipIf(pythons.length === 0)('an environment the app builds', { timeout: 120_000 }, () => {
  it('is built once for all who ask, remembered, and found by what it contains', async () => {
    await using all = environments('once');
    expect(await all.find(spec)).toBeUndefined();
    const [first, second] = [watcher(), watcher()];
    const [built, same] = await Promise.all([all.build(spec, first), all.build(spec, second)]);
    expect(same).toBe(built);
    expect(first.stages).toEqual(['resolving', 'creating', 'installing', 'checking']);
    expect(second.stages.at(-1)).toBe('checking');
    expect(first.lines.join('\n')).toMatch(/Successfully installed ac[_-]sample-1\.0/);
    expect(built).toMatchObject({ tool: 'pip', pythonVersion: pythons.at(-1)?.version });
    await using later = environments('once');
    expect(await later.find(spec)).toEqual(built);
    expect(await later.find({ ...spec, requirements: ['ac_sample'] })).toBeUndefined();
    const facts = await createPythonProbe({ processes, clock: systemClock }).ask(built.interpreter, {
      modules: ['ac_sample', 'ac_other'],
      distributions: ['ac-sample', 'ac-other'],
    });
    expect(facts).toMatchObject({ missing: ['ac_other'], installed: { 'ac-sample': '1.0' } });
  });

  it('that fails says which command and why, leaves nothing, and can be tried again', async () => {
    await using all = environments('failing');
    const bad = { requirements: ['ac_absent==9'], requiresPython: '' };
    await expect(all.build(bad, watcher())).rejects.toMatchObject({
      code: 'nodeset_failed',
      message: expect.stringMatching(
        /pip install .*ac_absent==9" ended with exit code 1: ERROR: .*ac_absent/,
      ) as string,
    });
    expect(await readdir(path.join(root, 'failing'))).toEqual([]);
    await writeWheel(path.join(root, 'wheels'), 'ac_absent', '9');
    await expect(all.build(bad, watcher())).resolves.toMatchObject({ requirements: ['ac_absent==9'] });
  });

  it('is stopped by whoever waits for it and leaves nothing', async () => {
    await using all = environments('cancelled');
    const stop = new AbortController();
    const seen = watcher();
    const onStage = (stage: string): void => {
      seen.onStage(stage);
      if (stage === 'creating') setTimeout(() => stop.abort(), 200);
    };
    await expect(all.build(spec, { ...seen, onStage, signal: stop.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(seen.stages).not.toContain('installing');
    expect(await readdir(path.join(root, 'cancelled'))).toEqual([]);
    expect(processes.list().filter(({ exitInfo }) => exitInfo === undefined)).toEqual([]);
  });

  it('is not possible without a Python of the stated versions, and the refusal lists what there is', async () => {
    await using all = environments('versions');
    const wanted = { requirements: [], requiresPython: '>=9' };
    await expect(all.build(wanted, watcher())).rejects.toMatchObject({
      code: 'interpreter_not_found',
      message: expect.stringContaining(`found: ${pythons.at(-1)?.version} at `) as string,
    });
  });

  it.skipIf(process.platform === 'win32')('is built with uv where that is on PATH', async () => {
    const bin = path.join(root, 'bin');
    await mkdir(bin);
    // Stands for uv: notes its arguments, and makes what it is asked for with the standard library.
    await writeFile(
      path.join(bin, 'uv'),
      `#!/bin/sh\necho "uv $*"\nif [ "$1" = venv ]; then exec "$3" -m venv --without-pip "$4"; fi\n`,
    );
    await chmod(path.join(bin, 'uv'), 0o755);
    await using all = environments('uv', { PATH: bin });
    const seen = watcher();
    const built = await all.build(spec, seen);
    expect(built.tool).toBe('uv');
    expect(existsSync(built.interpreter)).toBe(true);
    expect(seen.lines).toContain(`uv pip install --python ${built.interpreter} ac_sample==1.0`);
  });
});
