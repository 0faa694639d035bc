import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Tensor } from '../base/tensor.ts';
import type { NodesetSummary } from '../contract/nodeset.ts';
import type { NodesetRegistry } from './ports.ts';
import {
  createPythonBench,
  fire,
  usablePythons,
  writeWheel,
  type PythonBench,
} from './testing/python-bench.ts';
import { pythonInterpreter } from './testing/test-registry.ts';

const pythons = usablePythons();
const interpreter = pythonInterpreter();
let bench: PythonBench | undefined;

afterEach(async () => {
  vi.unstubAllEnvs();
  await bench?.[Symbol.asyncDispose]();
  bench = undefined;
});

async function open(...args: Parameters<typeof createPythonBench>): Promise<PythonBench> {
  bench = await createPythonBench(...args);
  return bench;
}

function summary(registry: NodesetRegistry, name: string): NodesetSummary {
  const found = registry.list().find((each) => each.name === name);
  if (!found) throw new Error(`${name} is not listed`);
  return found;
}

/** A nodeset whose node says which Python runs it and what `imported` gives it. */
function speaker(
  name: string,
  more: { script?: string; imports?: string; python?: string; says?: string },
): string {
  return `${more.script ?? ''}
import os, sys
from app.components import BaseCanvasNode, BaseNodeSet, PortDef
${more.imports ?? ''}

class Say(BaseCanvasNode):
    node_type = "${name}__say"
    input_ports = [PortDef("heard", "TEXT", "", optional=True)]
    output_ports = [PortDef("said", "TEXT", ""), PortDef("python", "TEXT", "")]

    def forward(self, inputs, ctx):
        return {"said": (inputs.get("heard") or "") + ${more.says ?? '"hello"'}, "python": "%d.%d.%d" % sys.version_info[:3]}

class ${name.toUpperCase()}(BaseNodeSet):
    name = "${name}"
    ${more.python ?? ''}

    def get_tools(self):
        return [Say()]
`;
}

describe.skipIf(pythons.length < 2)('two nodesets with conflicting dependencies', () => {
  it('run in one graph, each with its own Python and its own version of a package', async () => {
    const [oldest, newest] = [pythons[0], pythons.at(-1)];
    const script = (version: string, python: string | undefined): string =>
      `# /// script\n# requires-python = "==${python}"\n# dependencies = ["ac_conflict==${version}"]\n# ///`;
    const says = { imports: 'import ac_conflict', says: 'ac_conflict.VERSION + ";"' };
    const { registry, test } = await open({
      'alpha.py': speaker('alpha', { ...says, script: script('1.0', oldest?.version) }),
      'beta.py': speaker('beta', { ...says, script: script('2.0', newest?.version) }),
    });
    const wheels = path.join(path.dirname(test.folder), 'wheels');
    await writeWheel(wheels, 'ac_conflict', '1.0');
    await writeWheel(wheels, 'ac_conflict', '2.0');
    vi.stubEnv('PIP_NO_INDEX', '1');
    vi.stubEnv('PIP_FIND_LINKS', new URL(`file://${wheels}`).href);
    vi.stubEnv('PIP_CONSTRAINT', '');

    await registry.scan();
    expect(summary(registry, 'alpha')).toMatchObject({
      state: 'failed',
      errorCode: 'interpreter_not_found',
      error: expect.stringMatching(
        /environment missing.*ac_conflict==1\.0.*agentcanvas nodesets build-env alpha/,
      ) as string,
      environment: {
        state: 'missing',
        requirements: ['ac_conflict==1.0'],
        command: 'agentcanvas nodesets build-env alpha',
      },
    });
    const stages: (string | undefined)[] = [];
    using _changes = registry.onChange(({ environment }) => stages.push(environment?.stage));
    expect(await registry.buildEnvironment('alpha')).toMatchObject({
      state: 'found',
      interpreterFrom: 'script',
      environment: { state: 'ready' },
    });
    expect(new Set(stages)).toEqual(new Set(['resolving', 'creating', 'installing', 'checking', undefined]));
    expect(registry.logTail('alpha').join('\n')).toMatch(
      /environment: Successfully installed ac[_-]conflict-1\.0/,
    );
    await registry.buildEnvironment('beta');

    await using session = await registry.ensureNodesetsForGraph(['alpha', 'beta'], { replicaCount: 1 });
    const [set] = session.initial;
    const first = await fire(set, 'alpha__say', {});
    const second = await fire(set, 'beta__say', { heard: first['said'] });
    expect(first).toEqual({ said: '1.0;', python: oldest?.version });
    expect(second).toEqual({ said: '1.0;2.0;', python: newest?.version });
  }, 240_000);
});

describe.skipIf(!existsSync(interpreter))('the interpreter of a Python nodeset', () => {
  it('is the default where that has what a PEP 723 block asks for, in versions that fit', async () => {
    const block = (requirement: string): string => `# /// script\n# dependencies = ["${requirement}"]\n# ///`;
    const { registry, test } = await open({
      'fits.py': speaker('fits', { script: block('ac_present>=1.0') }),
      'newer.py': speaker('newer', { script: block('ac-present>=2') }),
    });
    const site = path.join(path.dirname(test.folder), 'site');
    await mkdir(path.join(site, 'ac_present-1.5.dist-info'), { recursive: true });
    await writeFile(
      path.join(site, 'ac_present-1.5.dist-info', 'METADATA'),
      'Metadata-Version: 2.1\nName: ac_present\nVersion: 1.5\n',
    );
    vi.stubEnv('PYTHONPATH', site);
    await registry.scan();
    expect(summary(registry, 'fits')).toMatchObject({
      state: 'found',
      interpreterFrom: 'default',
      interpreterPath: interpreter,
      environment: { state: 'unneeded' },
    });
    expect(summary(registry, 'newer')).toMatchObject({ state: 'failed', environment: { state: 'missing' } });
  });

  it('is what Settings say for it, before what it states itself, and a change makes a new version', async () => {
    const { registry, settings } = await open({
      'stated.py': speaker('stated', { python: 'server_python = "/nowhere/python"' }),
    });
    await registry.scan();
    expect(summary(registry, 'stated')).toMatchObject({
      state: 'failed',
      errorCode: 'interpreter_not_found',
      interpreter: '/nowhere/python',
      error: expect.stringContaining('Looked for /nowhere/python') as string,
    });
    settings.interpreters['stated'] = interpreter;
    await registry.reload('stated');
    const { sourceHash } = summary(registry, 'stated');
    expect(summary(registry, 'stated')).toMatchObject({
      state: 'found',
      mode: 'server',
      interpreterPath: interpreter,
      interpreterFrom: 'settings',
    });
    const other = pythons.find(({ executable }) => executable !== interpreter);
    if (!other) return;
    settings.interpreters['stated'] = other.executable;
    await registry.reload('stated');
    expect(summary(registry, 'stated').sourceHash).not.toBe(sourceHash);
  });

  it('that is code is asked of the nodeset once, in a process of its own, and not while scanning untrusted folders', async () => {
    const text = speaker('computed', {
      imports: 'def find():\n    print("asked", file=sys.stderr)\n    return os.environ["AC_TEST_PYTHON"]',
      python: 'server_python = find()',
    });
    vi.stubEnv('AC_TEST_PYTHON', interpreter);
    const { registry, test, layer } = await open({ 'computed.py': text });
    await registry.scan();
    expect(summary(registry, 'computed')).toMatchObject({
      state: 'found',
      interpreter: 'code in server_python',
      interpreterPath: interpreter,
      interpreterFrom: 'nodeset',
    });
    const spawned = vi.spyOn(test.processes, 'spawn');
    await using careful = test.again({
      findPython: layer.find,
      interpreters: layer.choice,
      isTrusted: () => false,
    });
    await careful.scan();
    expect(careful.list()).toMatchObject([{ name: 'computed', state: 'failed', errorCode: 'untrusted' }]);
    expect(spawned.mock.calls.map(([{ label }]) => label)).toEqual(['find-nodesets']);
  });

  it('that lacks a module is named with the module and what to do, while the rest works', async () => {
    const { registry } = await open({
      'needy.py': speaker('needy', { imports: 'import ac_simulator.core' }),
      'content.py': speaker('content', {}),
    });
    await registry.scan();
    expect(summary(registry, 'content').state).toBe('found');
    const { error = '' } = summary(registry, 'needy');
    expect(error).toMatch(
      /^ModuleNotFoundError: no module ac_simulator in \S+ \(Python 3\.[\d.]+\), which \S.*needy\.py imports\./,
    );
    expect(error).toContain(`in ${interpreter} (Python`);
    expect(error).toContain(`\`${interpreter} -m pip install ac_simulator\``);
    expect(error).toContain('`agentcanvas nodesets set-interpreter needy PYTHON`');
    expect(registry.importsOf('needy')).toEqual(['ac_simulator', 'app', 'os', 'sys']);
    await expect(registry.ensureNodesetsForGraph(['needy'], { replicaCount: 1 })).rejects.toMatchObject({
      code: 'nodeset_failed',
      details: { interpreter },
    });
  });

  it.skipIf(process.platform === 'win32')(
    'that is too old, or no Python, is named with what it is',
    async () => {
      const { registry, test, settings } = await open({ 'plain.py': speaker('plain', {}) });
      const fake = path.join(path.dirname(test.folder), 'python3');
      // Says what Python 3.6 would: the host does not parse there.
      await writeFile(
        fake,
        `#!/bin/sh\ncase "$1" in -c) echo '{"version": "3.6.15", "executable": "${fake}", "hasVenv": true, "missing": [], "installed": {}}' >&3;; *) echo "SyntaxError: invalid syntax" >&2; exit 1;; esac\n`,
      );
      await chmod(fake, 0o755);
      settings.interpreters['plain'] = fake;
      await registry.scan();
      expect(summary(registry, 'plain').error).toMatch(
        /exit code 1.*python3.*It is Python 3\.6\.15; nodesets need 3\.8 or newer.*set-interpreter plain/s,
      );
      settings.interpreters['plain'] = '/bin/true';
      await registry.reload('plain').catch(() => undefined);
      expect(summary(registry, 'plain').error).toContain('/bin/true cannot be used as a Python interpreter');
    },
  );

  it('may be a virtual environment’s or a conda environment’s, found by name', async () => {
    const { registry, test } = await open({
      'one.py': speaker('one', { python: 'server_python = "venv:envs/one ☂"' }),
      'two.py': speaker('two', {
        imports: 'from app.components import conda_env_python',
        python: 'server_python = conda_env_python("ac-two", "AC_TWO_PYTHON")',
      }),
    });
    const conda = path.join(path.dirname(test.folder), 'conda', 'envs');
    vi.stubEnv('CONDA_ENVS_PATH', conda);
    for (const prefix of [path.join(test.folder, 'envs', 'one ☂'), path.join(conda, 'ac-two')]) {
      await mkdir(path.join(prefix, 'bin'), { recursive: true });
      await writeFile(path.join(prefix, 'bin', 'python3'), `#!/bin/sh\nexec '${interpreter}' "$@"\n`);
      await chmod(path.join(prefix, 'bin', 'python3'), 0o755);
    }
    await registry.scan();
    expect(registry.list().map(({ name, state, interpreterPath }) => [name, state, interpreterPath])).toEqual(
      [
        ['one', 'found', path.join(test.folder, 'envs', 'one ☂', 'bin', 'python3')],
        ['two', 'found', path.join(conda, 'ac-two', 'bin', 'python3')],
      ],
    );
  });
});

describe.skipIf(!existsSync(interpreter))('arrays of a Python nodeset', () => {
  it.skipIf(process.platform !== 'linux')(
    'of a megabyte come back exactly, through shared memory that goes with the process',
    async () => {
      const { registry } = await open({
        'echo.py': `
from app.components import BaseCanvasNode, BaseNodeSet, PortDef

class Echo(BaseCanvasNode):
    node_type = "echo__echo"
    input_ports = [PortDef("value", "ANY", "")]
    output_ports = [PortDef("value", "ANY", "")]

    def forward(self, inputs, ctx):
        return {"value": inputs["value"]}

class EchoNodeSet(BaseNodeSet):
    name = "echo"
    def get_tools(self):
        return [Echo()]
`,
      });
      await registry.scan();
      const session = await registry.ensureNodesetsForGraph(['echo'], { replicaCount: 1 });
      const pid = summary(registry, 'echo').processes[0]?.pid;
      const shared = async (): Promise<readonly string[]> =>
        (await readdir('/dev/shm')).filter(
          (name) => name.startsWith('agentcanvas-') && name.endsWith(`-${pid}`),
        );
      expect(await shared()).toHaveLength(1);
      const bytes = Uint8Array.from({ length: 2 ** 20 }, (_, index) => (index * 31) % 256);
      const value = new Tensor('float32', [512, 512], bytes);
      for (let round = 0; round < 6; round++) {
        bytes[0] = round;
        const { value: back } = await fire(session.initial[0], 'echo__echo', { value });
        expect(back).toMatchObject({ dtype: 'float32', shape: [512, 512] });
        expect(Buffer.compare((back as Tensor).bytes, bytes)).toBe(0);
      }
      const [slots = ''] = await shared();
      const sizes = await Promise.all(
        ['0', '1', '2', '3'].map(async (slot) => (await stat(path.join('/dev/shm', slots, slot))).size),
      );
      expect(Math.max(...sizes)).toBeGreaterThanOrEqual(2 ** 20);
      await session[Symbol.asyncDispose]();
      expect(await shared()).toEqual([]);
    },
  );
});
