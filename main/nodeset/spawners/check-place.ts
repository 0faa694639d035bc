// Whether a nodeset can run where it would: the program is there, its daemon answers, the module can be imported.
// Quick, and nothing is started or pulled.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../../base/errors.ts';
import type { SpawnerSettings, SpawnPlace } from '../../contract/spawners.ts';
import type { PythonProbe } from '../environments/python-probe.ts';
import type { NodesetSource } from '../version.ts';
import { findProgram } from './find-program.ts';

export interface PlaceCheck {
  readonly nodeset: string;
  readonly place: SpawnPlace;
  readonly ok: boolean;
  /** It will do, but the user should know. */
  readonly warning: boolean;
  readonly command: string;
  readonly output: string;
  readonly fix: string;
}

export interface PlaceQuestion {
  readonly source: NodesetSource;
  readonly place: SpawnPlace;
  /** The nodeset's interpreter here, once it is known. */
  readonly interpreter: string | undefined;
}

export type PlaceChecker = (question: PlaceQuestion) => Promise<PlaceCheck>;

const answerMs = 10_000;
const run = promisify(execFile);

export function createPlaceChecker(options: {
  readonly settings: () => SpawnerSettings;
  readonly probe: PythonProbe;
  readonly resolveInterpreter: (wanted: string) => Promise<string>;
}): PlaceChecker {
  return async ({ source, place, interpreter }) => {
    const about = { nodeset: source.name, place, ok: true, warning: false, command: '', output: '', fix: '' };
    if (place === 'local') return { ...about, output: 'on this machine' };
    if (place === 'docker')
      return { ...about, ...(await checkDocker(source, options.settings().docker.command)) };
    const { python, address } = options.settings().ray;
    const asked =
      python === '' ? interpreter : await options.resolveInterpreter(python).catch(() => undefined);
    return { ...about, ...(await checkRay(asked, address, options.probe)) };
  };
}

async function checkDocker(source: NodesetSource, wanted: string): Promise<Partial<PlaceCheck>> {
  const docker = await findProgram(wanted);
  if (docker === undefined)
    return {
      ok: false,
      output: `"${wanted}" is not on PATH`,
      fix: 'Install Docker, name its program in Settings, or run it on this machine: --spawner local.',
    };
  const version = await answerOf(docker, ['version', '--format', '{{.Server.Version}}']);
  if (!version.ok)
    return {
      ...version,
      fix: 'Start Docker, or let this user reach its daemon; or run it on this machine: --spawner local.',
    };
  const name = source.needs?.image ?? '';
  const image = await answerOf(docker, ['image', 'inspect', '--format', '{{.Id}}', name]);
  if (image.ok) return { ...image, output: `Docker ${version.output}, image ${name} is here` };
  return {
    ...image,
    ok: false,
    warning: true,
    output: `Docker ${version.output}, image ${name} is not here`,
    fix: `It is pulled at the start, which may take longer than a start may: docker pull ${name}`,
  };
}

async function checkRay(
  python: string | undefined,
  address: string,
  probe: PythonProbe,
): Promise<Partial<PlaceCheck>> {
  if (python === undefined)
    return {
      ok: false,
      output: 'no interpreter is known',
      fix: 'Name one with ray in Settings, Where nodesets run.',
    };
  const command = `${python} -c "import ray"`;
  try {
    const { missing, version } = await probe.ask(python, { modules: ['ray'] });
    if (missing.length > 0)
      return {
        ok: false,
        command,
        output: `${python} (Python ${version}) has no ray`,
        fix: `Install it: ${python} -m pip install ray; or name another interpreter in Settings.`,
      };
    return {
      command,
      output: address === '' ? 'ray is there; a local Ray will be started' : `ray is there, for ${address}`,
    };
  } catch (error) {
    return { ok: false, command, output: messageOf(error), fix: 'Name another interpreter in Settings.' };
  }
}

async function answerOf(
  program: string,
  args: readonly string[],
): Promise<Pick<PlaceCheck, 'ok' | 'command' | 'output'>> {
  const command = [program, ...args].join(' ');
  try {
    const { stdout } = await run(program, [...args], { timeout: answerMs });
    return { ok: true, command, output: stdout.trim() };
  } catch (error) {
    return { ok: false, command, output: firstLineOf(error) };
  }
}

/** What the program itself said, rather than that it failed. */
function firstLineOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  return (said.trim() || messageOf(error)).split('\n').find((line) => line.trim() !== '') ?? '';
}
