// From what a nodeset asks for (`server_python`) to an absolute interpreter: a path, a name on PATH, `conda:NAME`,
// `venv:PATH` or `uv:REQUIREMENTS`. Only looks at files; every refusal says where it looked.
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { StudioError } from '../base/errors.ts';

export interface InterpreterRequest {
  /** What the nodeset names; undefined: the default. */
  readonly wanted: string | undefined;
  /** Folder that relative paths start from. */
  readonly baseFolder: string;
}

export type InterpreterResolver = (request: InterpreterRequest) => Promise<string>;

export interface InterpreterResolverOptions {
  /** From Settings, in the same forms; without it `python3` on PATH. */
  readonly defaultInterpreter?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly homeFolder?: string;
  /** Interpreter of an environment that the app builds for these requirements. Without it `uv:` is refused. */
  readonly managedEnvironment?: ((requirements: string) => Promise<string>) | undefined;
}

interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
}

const isWindows = process.platform === 'win32';
const plainName = isWindows ? 'python.exe' : 'python3';

export function createInterpreterResolver(options: InterpreterResolverOptions = {}): InterpreterResolver {
  const surroundings = {
    environment: options.environment ?? process.env,
    homeFolder: options.homeFolder ?? os.homedir(),
  };
  return async ({ wanted, baseFolder }) => {
    const request = wanted ?? options.defaultInterpreter ?? plainName;
    const [scheme, rest] = schemeOf(request);
    if (scheme === 'uv') {
      if (options.managedEnvironment) return await options.managedEnvironment(rest);
      throw new StudioError(
        'interpreter_not_found',
        `"${request}" needs an environment with these packages; build one and name it as venv:PATH in Settings`,
      );
    }
    const candidates = candidatesFor(scheme, rest, { ...surroundings, baseFolder });
    const found = candidates.find((candidate) => isProgram(candidate));
    if (found !== undefined) return found;
    throw new StudioError(
      'interpreter_not_found',
      `the interpreter "${request}" was not found; ${remedyFor(scheme, rest)}. Looked for ${summary(candidates)}`,
      {
        details: { wanted: request, looked: candidates },
      },
    );
  };
}

type Scheme = 'path' | 'name' | 'conda' | 'venv' | 'uv';

function schemeOf(request: string): readonly [Scheme, string] {
  const match = /^(conda|venv|uv):(.*)$/s.exec(request);
  if (match)
    return [match[1] === 'conda' ? 'conda' : match[1] === 'venv' ? 'venv' : 'uv', (match[2] ?? '').trim()];
  return [/[/\\]/.test(request) ? 'path' : 'name', request];
}

function candidatesFor(
  scheme: Exclude<Scheme, 'uv'>,
  rest: string,
  where: Surroundings & { readonly baseFolder: string },
): readonly string[] {
  switch (scheme) {
    case 'path':
      return [path.resolve(where.baseFolder, withHome(rest, where))];
    case 'name':
      return foldersOnPath(where).flatMap((folder) => namesOf(rest).map((name) => path.join(folder, name)));
    case 'venv':
      return interpretersIn(path.resolve(where.baseFolder, withHome(rest, where)));
    case 'conda':
      return condaPrefixes(rest, where).flatMap((prefix) => interpretersIn(prefix));
  }
}

function foldersOnPath({ environment }: Surroundings): readonly string[] {
  return (environment['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
}

function namesOf(name: string): readonly string[] {
  return isWindows && !/\.exe$/i.test(name) ? [`${name}.exe`, name] : [name];
}

/** Of a virtual environment or a conda prefix. */
function interpretersIn(prefix: string): readonly string[] {
  return isWindows
    ? [path.join(prefix, 'Scripts', 'python.exe'), path.join(prefix, 'python.exe')]
    : [path.join(prefix, 'bin', 'python3'), path.join(prefix, 'bin', 'python')];
}

/** Folders that may be the conda environment of that name, most specific first. */
function condaPrefixes(name: string, where: Surroundings): readonly string[] {
  const { environment, homeFolder } = where;
  const registered = linesOf(path.join(homeFolder, '.conda', 'environments.txt')).filter(
    (prefix) => path.basename(prefix) === name,
  );
  const envFolders = (environment['CONDA_ENVS_PATH'] ?? environment['CONDA_ENVS_DIRS'] ?? '')
    .split(path.delimiter)
    .filter(Boolean);
  const roots = condaRoots(where);
  const inRoots = name === 'base' ? roots : roots.map((root) => path.join(root, 'envs', name));
  const active = environment['CONDA_PREFIX'];
  const isActive = active !== undefined && path.basename(active) === name;
  const all = [
    ...(isActive ? [active] : []),
    ...envFolders.map((folder) => path.join(folder, name)),
    ...registered,
    ...inRoots,
    path.join(homeFolder, '.conda', 'envs', name),
  ];
  return [...new Set(all)];
}

function condaRoots({ environment, homeFolder }: Surroundings): readonly string[] {
  const { CONDA_EXE, CONDA_ROOT, MAMBA_ROOT_PREFIX, CONDA_PREFIX } = environment;
  const told = [
    CONDA_EXE && path.dirname(path.dirname(CONDA_EXE)),
    CONDA_ROOT,
    MAMBA_ROOT_PREFIX,
    CONDA_PREFIX &&
      (path.basename(path.dirname(CONDA_PREFIX)) === 'envs'
        ? path.dirname(path.dirname(CONDA_PREFIX))
        : CONDA_PREFIX),
  ];
  const usual = ['miniconda3', 'miniforge3', 'mambaforge', 'anaconda3', 'micromamba', '.conda'].map((name) =>
    path.join(homeFolder, name),
  );
  const system = isWindows ? [] : ['/opt/conda', '/opt/miniconda3', '/opt/miniforge3', '/opt/anaconda3'];
  return [
    ...told.filter((root): root is string => typeof root === 'string' && root !== ''),
    ...usual,
    ...system,
  ];
}

function linesOf(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '');
}

function withHome(file: string, { homeFolder }: Surroundings): string {
  return file.startsWith('~') ? path.join(homeFolder, file.slice(1)) : file;
}

function isProgram(file: string): boolean {
  try {
    if (!statSync(file).isFile()) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function remedyFor(scheme: Scheme, rest: string): string {
  switch (scheme) {
    case 'conda':
      return `create it with \`conda create -n ${rest} python\`, or name another environment in the nodeset's server_python`;
    case 'venv':
      return `create it with \`python3 -m venv ${rest}\``;
    case 'path':
    case 'name':
    case 'uv':
      return "install it, or name another one in the nodeset's server_python or in Settings";
  }
}

function summary(candidates: readonly string[]): string {
  const shown = candidates.slice(0, 6).join(', ');
  return candidates.length > 6
    ? `${shown} and ${candidates.length - 6} more places`
    : shown || 'nothing: PATH is empty';
}
