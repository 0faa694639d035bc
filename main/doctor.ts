// What this machine has, each check with its command, its output and what to do. A check never throws.
import { execFile } from 'node:child_process';
import os from 'node:os';
import { promisify } from 'node:util';
import type { RequestOutput } from './contract/api.ts';
import { messageOf } from './base/errors.ts';
import { interpreterChecks } from './doctor-interpreters.ts';
import type { PythonProbe } from './nodeset/environments/python-probe.ts';
import type { NodesetRegistry } from './nodeset/ports.ts';

type DoctorReport = RequestOutput<'doctor.run'>;
type Check = DoctorReport['checks'][number];

export interface DoctorOptions {
  readonly registry: NodesetRegistry;
  readonly workspaceFolder: string;
  readonly freeBytes: () => Promise<number>;
  readonly pauseBelowBytes: number;
  readonly python: string;
  readonly probe: PythonProbe;
}

const run = promisify(execFile);

export async function examine(options: DoctorOptions): Promise<DoctorReport> {
  const checks = await Promise.all([
    systemCheck(),
    diskCheck(options),
    pythonCheck(options.python),
    gpuCheck(),
    orphanCheck(),
  ]);
  const places = await placeChecks(options.registry);
  const interpreters = await interpreterChecks(options.registry, options.probe);
  const all = [...checks, ...places, ...interpreters, ...nodesetChecks(options.registry, interpreters)];
  return { ok: all.every((check) => check.ok), checks: all };
}

async function systemCheck(): Promise<Check> {
  const memoryGb = (os.totalmem() / 1e9).toFixed(0);
  return {
    name: 'system',
    ok: true,
    command: '',
    output: `${os.type()} ${os.release()} ${os.arch()}, Node ${process.versions.node}, ${os.cpus().length} cores, ${memoryGb} GB`,
    fix: '',
  };
}

async function diskCheck({ workspaceFolder, freeBytes, pauseBelowBytes }: DoctorOptions): Promise<Check> {
  const free = await freeBytes();
  const ok = free > pauseBelowBytes;
  return {
    name: 'disk',
    ok,
    command: '',
    output: `${(free / 1e9).toFixed(1)} GB free at ${workspaceFolder}`,
    fix: ok ? '' : 'Free some space: runs pause below the limit in Settings.',
  };
}

/** Only of nodesets that run elsewhere: nobody else needs Docker or Ray. */
async function placeChecks(registry: NodesetRegistry): Promise<Check[]> {
  const found = await registry.placeChecks(registry.list().map(({ name }) => name));
  return found.map(({ nodeset, place, ok, warning, command, output, fix }) => ({
    name: `${place} for ${nodeset}`,
    ok: ok || warning,
    command,
    output,
    fix,
  }));
}

async function pythonCheck(python: string): Promise<Check> {
  const command = python === '' ? 'python3' : python;
  const code =
    'import sys, importlib.util as u; print(sys.version.split()[0], *[n for n in ("numpy", "gymnasium", "torch") if u.find_spec(n)])';
  return answerOf({
    name: 'python',
    command,
    args: ['-c', code],
    fix: 'Install Python 3.8 or newer, or name an interpreter in Settings. Only Python nodesets need it.',
  });
}

/** No GPU is not a fault: the check says what there is. */
async function gpuCheck(): Promise<Check> {
  const check = await answerOf({
    name: 'gpu',
    command: 'nvidia-smi',
    args: ['--query-gpu=name,memory.total,driver_version', '--format=csv,noheader'],
    fix: '',
  });
  return check.ok ? check : { ...check, ok: true, output: 'none found (nvidia-smi is not there)' };
}

/** Without it a killed app relies on the reaper alone. */
async function orphanCheck(): Promise<Check> {
  if (process.platform !== 'linux')
    return {
      name: 'parent-death signal',
      ok: true,
      command: '',
      output: 'Linux only; here the lifeline and the reaper end children',
      fix: '',
    };
  const check = await answerOf({
    name: 'parent-death signal',
    command: 'setpriv',
    args: ['--version'],
    fix: '',
  });
  return check.ok
    ? check
    : { ...check, ok: true, output: 'setpriv not found; the lifeline and the reaper end children' };
}

/** What its interpreter lacks is said once. */
function nodesetChecks(registry: NodesetRegistry, interpreters: readonly Check[]): Check[] {
  const said = new Set(interpreters.filter((check) => !check.ok).map((check) => check.name));
  const others = registry.list().filter(({ name }) => !said.has(`interpreter of ${name}`));
  return others.map((nodeset) => ({
    name: `nodeset ${nodeset.name}`,
    ok: nodeset.state !== 'failed',
    command: '',
    output: nodeset.error ?? `${nodeset.state}, ${nodeset.nodeTypes.length} node types, ${nodeset.source}`,
    fix: nodeset.state === 'failed' ? 'Read the message, mend the nodeset, and scan again.' : '',
  }));
}

async function answerOf(question: {
  name: string;
  command: string;
  args: string[];
  fix: string;
}): Promise<Check> {
  const { name, command, args, fix } = question;
  const line = [command, ...args].join(' ');
  try {
    const { stdout } = await run(command, args, { timeout: 10_000 });
    return { name, ok: true, command: line, output: stdout.trim(), fix: '' };
  } catch (error) {
    return { name, ok: false, command: line, output: messageOf(error).split('\n')[0] ?? '', fix };
  }
}
