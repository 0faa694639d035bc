// One attempt to build an environment: find a Python, make the environment, install, check. Commands are plain
// argument lists; what they print goes to the log; an abort ends them and leaves nothing.
import path from 'node:path';
import { abortedError, throwIfAborted, withDeadline } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { StudioError } from '../../base/errors.ts';
import type { ProcessRegistry } from '../../process/ports.ts';
import type { EnvironmentFolder, BuiltEnvironment } from './environment-folder.ts';
import { environmentKey } from './environment-folder.ts';
import type { PythonProbe, PythonFacts } from './python-probe.ts';
import { meetsVersion } from './python-versions.ts';
import type { EnvironmentSpec } from './requirements.ts';

export type BuildStage = 'resolving' | 'creating' | 'installing' | 'checking';

export interface BuildWatcher {
  readonly onStage: (stage: BuildStage, elapsedMs: number) => void;
  readonly onLine: (line: string) => void;
}

export interface BuildPorts {
  readonly processes: Pick<ProcessRegistry, 'spawn'>;
  readonly clock: Clock;
  readonly folder: EnvironmentFolder;
  readonly probe: PythonProbe;
  /** Pythons to make the environment from, the preferred first. */
  readonly candidates: () => Promise<readonly string[]>;
  /** Absolute path of uv, where it is installed. */
  readonly uv: () => string | undefined;
}

/** A wheel of a deep-learning package takes minutes; an installer that waits for a dead mirror waits for ever. */
const commandTimeoutMs = 60 * 60_000;
const oldestPython = '>=3.8';

/** Rejects with `aborted`, `interpreter_not_found` or `nodeset_failed`; then nothing of the attempt is left. */
export async function buildEnvironment(
  spec: EnvironmentSpec,
  ports: BuildPorts,
  watch: BuildWatcher & { readonly signal: AbortSignal },
): Promise<BuiltEnvironment> {
  const { clock, folder } = ports;
  const startedMs = clock.monotonic();
  const enter = (stage: BuildStage): void => {
    throwIfAborted(watch.signal);
    watch.onStage(stage, clock.monotonic() - startedMs);
    watch.onLine(`[${stage}]`);
  };
  enter('resolving');
  const base = await suitablePython(spec, ports, watch.onLine);
  const uv = ports.uv();
  const key = environmentKey(spec);
  const place = await folder.makePlace(key);
  const interpreter = interpreterIn(place);
  try {
    const run = (command: string, args: readonly string[]): Promise<void> =>
      runCommand({ command, args, cwd: folder.folder }, ports, watch);
    enter('creating');
    if (uv !== undefined) await run(uv, ['venv', '--python', base.executable, place]);
    else await run(base.executable, ['-m', 'venv', place]);
    enter('installing');
    if (spec.requirements.length > 0) {
      if (uv !== undefined) await run(uv, ['pip', 'install', '--python', interpreter, ...spec.requirements]);
      else await run(interpreter, [...pipInstall, ...spec.requirements]);
    }
    enter('checking');
    const { version } = await ports.probe.ask(interpreter);
    throwIfAborted(watch.signal);
    const built: BuiltEnvironment = {
      folder: place,
      interpreter,
      requirements: [...spec.requirements],
      requiresPython: spec.requiresPython,
      base: base.executable,
      pythonVersion: version,
      tool: uv === undefined ? 'pip' : 'uv',
      builtAt: new Date(clock.now()).toISOString(),
    };
    await folder.publish(key, built);
    return built;
  } catch (error) {
    await folder.remove(place);
    throw error;
  }
}

const pipInstall = [
  '-m',
  'pip',
  'install',
  '--disable-pip-version-check',
  '--no-input',
  '--progress-bar',
  'off',
];

function interpreterIn(place: string): string {
  return process.platform === 'win32'
    ? path.join(place, 'Scripts', 'python.exe')
    : path.join(place, 'bin', 'python');
}

/** The first candidate that runs, can make environments and meets the stated versions. */
async function suitablePython(
  { requiresPython }: EnvironmentSpec,
  { candidates, probe, uv }: BuildPorts,
  onLine: (line: string) => void,
): Promise<PythonFacts> {
  const seen: string[] = [];
  for (const candidate of await candidates()) {
    const facts = await probe.ask(candidate).catch(() => undefined);
    if (!facts) continue;
    const fits =
      meetsVersion(facts.version, oldestPython) &&
      meetsVersion(facts.version, requiresPython) &&
      (facts.hasVenv || uv() !== undefined);
    if (fits) {
      onLine(`using ${facts.executable} (Python ${facts.version})`);
      return facts;
    }
    seen.push(`${facts.version} at ${facts.executable}${facts.hasVenv ? '' : ' (without the venv module)'}`);
  }
  const wanted = requiresPython === '' ? 'Python 3.8 or newer' : `Python ${requiresPython}`;
  throw new StudioError(
    'interpreter_not_found',
    `no ${wanted} that can make an environment was found (found: ${[...new Set(seen)].join(', ') || 'none'}); install one (on Debian and Ubuntu also its python3-venv package) and build again`,
  );
}

interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

async function runCommand(
  { command, args, cwd }: Command,
  { processes, clock }: BuildPorts,
  { signal, onLine }: BuildWatcher & { readonly signal: AbortSignal },
): Promise<void> {
  throwIfAborted(signal);
  const line = [path.basename(command), ...args].join(' ');
  onLine(`$ ${line}`);
  const child = await processes.spawn({
    command,
    args,
    cwd,
    label: 'build-environment',
    // Modules of another Python must not leak into the one that is built.
    env: { PYTHONPATH: '', PYTHONNOUSERSITE: '1' },
    logSink: (text) => onLine(text),
  });
  try {
    const { exitCode, signal: killedBy } = await withDeadline(child.exited, {
      clock,
      timeoutMs: commandTimeoutMs,
      signal,
      what: line,
    });
    if (exitCode === 0) return;
    throwIfAborted(signal);
    const how = killedBy === null ? `exit code ${exitCode}` : killedBy;
    const lines = [...child.stderrTail(40), ...child.stdoutTail(5)];
    const reason =
      lines.findLast((each) => /^\s*(error|×|╰─▶)/i.test(each)) ?? lines.at(-1) ?? 'it said nothing';
    throw new StudioError(
      'nodeset_failed',
      `building the environment failed: "${line.slice(0, 200)}" ended with ${how}: ${reason.trim()}; correct the requirements or the network and build again`,
      { details: { command: [command, ...args], logTail: lines.slice(-40) } },
    );
  } catch (error) {
    throw signal.aborted ? abortedError(signal) : error;
  } finally {
    await child.kill();
  }
}
