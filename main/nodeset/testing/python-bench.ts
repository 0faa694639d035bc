// A registry with everything Python nodesets need, over files given as text, for tests.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { zipSync } from 'fflate';
import { systemClock } from '../../base/clock.ts';
import type { Attachment, Settings } from '../../contract/settings.ts';
import { pythonCandidates } from '../environments/python-versions.ts';
import { createNodeLauncher } from '../hosts/node-launcher.ts';
import type { NodesetRegistry, ReplicaSet } from '../ports.ts';
import { createPythonLayer, type PythonLayer } from '../python-layer.ts';
import { createLocalProcessSpawner } from '../spawners/local-process.ts';
import { firing, type FiringOptions } from './firing.ts';
import { createTestRegistry, pythonFolder, pythonInterpreter, type TestRegistry } from './test-registry.ts';

/** What tests change as a user would in Settings. */
export interface TestSettings {
  python: string;
  interpreters: Record<string, string>;
  attachments: Attachment[];
}

export interface PythonBench extends AsyncDisposable {
  readonly registry: NodesetRegistry;
  readonly test: TestRegistry;
  readonly layer: PythonLayer;
  readonly settings: TestSettings;
}

export async function createPythonBench(
  files: Readonly<Record<string, string>>,
  settings: Partial<Settings> = {},
): Promise<PythonBench> {
  const test = await createTestRegistry([]);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(test.folder, name)), { recursive: true });
    await writeFile(path.join(test.folder, name), text);
  }
  const live: TestSettings = { python: pythonInterpreter(), interpreters: {}, attachments: [], ...settings };
  const layer = createPythonLayer({
    clock: systemClock,
    processes: test.processes,
    pythonFolder,
    environmentsFolder: path.join(path.dirname(test.folder), 'environments'),
    settings: () => live,
  });
  const registry = test.again({
    findPython: layer.find,
    interpreters: layer.choice,
    environments: layer.environments,
    attachments: () => live.attachments,
    runtime: {
      clock: systemClock,
      spawner: createLocalProcessSpawner({ startHost: (start) => test.processes.startHost(start) }),
      launchers: { typescript: createNodeLauncher(), python: layer.launcher },
    },
  });
  return {
    registry,
    test,
    layer,
    settings: live,
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      await layer.environments[Symbol.asyncDispose]();
      await test[Symbol.asyncDispose]();
    },
  };
}

/** The outputs of one firing of a node of a set. */
export async function fire(
  set: ReplicaSet | undefined,
  nodeType: string,
  inputs: Readonly<Record<string, unknown>> = {},
  context: FiringOptions = {},
): Promise<Record<string, unknown>> {
  const found = set?.catalog.lookup(nodeType);
  if (!found) throw new Error(`no ${nodeType}`);
  const outputs = await found.bind('n1', found.manifest.defaultConfig).forward(inputs, firing(context));
  return outputs as Record<string, unknown>;
}

export interface FoundPython {
  readonly executable: string;
  readonly version: string;
}

/** Pythons of this machine that make environments, one per minor version, oldest first. */
export function usablePythons(): readonly FoundPython[] {
  const byMinor = new Map<number, FoundPython>();
  const program =
    'import sys, ensurepip, venv; print(sys.version_info[1], ".".join(map(str, sys.version_info[:3])), sys.executable)';
  for (const candidate of pythonCandidates({ environment: process.env, homeFolder: os.homedir() })) {
    try {
      const said = execFileSync(candidate, ['-c', program], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const [minor = '', version = '', ...rest] = said.trim().split(' ');
      if (Number(minor) >= 8 && !byMinor.has(Number(minor)) && existsSync(rest.join(' ')))
        byMinor.set(Number(minor), { version, executable: rest.join(' ') });
    } catch {
      // Not one to use.
    }
  }
  return [...byMinor].sort(([a], [b]) => a - b).map(([, found]) => found);
}

/** A wheel with one module that says its version, written as the zip that it is. */
export async function writeWheel(folder: string, name: string, version: string): Promise<void> {
  const info = `${name}-${version}.dist-info`;
  const text = {
    [`${name}/__init__.py`]: `VERSION = ${JSON.stringify(version)}\n`,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  };
  const record = `${[...Object.keys(text), `${info}/RECORD`].map((file) => `${file},,`).join('\n')}\n`;
  const entries = Object.entries({ ...text, [`${info}/RECORD`]: record });
  const zip = zipSync(Object.fromEntries(entries.map(([file, content]) => [file, Buffer.from(content)])));
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, `${name}-${version}-py3-none-any.whl`), zip);
}
