// Runs the Python tests of the host and of the shipped Python nodesets on every interpreter that is found: python3
// and those of pyenv. AGENTCANVAS_TEST_PYTHON adds one more, for example one that has numpy and gymnasium.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('.', import.meta.url));
const oldestMinor = 8;
const newestMinor = 14;
/** What depends on the interpreter; data and published results need one only. */
const portable = [
  'tests.test_host',
  'tests.test_values',
  'tests.test_scan',
  'tests.test_http_door',
  'tests.test_ray_replica',
  'tests.test_firing_again',
  'tests.test_slots',
];
const once = [...portable, 'tests.test_agentcanvas_names', 'tests.test_r2r', 'tests.test_gymnasium'];

interface Interpreter {
  readonly command: string;
  readonly version: string;
}

function interpreterAt(command: string): Interpreter | undefined {
  try {
    const program = 'import sys; print(sys.executable); print("%d.%d.%d" % sys.version_info[:3])';
    const [executable, version] = execFileSync(command, ['-c', program], { encoding: 'utf8' })
      .trim()
      .split('\n');
    const minor = Number(version?.split('.')[1]);
    const isKnown = version?.startsWith('3.') === true && minor >= oldestMinor && minor <= newestMinor;
    return isKnown && executable ? { command: executable, version } : undefined;
  } catch {
    return undefined;
  }
}

function pyenvCommands(): readonly string[] {
  const versions = path.join(process.env['PYENV_ROOT'] ?? path.join(os.homedir(), '.pyenv'), 'versions');
  return existsSync(versions)
    ? readdirSync(versions).map((name) => path.join(versions, name, 'bin', 'python'))
    : [];
}

function findInterpreters(): readonly Interpreter[] {
  const found = new Map<string, Interpreter>();
  for (const command of [process.env['AGENTCANVAS_TEST_PYTHON'], 'python3', ...pyenvCommands()]) {
    const interpreter = command === undefined ? undefined : interpreterAt(command);
    const minor = interpreter?.version.split('.').slice(0, 2).join('.') ?? '';
    if (interpreter && (!found.has(minor) || command === process.env['AGENTCANVAS_TEST_PYTHON']))
      found.set(command === process.env['AGENTCANVAS_TEST_PYTHON'] ? 'stated' : minor, interpreter);
  }
  return [...found.values()];
}

async function unittest(command: string, modules: readonly string[]): Promise<string> {
  const environment = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  const { stderr } = await promisify(execFile)(command, ['-m', 'unittest', ...modules], {
    cwd: folder,
    env: environment,
  });
  return stderr;
}

const interpreters = process.platform === 'win32' ? [] : findInterpreters();

describe.skipIf(interpreters.length === 0)('the Python host and nodesets', () => {
  it.each(
    interpreters.map((interpreter, index) => ({ ...interpreter, modules: index === 0 ? once : portable })),
  )(
    'pass their own tests on Python $version',
    async ({ command, modules }) => {
      const output = await unittest(command, modules);
      expect(output).toMatch(/\nRan [1-9]\d* tests/);
      expect(output).toMatch(/\nOK( \(skipped=\d+\))?\s*$/);
    },
    180_000,
  );
});
